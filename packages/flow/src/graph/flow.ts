import { toolFacts } from "@holdpoint/tools";

import { FlowError } from "../errors.ts";
import { mistakesIn, type Draft } from "./check.ts";
import { factsOf, type InterruptFacts } from "./interrupt.ts";
import { digestOf, manifestOf, type FunctionIdentity, type Manifest } from "./digest.ts";
import { type NodeSpec, type ReducerSpec, type RouteSpec } from "./node.ts";
import { reachable } from "./reach.ts";
import { stateReader, type StateReader } from "./state.ts";

/** A built flow: checked whole and frozen. `S` is its state, `In` what a run starts from, `N` its nodes' names. */
export interface Flow<S extends object = object, In = unknown, N extends string = string> {
  readonly name: string;
  readonly version: string | undefined;
  /** Digest of the graph (FLOW-51). */
  readonly digest: string;
  /** Types only; never present. */
  readonly types?: { readonly state: S; readonly input: In; readonly nodes: N };
}

/** What a run starts from. */
export type FlowInput<F> = F extends { readonly types?: { readonly input: infer In } } ? In : never;
/** What a run ends in. */
export type FlowState<F> = F extends { readonly types?: { readonly state: infer S } } ? S : never;

/** A node with its connections, as the runner walks them. */
export interface GraphNode {
  readonly spec: NodeSpec;
  /** Its place in declaration order: pendings, merges and errors come in this order. */
  readonly index: number;
  readonly edges: readonly string[];
  readonly routes: readonly RouteSpec[];
  readonly denied: string | undefined;
  readonly failed: string | undefined;
}

/** The inside of a flow. */
export interface Graph {
  readonly name: string;
  readonly state: StateReader;
  readonly start: string;
  readonly nodes: ReadonlyMap<string, GraphNode>;
  /** What its nodes may ask, by name. */
  readonly interrupts: ReadonlyMap<string, InterruptFacts>;
  /** The joins, each with the nodes from which it can be reached (FLOW-10). */
  readonly joins: ReadonlyMap<string, ReadonlySet<string>>;
  readonly reducers: ReadonlyMap<string, ReducerSpec["merge"]>;
  readonly manifest: Manifest;
  readonly digest: string;
  /** The schemas whose classes may stand in a state, a payload or a call's arguments (SEAL-41). */
  readonly reachable: readonly unknown[];
  /** Nodes that bound their own visits; sealed with a run (FLOW-43). */
  readonly nodeVisits: Readonly<Record<string, number>>;
}

const inside = Symbol.for("@holdpoint/flow.graph");

/** Of no state in particular: the builder's types say which. */
class BuiltFlow implements Flow<never, never, never> {
  readonly name: string;
  readonly version: string | undefined;
  readonly digest: string;
  declare readonly types?: { state: never; input: never; nodes: never };

  constructor(graph: Graph, version: string | undefined) {
    this.name = graph.name;
    this.version = version;
    this.digest = graph.digest;
    Object.defineProperty(this, inside, { value: graph });
    Object.freeze(this);
  }
}

/** Checks a draft and freezes it. @throws FlowError `flow-invalid` with every mistake in `data.mistakes`. */
export function buildFlow(draft: Draft, identity: FunctionIdentity): Flow<never, never, never> {
  const mistakes = mistakesIn(draft);
  if (mistakes.length > 0) {
    const list = mistakes.map((mistake) => `\n- ${mistake}`).join("");
    throw new FlowError("flow-invalid", `the flow '${draft.name}' is not whole:${list}`, {
      flow: draft.name,
      mistakes,
    });
  }
  const nodes = new Map<string, GraphNode>();
  for (const [index, spec] of draft.nodes.entries()) {
    const drawn = (when: string): string[] =>
      draft.edges
        .filter((edge) => edge.from === spec.name && edge.when === when)
        .map((edge) => edge.to);
    nodes.set(spec.name, {
      spec,
      index,
      edges: drawn("finished"),
      routes: draft.routes.filter((route) => route.from === spec.name),
      denied: drawn("denied")[0],
      failed: drawn("failed")[0],
    });
  }
  const manifest = manifestOf(draft, identity);
  const graph: Graph = {
    name: draft.name,
    state: stateReader(draft.state),
    start: draft.start ?? draft.nodes[0]!.name,
    nodes,
    interrupts: new Map(interruptsIn(draft).map((facts) => [facts.name, facts])),
    joins: joinsOf(draft),
    reducers: new Map(draft.reducers.map((reducer) => [reducer.field, reducer.merge])),
    manifest,
    digest: digestOf(manifest),
    nodeVisits: Object.fromEntries(
      draft.nodes.flatMap(({ name, options: { maxVisits } }) =>
        maxVisits === undefined ? [] : [[name, maxVisits]],
      ),
    ),
    reachable: [
      draft.state,
      ...draft.nodes.flatMap((node) => (node.kind === "call" ? [toolFacts(node.tool).input] : [])),
    ],
  };
  return new BuiltFlow(graph, draft.version);
}

/** What the nodes of a draft may ask; a name stands for one interrupt in a flow. */
function interruptsIn(draft: Draft): InterruptFacts[] {
  return draft.nodes.flatMap(({ options }) =>
    (options.asks ?? []).flatMap((interrupt) => factsOf(interrupt) ?? []),
  );
}

/** What a flow's interrupt is made of, by name: what a form for its answer is drawn from. */
export function interruptFacts(flow: Flow, name: string): InterruptFacts | undefined {
  return graphOf(flow).interrupts.get(name);
}

function joinsOf({ nodes, edges, routes }: Draft): Graph["joins"] {
  const before = (name: string): string[] => [
    ...edges.filter((edge) => edge.to === name).map((edge) => edge.from),
    ...routes.filter((route) => route.targets.includes(name)).map((route) => route.from),
  ];
  const joins = nodes.filter((node) => node.options.join === true);
  return new Map(joins.map(({ name }) => [name, reachable(before(name), before)]));
}

/** The graph inside a flow, of whichever copy of this package built it. @throws FlowError `flow-invalid` */
export function graphOf(flow: Flow): Graph {
  const graph = (flow as { [inside]?: Graph } | undefined)?.[inside];
  if (graph === undefined)
    throw new FlowError(
      "flow-invalid",
      "this is no built flow: call .build() on the builder first",
    );
  return graph;
}
