import type { ApprovalRule } from "@holdpoint/approvals";
import type { Tool } from "@holdpoint/tools";
import type { z } from "zod";

import { FlowError } from "../errors.ts";
import type { NodeContext } from "../run/context.ts";
import type { FunctionIdentity } from "./digest.ts";
import { buildFlow, type Flow } from "./flow.ts";
import type { ItemContext, MapOptions, MapResults } from "./map.ts";
import {
  END,
  type CallSpec,
  type EdgeSpec,
  type GateSpec,
  type MapCallSpec,
  type MapSpec,
  type MaybePromise,
  type NodeOptions,
  type NodeSpec,
  type ReducerSpec,
  type RouteSpec,
  type State,
  type SubflowSpec,
} from "./node.ts";
import type { CodeOptions, NestedFlow } from "./nested.ts";
import type { StateSchema } from "./state.ts";

type Simplify<T> = { [K in keyof T]: T[K] } & {};

/** Some fields of the state, to be written. `undefined` removes an optional one. */
export type Update<S> = { [K in keyof S]?: S[K] };
/** What an update is inferred from: as `object` it is no weak type, whose own message would hide the sentence below. */
type Written<S> = Update<S> & object;

type Extra<R, S> = R extends object ? Exclude<keyof R, keyof S> : never;
/** A sentence where an update has a key that the state lacks: TypeScript has no excess check on what a callback returns. */
export type OnlyFieldsOf<S, R> = [Extra<Awaited<R>, S>] extends [never]
  ? unknown
  : `the state has no field '${Extra<Awaited<R>, S> & string}'`;
/** A sentence where a node's name is taken. */
export type Fresh<K extends string, N extends string> = K extends N
  ? `there is already a node '${K}'`
  : K;
/** The fields that a value fits. */
export type FieldFor<S, V> = { [K in keyof S]-?: V extends S[K] ? K : never }[keyof S];
type NoClash<N extends string, N2 extends string> = [N & N2] extends [never]
  ? unknown
  : `there is already a node '${N & N2}'`;

/** A schema that edits are read by. */
export type EditSchema<T> = z.ZodType<T>;

/** What a gate is given. */
export interface GateOptions<S, P, R> extends NodeOptions, Omit<ApprovalRule, "title"> {
  /** What a person is shown and decides on; sealed, and evaluated again before the approval is spent. */
  readonly payload: (state: Readonly<S>) => P;
  /** `false` lets the flow pass without asking (recorded). */
  readonly when?: (state: Readonly<S>) => boolean;
  /** The edits a person may make; none given: edits are refused. */
  readonly edits?: {
    readonly schema: EditSchema<P>;
    readonly apply: ((edited: P, state: Readonly<S>) => R) & OnlyFieldsOf<S, R>;
  };
}

/** What a call node is given. */
export interface CallOptions<S, I, O, R> extends NodeOptions {
  readonly args: I | ((state: Readonly<S>) => I);
  readonly into?: FieldFor<S, O> | (((result: O, state: Readonly<S>) => R) & OnlyFieldsOf<S, R>);
}

/** What a node that runs another flow is given. */
export interface SubflowOptions<S, In2, S2, R> extends NodeOptions {
  /** What the flow within starts from; sealed at the visit's start, and evaluated again before an answer is spent. */
  readonly input: (state: Readonly<S>) => In2;
  /** What becomes of the state that it ends in. */
  readonly into: ((end: S2, state: Readonly<S>) => R) & OnlyFieldsOf<S, R>;
}

/** What every map is given beside what it does with an item. */
export interface MapHow<S, Item, O, R> extends MapOptions {
  /** The items; sealed at the visit's start, and evaluated again before an answer is spent. */
  readonly over: (state: Readonly<S>) => readonly Item[];
  /** What becomes of the results. */
  readonly into: ((results: MapResults<O>, state: Readonly<S>) => R) & OnlyFieldsOf<S, R>;
}

/** Nodes and connections that a flow of the same state can take in with `use`. */
export interface Part<S extends object, N extends string, G extends string> {
  /** Types only; never present. */
  readonly part?: { readonly state: S; readonly nodes: N; readonly gates: G };
}

/**
 * Builds a flow node by node: `S` its state, `In` its start input, `N` the names so far, `G` the gates among them.
 * Nodes come before the lines that name them; a loop is an edge back.
 */
export interface FlowBuilder<
  S extends object,
  In,
  N extends string = never,
  G extends string = never,
