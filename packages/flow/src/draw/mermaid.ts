/**
 * A flow as Mermaid text (FLOW-09).
 *
 * D1 Nothing that the flow's author wrote reaches the text as it is: nodes go by numbers, and of titles every character but
 *    letters, digits and plain signs is written as its number, so that no title can end a label or make markup of itself.
 */
import type { Flow } from "../graph/flow.ts";
import { END } from "../graph/node.ts";
import { describe, type LinkDescription, type NodeDescription } from "./describe.ts";
import { progressOf, type NodeProgress, type Progress } from "./progress.ts";

/** Characters of a title that are shown. */
const titleCharsMax = 80;

const shapes: Readonly<Record<NodeDescription["kind"], readonly [string, string]>> = {
  function: ["[", "]"],
  gate: ["{{", "}}"],
  call: ["[[", "]]"],
  map: ["[/", "/]"],
  "map-call": ["[/", "/]"],
  subflow: ["([", "])"],
};

const arrows: Readonly<Record<LinkDescription["when"], string>> = {
  finished: "-->",
  route: "-.->",
  denied: "-->|denied|",
  failed: "-->|failed|",
};

const colours: Readonly<Record<NodeProgress, string>> = {
  done: "fill:#d9f2d9,stroke:#2e7d32,color:#000",
  running: "fill:#dbeafe,stroke:#1d4ed8,color:#000",
  waiting: "fill:#fff3cd,stroke:#b45309,color:#000,stroke-width:3px",
  failed: "fill:#fde2e1,stroke:#b91c1c,color:#000",
};

/**
 * Draws a flow, and, where `run` is given, how far that run has come: the checkpoint of a paused one, or what `watch` or
 * `history` told of it.
 */
export function toMermaid(flow: Flow, run?: Progress): string {
  const { nodes, links, start } = describe(flow);
  const ids = new Map(nodes.map(({ name }, index) => [name, `n${index}`]));
  const id = (name: string): string => (name === END ? "done" : ids.get(name)!);
  const progress = run === undefined ? new Map<string, NodeProgress>() : progressOf(run);
  const marked = nodes.filter(({ name }) => progress.has(name));
  const seen = new Set(marked.map(({ name }) => progress.get(name)!));
  return [
    "flowchart TD",
    `  begin(("start"))`,
    ...nodes.map((node) => `  ${id(node.name)}${labelled(node)}`),
    `  done(("end"))`,
    `  begin --> ${id(start)}`,
    ...links.map(({ from, to, when }) => `  ${id(from)} ${arrows[when]} ${id(to)}`),
    ...[...seen].map((is) => `  classDef ${is} ${colours[is]}`),
    ...marked.map(({ name }) => `  class ${id(name)} ${progress.get(name)!}`),
  ]
    .map((line) => `${line}\n`)
    .join("");
}

function labelled({ name, title, kind, join }: NodeDescription): string {
  const [open, close] = shapes[kind];
  const shown = shownTitle(title);
  const what = shown === "" || shown === name ? name : `${shown} (${name})`;
  return `${open}"${escaped(join ? `${what}, join` : what)}"${close}`;
}

/** One line, of characters that show. */
function shownTitle(title = ""): string {
  const line = Array.from(title.replaceAll(/[\s\p{C}\p{Z}]+/gu, " ").trim());
  return line.length <= titleCharsMax
    ? line.join("")
    : `${line.slice(0, titleCharsMax - 1).join("")}…`;
}

/** D1 */
function escaped(text: string): string {
  return text.replaceAll(/[^\p{L}\p{N} ,.()…-]/gu, (sign) => `#${sign.codePointAt(0)};`);
}
