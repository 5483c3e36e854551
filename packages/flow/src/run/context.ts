import type { AnyTool, Executor, InputSnapshot, ToolInput, ToolOutput } from "@holdpoint/tools";

import { graphOf, type Flow, type FlowInput, type FlowState, type Graph } from "../graph/flow.ts";
import type { AnswerOf, CursorOf, InfoOf, Interrupt } from "../graph/interrupt.ts";
import type { ItemContext } from "../graph/map.ts";
import type { MaybePromise } from "../graph/node.ts";
import type { CallWay } from "./call-site.ts";
import type { Question } from "./interrupting.ts";
import type { Kept, Settled } from "./journal.ts";
import type { Begin, Scope } from "./scope.ts";

export interface CallOptions {
  /** Tells calls with equal tool and arguments apart by hand, instead of by the order in which they were made. */
  readonly key?: string;
  /** Another executor than the runner's, with guards or approvals of its own. */
  readonly executor?: Executor;
}

/** What goes with a question: its info, if it has any, and the cursor that the code wants to find again. */
export type Asking<I> =
  undefined extends InfoOf<I>
    ? [info?: InfoOf<I>, options?: AskOptions<I>]
    : [info: InfoOf<I>, options?: AskOptions<I>];

export interface AskOptions<I> {
  /** What the code needs to go on from here without doing again what it did before. */
  readonly cursor?: CursorOf<I>;
  /**
   * How long it may be answered, in milliseconds from now; past that, `ask` rejects with the code `answer-expired`, which the
   * code may catch to go on without an answer. Counted by the clock that sleeps go by. Default: for ever.
   */
  readonly expiresInMs?: number;
}

/** A cursor as it was left, or none. */
export type Restored<I> =
  | { readonly restored: true; readonly value: CursorOf<I> }
  | { readonly restored: false };

/**
 * What a node gets beside the state. Calls belong to the visit through this object alone (FLOW-42): what goes past it is
 * outside the run.
 *
 * A call that waits for a person never settles in this execution: the code is parked, and runs again from its top on
 * resume, with the finished calls replayed (FLOW-23). So take limiters, locks and connections inside a tool or a step, not
 * around a call; `defer` gives back what was taken all the same.
 */
export interface NodeContext {
  readonly runId: string;
  /** The visit's path in the run: `assess#1`. */
  readonly node: string;
  /** Aborted when the run is aborted or the node's time is over; never by a pause. */
  readonly signal: AbortSignal;
  /** Runs a tool, once: on a re-run of this visit the recorded result is returned instead. */
  call<T extends AnyTool>(
    tool: T,
    args: ToolInput<T>,
    options?: CallOptions,
  ): Promise<ToolOutput<T>>;
  /**
   * Runs another flow within this node, and gives the state that it ends in; the node declares it (`runs`). A pause within it
   * pauses the whole run. On a re-run it goes on where it stood, or gives what it gave.
   */
  run<F extends Flow>(flow: F, input: FlowInput<F>): Promise<FlowState<F>>;
  /**
   * Asks for input that is no approval, and waits for it; the node declares what it asks (`asks`). The n-th question of a
   * name in the visit gets the n-th answer. A question that does not fit its schemas rejects with `interrupt-invalid`.
   */
  ask<I extends Interrupt>(what: I, ...how: Asking<I>): Promise<AnswerOf<I>>;
  /**
   * The cursor that the last question of this name brought, in this visit: known before anything is done again. What it
   * lets the code skip is no divergence (FLOW-41). @throws FlowError `interrupt-invalid`
   */
  cursor<I extends Interrupt>(what: I): Restored<I>;
  /**
   * Pauses until a moment, or for so many milliseconds from now: any time, also longer than a timer can wait. Nothing waits
   * in the process; a resume without an answer, at or after that moment, goes on.
   */
  sleep(until: Date | number): Promise<void>;
  /** Journals any result under a name. May run again after a crash, so effects belong in tools. */
  step<T>(name: string, run: () => MaybePromise<T>): Promise<T>;
  /** The time, the same at every re-run. */
  now(): Date;
  /** A number in [0, 1), the same at every re-run. */
  random(): number;
  /** A UUID, the same at every re-run. */
  uuid(): string;
  /** Runs when this execution ends in any way, a pause included; last registered first. */
  defer(cleanup: () => MaybePromise<void>): void;
}

