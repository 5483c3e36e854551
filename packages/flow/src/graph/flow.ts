import { inputReader, toolFacts, type Digester, type InputSnapshot } from "@holdpoint/tools";

import { FlowError } from "../errors.ts";
import { mistakesIn, type Draft } from "./check.ts";
import { factsOf, type InterruptFacts } from "./interrupt.ts";
import { digestOf, manifestOf, type FunctionIdentity, type Manifest } from "./digest.ts";
import { nestedIn } from "./nested.ts";
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
  /** The schemas whose classes may stand in a state, a payload or a call's arguments, nested flows' included (SEAL-41). */
  readonly reachable: readonly unknown[];
  /** This flow, and every one that can run within it, at whatever depth. */
  readonly flows: ReadonlySet<Graph>;
  /** The flows that a node declares, by name. @throws FlowError `flow-invalid` */
  nestedIn(node: string): ReadonlyMap<string, Graph>;
  /** The digest as part of the graphs around it: one that closes a circle counts by how far up that is. */
  digestWithin(around: readonly Graph[]): string;
  /** Takes an input as the caller passed it, with its journal key. */
  input(value: unknown, digester: Digester): InputSnapshot;
  /** Nodes that bound their own visits; sealed with a run (FLOW-43). */
  readonly nodeVisits: Readonly<Record<string, number>>;
}

const inside = Symbol.for("@holdpoint/flow.graph");

/** Of no state in particular: the builder's types say which. */
class BuiltFlow implements Flow<never, never, never> {
  readonly name: string;
  readonly version: string | undefined;
  declare readonly [inside]: Graph;
  declare readonly types?: { state: never; input: never; nodes: never };

  constructor(graph: Graph, version: string | undefined) {
    this.name = graph.name;
    this.version = version;
    Object.defineProperty(this, inside, { value: graph });
    Object.freeze(this);
  }

  get digest(): string {
    return this[inside].digest;
  }
}

/** Checks a draft and freezes it. @throws FlowError `flow-invalid` with every mistake in `data.mistakes`. */
export function buildFlow(draft: Draft, identity: FunctionIdentity): Flow<never, never, never> {
  const mistakes = [...mistakesIn(draft), ...nestedMistakes(draft)];
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
  return new BuiltFlow(new BuiltGraph(draft, nodes, identity), draft.version);
}

/**
 * What depends on flows within is worked out when it is first asked for: a flow that contains itself is not built yet when it
 * is declared.
 */
class BuiltGraph implements Graph {
  readonly name: string;
  readonly state: StateReader;
  readonly start: string;
  readonly nodes: Graph["nodes"];
  readonly interrupts: Graph["interrupts"];
  readonly joins: Graph["joins"];
  readonly reducers: Graph["reducers"];
  readonly nodeVisits: Graph["nodeVisits"];
  readonly #draft: Draft;
  readonly #identity: FunctionIdentity;
  readonly #nested = new Map<string, ReadonlyMap<string, Graph>>();
  #manifest: Manifest | undefined;
  #digest: string | undefined;
  #flows: ReadonlySet<Graph> | undefined;
  #reachable: readonly unknown[] | undefined;
  #input: ReturnType<typeof inputReader> | undefined;

  constructor(draft: Draft, nodes: Graph["nodes"], identity: FunctionIdentity) {
    this.name = draft.name;
    this.state = stateReader(draft.state);
    this.start = draft.start ?? draft.nodes[0]!.name;
    this.nodes = nodes;
    this.interrupts = new Map(interruptsIn(draft).map((facts) => [facts.name, facts]));
    this.joins = joinsOf(draft);
    this.reducers = new Map(draft.reducers.map((reducer) => [reducer.field, reducer.merge]));
    this.nodeVisits = Object.fromEntries(
      draft.nodes.flatMap(({ name, options: { maxVisits } }) =>
        maxVisits === undefined ? [] : [[name, maxVisits]],
      ),
    );
    this.#draft = draft;
    this.#identity = identity;
    // What can be known now fails now.
    if (draft.nodes.every((node) => nestedIn(node).length === 0)) this.#digest = this.digest;
  }

  get manifest(): Manifest {
    return (this.#manifest ??= this.#manifestWithin([]));
  }

  get digest(): string {
    return (this.#digest ??= digestOf(this.manifest));
  }

  get flows(): ReadonlySet<Graph> {
    const within = (graph: Graph): Graph[] =>
      [...graph.nodes.keys()].flatMap((node) => [...graph.nestedIn(node).values()]);
    return (this.#flows ??= reachable<Graph>([this], within));
  }

  get reachable(): readonly unknown[] {
    return (this.#reachable ??= [...this.flows].flatMap(({ state, nodes }) => [
      state.schema,
      ...[...nodes.values()].flatMap(({ spec }) => reachedBy(spec)),
    ]));
  }

  nestedIn(node: string): ReadonlyMap<string, Graph> {
    let graphs = this.#nested.get(node);
    if (graphs === undefined) {
      const found = this.nodes.get(node);
      graphs = found === undefined ? new Map() : nestedGraphs(this.name, found.spec);
      this.#nested.set(node, graphs);
    }
    return graphs;
  }

  digestWithin(around: readonly Graph[]): string {
    const up = around.indexOf(this);
    if (up >= 0) return `@${around.length - up}`;
    // Only in a circle does it matter what is around.
    if (!around.some((graph) => this.flows.has(graph))) return this.digest;
    return digestOf(this.#manifestWithin(around));
  }

  input(value: unknown, digester: Digester): InputSnapshot {
    this.#input ??= inputReader(this.name, this.state.schema);
    return this.#input(value, digester);
  }

  #manifestWithin(around: readonly Graph[]): Manifest {
    const path = [...around, this];
    return manifestOf(this.#draft, this.#identity, (node) =>
      [...this.nestedIn(node).values()].map((graph) => [graph.name, graph.digestWithin(path)]),
    );
  }
}

/** The graphs of the flows that a node declares, by name. @throws FlowError `flow-invalid` */
function nestedGraphs(flow: string, spec: NodeSpec): ReadonlyMap<string, Graph> {
  const graphs = new Map<string, Graph>();
  for (const nested of nestedIn(spec)) {
    const graph = graphOf(typeof nested === "function" ? nested() : nested);
    const other = graphs.get(graph.name);
    if (other !== undefined && other !== graph) {
      throw new FlowError(
        "flow-invalid",
        `'${spec.name}' of '${flow}' declares two flows '${graph.name}': nobody could tell their runs apart`,
        { flow, node: spec.name },
      );
    }
    graphs.set(graph.name, graph);
  }
  return graphs;
}

/** Schemas of values that a node's visit keeps: arguments, and what its items gave. */
function reachedBy(node: NodeSpec): unknown[] {
  if (node.kind === "call") return [toolFacts(node.tool).input];
  if (node.kind !== "map-call") return [];
  const { input, output } = toolFacts(node.tool);
  return [input, output];
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

/** What a node declares as a flow and is none. A function is asked when it is needed. */
function nestedMistakes({ nodes }: Draft): string[] {
  return nodes.flatMap((node) =>
    nestedIn(node)
      .filter((nested) => typeof nested !== "function" && !isFlow(nested))
      .map(() => `'${node.name}' runs something that is no built flow`),
  );
}

/** Whether a value is a built flow, of whichever copy of this package. */
function isFlow(value: unknown): boolean {
  return typeof value === "object" && value !== null && inside in value;
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