> extends Part<S, N, G> {
  /** A function of the state that returns an update. */
  node<const K extends string, R extends MaybePromise<Written<S> | void>>(
    name: Fresh<K, N>,
    run: ((state: Readonly<S>, ctx: NodeContext) => R) & OnlyFieldsOf<S, R>,
    options?: CodeOptions,
  ): FlowBuilder<S, In, N | K, G>;
  /** A point that holds until a person lets it go. */
  gate<const K extends string, P, R extends Written<S> = {}>(
    name: Fresh<K, N>,
    how: GateOptions<S, P, R>,
  ): FlowBuilder<S, In, N | K, G | K>;
  /** One call of a tool. */
  call<const K extends string, I, O, R extends Written<S> | void = void>(
    name: Fresh<K, N>,
    tool: Tool<I, O, string, unknown>,
    how: CallOptions<S, I, O, R>,
  ): FlowBuilder<S, In, N | K, G>;
  /** A function of each item of a list. */
  map<const K extends string, Item, O, R extends Written<S> | void>(
    name: Fresh<K, N>,
    how: MapHow<S, Item, O, R> &
      Pick<CodeOptions, "runs"> & {
        readonly each: (item: Item, ctx: ItemContext, state: Readonly<S>) => MaybePromise<O>;
      },
  ): FlowBuilder<S, In, N | K, G>;
  /** A call of one tool for each item of a list. */
  mapCall<const K extends string, I, O, Item, R extends Written<S> | void>(
    name: Fresh<K, N>,
    tool: Tool<I, O, string, unknown>,
    how: MapHow<S, Item, O, R> & {
      readonly args: (item: Item, index: number, state: Readonly<S>) => NoInfer<I>;
    },
  ): FlowBuilder<S, In, N | K, G>;
  /** A run of another flow, within this one. */
  subflow<const K extends string, S2 extends object, In2, R extends Written<S> | void>(
    name: Fresh<K, N>,
    flow: NestedFlow<Flow<S2, In2>>,
    how: SubflowOptions<S, NoInfer<In2>, NoInfer<S2>, R>,
  ): FlowBuilder<S, In, N | K, G>;
  /** Goes on to `to` when `from` has finished. */
  edge(from: N, to: N | typeof END): FlowBuilder<S, In, N, G>;
  /** Edges from each node to the next. */
  path(first: N, second: N | typeof END, ...more: (N | typeof END)[]): FlowBuilder<S, In, N, G>;
  /** Where a denied gate goes on; without it a denial ends the run. */
  denied(gate: G, to: N | typeof END): FlowBuilder<S, In, N, G>;
  /** Where a failed node goes on; without it a failure ends the run. */
  failed(node: N, to: N | typeof END): FlowBuilder<S, In, N, G>;
  /** Another first node than the first one declared. */
  start(node: N): FlowBuilder<S, In, N, G>;
  /** Chooses one or several of the declared targets by the state. */
  route<const T extends N | typeof END>(
    from: N,
    to: readonly T[],
    choose: (state: Readonly<S>) => NoInfer<T> | readonly NoInfer<T>[],
  ): FlowBuilder<S, In, N, G>;
  /** How several writes of one field in a round become one: `merge(current, written)`, in declaration order. */
  reduce<K extends keyof S & string>(
    field: K,
    merge: (current: S[K], update: S[K]) => S[K],
  ): FlowBuilder<S, In, N, G>;
  /** Takes in the nodes and connections of a part. */
  use<N2 extends string, G2 extends string>(
    part: Part<S, N2, G2> & NoClash<N, N2>,
  ): FlowBuilder<S, In, N | N2, G | G2>;
  /** Checks the graph whole. @throws FlowError `flow-invalid`, naming every mistake. */
  build(): Flow<S, In, N>;
}

export interface FlowOptions {
  readonly version?: string;
  readonly identity?: FunctionIdentity;
}

/** Begins a flow over a state. */
export function flow<Z extends StateSchema>(
  name: string,
  state: Z,
  options: FlowOptions = {},
): FlowBuilder<Simplify<z.output<Z>>, Simplify<z.input<Z>>> {
  return new Builder(name, state, options) as FlowBuilder<
    Simplify<z.output<Z>>,
    Simplify<z.input<Z>>
  >;
}

/** Begins a part: the same methods, taken in by a flow's `use` instead of built. */
export function part<Z extends StateSchema>(
  state: Z,
): FlowBuilder<Simplify<z.output<Z>>, Simplify<z.input<Z>>> {
  return flow("part", state);
}

type AnyFunction = (...args: never[]) => unknown;

interface AnyGate extends NodeOptions, Omit<ApprovalRule, "title"> {
  readonly payload: AnyFunction;
  readonly when?: AnyFunction;
  readonly edits?: { readonly schema: unknown; readonly apply: AnyFunction };
}

interface AnyCall extends NodeOptions {
  readonly args: unknown;
  readonly into?: unknown;
}

interface AnyMap extends MapOptions {
  readonly over: AnyFunction;
  readonly into: AnyFunction;
}

interface AnySubflow extends NodeOptions {
  readonly input: AnyFunction;
  readonly into: AnyFunction;
}