/** What a context needs of the visit it belongs to. */
export interface ContextOps {
  readonly runId: string;
  readonly node: string;
  readonly signal: AbortSignal;
  /** Takes a call's input, synchronously. */
  input(tool: AnyTool, args: unknown): InputSnapshot;
  /** Runs a tool for this visit. */
  call(way: CallWay): Begin;
  /** Takes what a nested run starts from, synchronously. */
  nestedInput(graph: Graph, input: unknown): InputSnapshot;
  /** Runs a flow within this visit. */
  nested(graph: Graph, input: InputSnapshot): Begin;
  /** Takes a question's info and cursor, synchronously, and its number in the visit. */
  question(
    what: Interrupt,
    info: unknown,
    options: { readonly cursor?: unknown; readonly expiresInMs?: number } | undefined,
  ): Question & { readonly number: number | undefined };
  ask(question: Question): Begin;
  /** The cursor that is left of a name's questions. */
  cursor(what: Interrupt): { readonly value: unknown } | undefined;
  /** Sleeps until a moment, or for a time. */
  sleep(until: Date | number): Begin;
  /** Runs a step's function for this visit. */
  step(run: () => unknown): Begin;
  moment(kind: "now" | "random" | "uuid"): Settled;
  /** A recorded value, decoded where it is a text. */
  open(kept: Kept): unknown;
  defer(cleanup: () => MaybePromise<void>): void;
}

/** A class with prototype members: an object literal made anew for each execution costs more than a call. */
export class VisitContext implements NodeContext {
  readonly #ops: ContextOps;
  readonly #scope: Scope;

  constructor(ops: ContextOps, scope: Scope) {
    this.#ops = ops;
    this.#scope = scope;
  }

  get runId(): string {
    return this.#ops.runId;
  }

  get node(): string {
    return this.#ops.node;
  }

  get signal(): AbortSignal {
    return this.#ops.signal;
  }

  call<T extends AnyTool>(
    tool: T,
    args: ToolInput<T>,
    options?: CallOptions,
  ): Promise<ToolOutput<T>> {
    // The input is taken now, synchronously: what the caller does to it later changes nothing.
    const what = {
      kind: "call" as const,
      name: tool.name,
      tool,
      input: this.#ops.input(tool, args),
      hand: options?.key,
    };
    return this.#scope.ask(what, this.#ops.call({ tool, executor: options?.executor })) as Promise<
      ToolOutput<T>
    >;
  }

  run<F extends Flow>(flow: F, input: FlowInput<F>): Promise<FlowState<F>> {
    return runGraph(this.#ops, this.#scope, graphOf(flow), input) as Promise<FlowState<F>>;
  }

  ask<I extends Interrupt>(what: I, ...how: Asking<I>): Promise<AnswerOf<I>> {
    const [info, options] = how;
    const question = this.#ops.question(what, info, options);
    const { name, facts, number } = question;
    const asked = { kind: "ask" as const, name, interrupt: facts, number };
    return this.#scope.ask(asked, this.#ops.ask(question)) as Promise<AnswerOf<I>>;
  }

  cursor<I extends Interrupt>(what: I): Restored<I> {
    const left = this.#ops.cursor(what);
    return left === undefined
      ? { restored: false }
      : { restored: true, value: left.value as CursorOf<I> };
  }

  sleep(until: Date | number): Promise<void> {
    const asked = { kind: "sleep" as const, name: "sleep" };
    return this.#scope.ask(asked, this.#ops.sleep(until)) as Promise<void>;
  }

  step<T>(name: string, run: () => MaybePromise<T>): Promise<T> {
    return this.#scope.ask({ kind: "step", name }, this.#ops.step(run)) as Promise<T>;
  }

  now(): Date {
    return new Date(this.#moment("now") as number);
  }

  random(): number {
    return this.#moment("random") as number;
  }

  uuid(): string {
    return this.#moment("uuid") as string;
  }

  defer(cleanup: () => MaybePromise<void>): void {
    this.#ops.defer(cleanup);
  }

  #moment(kind: "now" | "random" | "uuid"): unknown {
    const outcome = this.#scope.moment(kind, () => this.#ops.moment(kind));
    return outcome.ok ? this.#ops.open(outcome.result) : undefined;
  }
}

/** Asks for a nested run. */
export function runGraph(
  ops: ContextOps,
  scope: Scope,
  graph: Graph,
  input: unknown,
): Promise<unknown> {
  const taken = ops.nestedInput(graph, input);
  const what = { kind: "run" as const, name: graph.name, input: taken };
  return scope.ask(what, ops.nested(graph, taken));
}

/** What an item's code gets. */
export class ItemVisitContext extends VisitContext implements ItemContext {
  readonly index: number;

  constructor(ops: ContextOps, scope: Scope, index: number) {
    super(ops, scope);
    this.index = index;
  }
}
