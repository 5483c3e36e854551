import { canonicalize, digest, digestText } from "@holdpoint/seal";
import { toolFacts } from "@holdpoint/tools";

import type { Draft } from "./check.ts";
import { factsOf } from "./interrupt.ts";
import { END, type NodeSpec } from "./node.ts";
import { shapeText } from "./shape.ts";

/** How functions count: by place and explicit version (default), by their own name too, or by their text (FLOW-52). */
export type FunctionIdentity = "node" | "name" | "source";

/**
 * The graph in short digests, one a part (`flow`, `state`, `node:assess` …): kept in every checkpoint, so that a refusal
 * can say which part differs (FLOW-51).
 */
export type Manifest = Readonly<Record<string, string>>;

/** The format of the manifest itself. 1: as described in `docs/how-resume-works.md`. */
const manifestFormat = 1;

/** A part's digest is for people's eyes and for comparing two graphs that somebody made, not a defence: 16 characters do. */
const partLength = 16;

/**
 * `nested`: what a node runs within itself, by name and digest.
 * @throws NotSealableError where a call's static arguments can't be put into canonical form.
 */
export function manifestOf(
  draft: Draft,
  identity: FunctionIdentity,
  nested: (node: string) => readonly (readonly [string, string])[],
): Manifest {
  const parts: Record<string, string> = {
    flow: part({
      format: manifestFormat,
      name: draft.name,
      version: draft.version,
      start: draft.start ?? draft.nodes[0]!.name,
      identity,
    }),
    state: digestText(shapeText(draft.state)).slice(0, partLength),
    reducers: part(
      [...draft.reducers]
        .sort((a, b) => (a.field < b.field ? -1 : 1))
        .map((reducer) => [reducer.field, functionText(reducer.merge, identity)]),
    ),
  };
  for (const node of draft.nodes)
    parts[`node:${node.name}`] = part(nodePart(draft, node, identity, nested(node.name)));
  return parts;
}

/** One digest for the whole graph. */
export function digestOf(manifest: Manifest): string {
  return digest(manifest);
}

/** The parts in which two graphs differ, by name. */
export function differences(was: Manifest, is: Manifest): string[] {
  const names = new Set([...Object.keys(was), ...Object.keys(is)]);
  return [...names].filter((name) => was[name] !== is[name]).sort();
}

function part(value: unknown): string {
  return digestText(canonicalize(value)).slice(0, partLength);
}

function nodePart(
  draft: Draft,
  node: NodeSpec,
  identity: FunctionIdentity,
  nested: readonly (readonly [string, string])[],
): unknown {
  const routes = draft.routes.filter((route) => route.from === node.name);
  return {
    kind: node.kind,
    version: node.options.version,
    ...(node.options.join === true && { join: true }),
    edges: draft.edges
      .filter((edge) => edge.from === node.name)
      .map((edge) => `${edge.when}:${edge.to === END ? END : edge.to}`)
      .sort(),
    // A place in the list of routes is the identity of its function.
    routes: routes.map((route) => [
      [...route.targets].sort(),
      functionText(route.choose, identity),
    ]),
    ...asksPart(node),
    own: ownPart(node, identity),
    // Flows within, by name and digest, in whatever order they are declared.
    ...(nested.length > 0 && { runs: nested.map((run) => run.join(" ")).sort() }),
  };
}

/** What a node may ask: names, who may answer, and shapes (FLOW-51). */
function asksPart({ options: { asks } }: NodeSpec): { readonly asks?: unknown } {
  if (asks === undefined || asks.length === 0) return {};
  const parts = asks.flatMap((interrupt) => {
    const facts = factsOf(interrupt);
    if (facts === undefined) return [];
    const { name, answerBy, answer, info, cursor } = facts;
    const shapes = [answer, info, cursor].map((schema) => schema && shapeText(schema));
    return [[name, answerBy, ...shapes]];
  });
  return { asks: parts.sort(([a], [b]) => (a! < b! ? -1 : 1)) };
}

function ownPart(node: NodeSpec, identity: FunctionIdentity): unknown {
  switch (node.kind) {
    case "function":
      return [functionText(node.run, identity)];
    case "gate": {
      const { approvers, quorum, excludeRequester, expiresInMs, useWithinMs } = node.rule;
      return {
        payload: functionText(node.payload, identity),
        when: functionText(node.when, identity),
        edits: node.edits && [
          shapeText(node.edits.schema),
          functionText(node.edits.apply, identity),
        ],
        rule: { approvers, quorum, excludeRequester, expiresInMs, useWithinMs },
      };
    }
    case "subflow":
      return [functionText(node.input, identity), functionText(node.into, identity)];
    case "map":
      return {
        over: functionText(node.over, identity),
        each: functionText(node.each, identity),
        into: functionText(node.into, identity),
        onError: node.onError,
      };
    case "map-call": {
      const { name, version } = toolFacts(node.tool);
      return {
        tool: name,
        version,
        over: functionText(node.over, identity),
        args: functionText(node.args, identity),
        into: functionText(node.into, identity),
        onError: node.onError,
      };
    }
    case "call": {
      const facts = toolFacts(node.tool);
      return {
        tool: facts.name,
        version: facts.version,
        args:
          typeof node.args === "function"
            ? functionText(node.args, identity)
            : { static: node.args },
        into:
          typeof node.into === "function"
            ? functionText(node.into, identity)
            : { field: node.into },
      };
    }
  }
}

/** What of a function counts: by default only that there is one, at this place. */
function functionText(value: unknown, identity: FunctionIdentity): string | undefined {
  if (typeof value !== "function") return undefined;
  if (identity === "name") return `name:${value.name}`;
  if (identity === "source") return `source:${digestText(sourceOf(value))}`;
  return "function";
}

/** A function's text without its own name, which bundlers change. */
function sourceOf(value: object): string {
  const text = Function.prototype.toString.call(value);
  return text.replace(
    /^((?:async\s+)?function\s*\*?)\s*[\p{ID_Start}$_][\p{ID_Continue}$]*/u,
    "$1",
  );
}