/** The builder at run time. Types live in `FlowBuilder`; here every name is a text and every function a function. */
class Builder {
  readonly #name: string;
  readonly #state: StateSchema;
  readonly #options: FlowOptions;
  readonly #nodes: NodeSpec[] = [];
  readonly #edges: EdgeSpec[] = [];
  readonly #routes: RouteSpec[] = [];
  readonly #reducers: ReducerSpec[] = [];
  #start: string | undefined;

  constructor(name: string, state: StateSchema, options: FlowOptions) {
    this.#name = name;
    this.#state = state;
    this.#options = options;
  }

  node(name: string, run: AnyFunction, { runs = [], ...options }: CodeOptions = {}): this {
    this.#nodes.push({
      kind: "function",
      name,
      run: run as (state: State, ctx: NodeContext) => MaybePromise<State>,
      runs,
      options,
    });
    return this;
  }

  gate(name: string, how: AnyGate): this {
    const {
      payload,
      when,
      edits,
      approvers,
      quorum,
      excludeRequester,
      expiresInMs,
      useWithinMs,
      reason,
      ...options
    } = how;
    const rule = defined({
      approvers,
      quorum,
      excludeRequester,
      expiresInMs,
      useWithinMs,
      title: options.title,
      reason,
    });
    this.#nodes.push({
      kind: "gate",
      name,
      payload: payload as GateSpec["payload"],
      when: when as GateSpec["when"],
      edits: edits as GateSpec["edits"],
      rule,
      options,
    });
    return this;
  }

  call(name: string, tool: Tool, how: AnyCall): this {
    const { args, into, ...options } = how;
    this.#nodes.push({ kind: "call", name, tool, args, into: into as CallSpec["into"], options });
    return this;
  }

  map(
    name: string,
    how: AnyMap & Pick<CodeOptions, "runs"> & { readonly each: AnyFunction },
  ): this {
    const { each, runs = [], ...more } = how;
    const base = mapBase(name, more);
    this.#nodes.push({ kind: "map", ...base, each: each as MapSpec["each"], runs });
    return this;
  }

  mapCall(name: string, tool: Tool, how: AnyMap & { readonly args: AnyFunction }): this {
    const { args, ...more } = how;
    const base = mapBase(name, more);
    this.#nodes.push({ kind: "map-call", ...base, tool, args: args as MapCallSpec["args"] });
    return this;
  }

  subflow(name: string, flow: NestedFlow, how: AnySubflow): this {
    const { input, into, ...options } = how;
    this.#nodes.push({
      kind: "subflow",
      name,
      flow,
      input: input as SubflowSpec["input"],
      into: into as SubflowSpec["into"],
      options,
    });
    return this;
  }

  edge(from: string, to: string): this {
    this.#edges.push({ from, to, when: "finished" });
    return this;
  }

  path(...names: string[]): this {
    for (let index = 1; index < names.length; index++) this.edge(names[index - 1]!, names[index]!);
    return this;
  }

  denied(gate: string, to: string): this {
    this.#edges.push({ from: gate, to, when: "denied" });
    return this;
  }

  failed(node: string, to: string): this {
    this.#edges.push({ from: node, to, when: "failed" });
    return this;
  }

  start(node: string): this {
    this.#start = node;
    return this;
  }

  route(from: string, targets: readonly string[], choose: AnyFunction): this {
    this.#routes.push({ from, targets: [...targets], choose: choose as RouteSpec["choose"] });
    return this;
  }

  reduce(field: string, merge: AnyFunction): this {
    this.#reducers.push({ field, merge: merge as ReducerSpec["merge"] });
    return this;
  }

  use(part: object): this {
    if (!(part instanceof Builder))
      throw new FlowError("flow-invalid", "use() takes what part() began");
    this.#nodes.push(...part.#nodes);
    this.#edges.push(...part.#edges);
    this.#routes.push(...part.#routes);
    this.#reducers.push(...part.#reducers);
    return this;
  }

  build(): Flow<never, never, never> {
    return buildFlow(
      {
        name: this.#name,
        version: this.#options.version,
        state: this.#state,
        nodes: [...this.#nodes],
        edges: [...this.#edges],
        routes: [...this.#routes],
        reducers: [...this.#reducers],
        start: this.#start,
      },
      this.#options.identity ?? "node",
    );
  }
}

function mapBase(name: string, how: AnyMap): Omit<MapSpec, "kind" | "each" | "runs"> {
  const { over, into, concurrency, onError = "fail", stopOnPause = false, ...options } = how;
  return {
    name,
    over: over as MapSpec["over"],
    into: into as MapSpec["into"],
    concurrency,
    onError,
    stopOnPause,
    options,
  };
}

/** Without the members that are `undefined`. */
function defined(rule: {
  readonly [K in keyof ApprovalRule]: ApprovalRule[K] | undefined;
}): ApprovalRule {
  return Object.fromEntries(Object.entries(rule).filter(([, value]) => value !== undefined));
}
