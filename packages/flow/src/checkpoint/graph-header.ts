/**
 * What a seal's header says of the graph, so that a refusal can name what differs before anything is decoded (FLOW-51).
 *
 * The digest alone decides. The parts behind it are told in as many members as they need; of a graph with more parts than a
 * header has room for (300 nodes or so, by the length of their names) they are left out, and a refusal names none.
 */
import type { Header } from "@holdpoint/seal";

import type { Manifest } from "../graph/digest.ts";
import type { RunSeed } from "../run/event.ts";

/** Characters of one member: as many as a seal takes. */
const memberCharsMax = 1_024;

/** Members for the parts; a seal takes 32 in all. */
const membersMax = 20;

export function graphHeader({ flow, digest, manifest }: RunSeed): Header {
  return { flow, graph: digest, ...partsHeader(manifest) };
}

/** A graph's manifest is one object, and told at each pause. */
const headers = new WeakMap<Manifest, Header>();

function partsHeader(manifest: Manifest): Header {
  const known = headers.get(manifest);
  if (known !== undefined) return known;
  const header = headerOf(manifest);
  headers.set(manifest, header);
  return header;
}

/** Names and digests hold neither `=` nor `;`. */
function headerOf(manifest: Manifest): Header {
  const texts: string[] = [];
  for (const [part, digest] of Object.entries(manifest)) {
    const entry = `${part}=${digest};`;
    const last = texts.at(-1);
    if (last === undefined || last.length + entry.length > memberCharsMax) texts.push(entry);
    else texts[texts.length - 1] = last + entry;
  }
  if (texts.length > membersMax) return {};
  return Object.fromEntries(texts.map((text, index) => [memberName(index), text]));
}

/** The parts that a header tells; none where there were too many. */
export function manifestIn(header: Header): Manifest | undefined {
  const entries: [string, string][] = [];
  for (let index = 0; index < membersMax; index++) {
    const text = header[memberName(index)];
    if (typeof text !== "string") break;
    for (const entry of text.split(";").slice(0, -1))
      entries.push(entry.split("=") as [string, string]);
  }
  return entries.length === 0 ? undefined : Object.fromEntries(entries);
}

function memberName(index: number): string {
  return index === 0 ? "parts" : `parts${index}`;
}
