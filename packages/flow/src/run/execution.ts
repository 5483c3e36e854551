/**
 * One execution of a node's code while it is under way: the seam between its scope, its context and the run.
 */
import {
  errorInfo,
  inputOf,
  rebuildError,
  toolFacts,
  type AnyTool,
  type InputSnapshot,
} from "@holdpoint/tools";

import { FlowError, isFlowError } from "../errors.ts";
import type { Graph } from "../graph/flow.ts";
import type { Interrupt } from "../graph/interrupt.ts";
import type { MaybePromise, NodeOptions } from "../graph/node.ts";
import type { CallSite, CallWay } from "./call-site.ts";
import { AskNumbers } from "./ask-numbers.ts";
import { performCall } from "./calls.ts";
import type { ContextOps } from "./context.ts";
import type { Identity, Made } from "./identity.ts";
import { beginAsking, declaredFacts, questionOf, type Question } from "./interrupting.ts";
import { raiseDoubt } from "./doubt.ts";
import { endsRun } from "./endings.ts";
import { leaveBehind } from "./leaving.ts";
import { journaled } from "./journaled.ts";
import {
  freshExecution,
  isFresh,
  Prior,
  type ExecutionState,
  type Kept,
  type Replaced,
  type Settled,
  type SpentApproval,
  type Started,
} from "./journal.ts";
import type { LiveRun } from "./live.ts";
import { beginNested, performNested, type NestedSite } from "./nested.ts";
import type { Place } from "./place.ts";
import { prepareSeal } from "./prepare.ts";
import type { Rest } from "./rest.ts";
import { keptAsText, revealed } from "./reveal.ts";
import { beginSleeping } from "./sleeping.ts";
import { Scope, type Begin, type Revealed, type ScopeEnd, type ScopeOps } from "./scope.ts";

const none: never[] = [];

/** What an execution is of: a visit, or an item of one. */
export interface Executing {
  readonly path: string;
  /** The node whose code runs. */
  readonly node: string;
  /** What is on record of it now. */
  readonly execution: ExecutionState;
}

export class Execution implements ContextOps, ScopeOps, CallSite {
  readonly live: LiveRun;
  readonly place: Place;
  readonly visit: string;
  readonly scope: Scope;
  readonly rest: Rest;
  signal: AbortSignal;
  readonly #prior: Prior | undefined;
  #runs: Map<Made, string> | undefined;
  readonly #asks: readonly Interrupt[];
  /** Of a node that may ask; of another one, made when it asks all the same. */
  #numbers: AskNumbers | undefined;
  #spent: Map<Made, { cost: number; approval?: SpentApproval }> | undefined;
  /** Whether the code may be run again although it was cut off. */
  readonly #triedAgain: boolean;
  readonly #node: string;
  #inDoubt: Map<Made, Started> | undefined;
  /** The same of executions within, whose doubts nobody can be asked about from here. */
  #inDoubtWithin: Set<Made> | undefined;
  #spending: Set<Promise<unknown>> | undefined;
  #unused: SpentApproval[] | undefined;
  #cleanups: (() => MaybePromise<void>)[] | undefined;
  #cleaned = false;

  /** `options`: its node's. */
  constructor(place: Place, at: Executing, options: NodeOptions) {
    const { live, signal } = place;
    this.live = live;
    this.place = place;
    this.#node = at.node;
    this.visit = at.path;
    this.signal = signal;
    this.rest = live.parts.rest;
    this.#triedAgain = options.retry !== undefined;
    const { execution } = at;
    this.#prior = isFresh(execution) ? undefined : new Prior(execution);
    this.#asks = options.asks ?? none;
    if (this.#asks.length > 0) this.#numbers = this.#numbered(execution);
    if (this.#prior !== undefined) live.rerun.add(at.path);
    this.scope = new Scope(this, this.#prior);
  }

  get runId(): string {
    return this.live.state.seed.runId;
  }

  get node(): string {
    return this.visit;
  }

  // What the context asks for

  input(tool: AnyTool, args: unknown): InputSnapshot {
    return inputOf(tool, args, this.live.parts.sealer);
  }

  nestedInput(graph: Graph, input: unknown): InputSnapshot {
    return graph.input(input, this.live.parts.sealer);
  }

  call(way: CallWay): Begin {
    return (made, standing) => performCall(this, way, made, standing);
  }

  nested(graph: Graph, input: InputSnapshot): Begin {
    const { place, signal, visit: path } = this;
    const site: NestedSite = { place, node: this.#node, path, signal, within: this };
    return async (made, { nested }) => {
      const run = nested ?? beginNested(site, graph, input, made);
      if ("error" in run) return run;
      (this.#runs ??= new Map()).set(made, run.path);
      return performNested(site, graph, run.path);
    };
  }

  step(run: () => unknown): Begin {
    return async () => {
      try {
        return { ok: true, result: { form: "value", value: await run() } };
      } catch (error) {
        return { ok: false, error: errorInfo(error) };
      }
    };
  }

  question(
    what: Interrupt,
    info: unknown,
    options: { readonly cursor?: unknown; readonly expiresInMs?: number } | undefined,
  ): Question & { number: number | undefined } {
    const question = questionOf(what, { info, ...options }, this.#asks, this.visit);
    const { cursor: kept } = question;
    const number = (this.#numbers ??= this.#numbered(freshExecution)).take(
      question.name,
      kept === undefined ? undefined : { form: "value", value: kept },
    );
    return { ...question, number };
  }

  sleep(until: Date | number): Begin {
    return beginSleeping(this, until);
  }

  #numbered(execution: ExecutionState): AskNumbers {
    const { sealer } = this.live.parts;
    return new AskNumbers(execution, (cursor) => keptAsText(cursor, sealer));
  }

  ask(question: Question): Begin {
    return beginAsking(this, question);
  }

  cursor(what: Interrupt): { readonly value: unknown } | undefined {
    const facts = declaredFacts(what, this.#asks, this.visit);
    const left = this.#numbers?.restored(facts.name);
    if (left === undefined) return undefined;
    this.#prior?.leaveOut(left.behind);
    return { value: this.#decoded(left.cursor, facts.cursor) };
  }

  moment(kind: "now" | "random" | "uuid"): Settled {
    const { clock, ids } = this.live.parts;
    const value = kind === "now" ? clock.now() : ids[kind]();
    return { ok: true, result: { form: "value", value } };
  }

  defer(cleanup: () => MaybePromise<void>): void {
    (this.#cleanups ??= []).push(cleanup);
    if (this.#cleaned) void this.cleanUp(); // by code that outlived its execution: at once
  }

  /** Whether anything was registered with `defer`. */
  get cleans(): boolean {
    return this.#cleanups !== undefined;
  }

  /** Last registered first; a failing one is logged and keeps none of the others from running. */
  async cleanUp(): Promise<void> {
    this.#cleaned = true;
    const cleanups = this.#cleanups ?? [];
    this.#cleanups = undefined;
    for (const cleanup of cleanups.reverse()) {
      try {
        await cleanup();
      } catch {
        const { runId } = this;
        this.live.parts.logger.error("a deferred cleanup failed", { runId, node: this.visit });
      }
    }
  }

  // What the scope asks for

  record(made: Made, outcome: Settled): void {
    const { live, visit } = this;
    const kept = journaled(made, outcome, live.parts);
    if (made.kind === "run") {
      const path = this.#runs?.get(made);
      const ran = path === undefined ? undefined : { path };
      return live.emit({ type: "nested-finished", visit, call: made, ...ran, outcome: kept });
    }
    if (made.kind !== "call")
      return live.emit({ type: "step-recorded", visit, call: made, outcome: kept });
    const spent = this.#spent?.get(made) ?? { cost: 0 };
    try {
      live.emit({ type: "call-finished", visit, call: made, outcome: kept, ...spent });
    } catch (error) {
      if (!isFlowError(error, "state-not-sealable")) throw error;
      live.emit({ type: "call-unjournaled", visit, call: made, ...whyLost(error), ...spent });
    }
  }

  durable(): Promise<void> | undefined {
    return this.live.flush();
  }

  reveal(made: Made, outcome: Settled, how: "live" | "recorded"): Revealed {
    if (!outcome.ok) return { error: rebuildError(outcome.error) }; // FLOW-32: live ones are rebuilt too
    const { result } = outcome;
    if (how === "live" && result.form === "value") return { value: result.value };
    return { value: this.#opened(result, made) };
  }

  diverged(expected: readonly Identity[], came: readonly Made[]): unknown {
    const names = (ids: readonly { readonly name: string; readonly number: number }[]): string[] =>
      ids.map((id) => `${id.name}/${id.number}`);
    const facts = { expected: names(expected), came: names(came) };
    this.live.emit({ type: "replay-diverged", visit: this.visit, ...facts });
    if (!this.live.state.seed.settings.strict) return undefined;
    return new FlowError(
      "replay-diverged",
      `${this.visit} ran again and asked for ${facts.came.join(", ") || "nothing new"} instead of ${facts.expected.join(", ")}: nothing new was run`,
      { runId: this.runId, node: this.visit, ...facts },
    );
  }

  dropped(name: string): void {
    this.live.emit({ type: "call-dropped", visit: this.visit, tool: name });
  }

  // What a call asks for

  prepare(): void {
    prepareSeal(this.live);
  }

  replaced(made: Made): Replaced | undefined {
    return this.#prior?.replaced(made);
  }

  get over(): boolean {
    return this.scope.over || this.signal.aborted;
  }

  get mayRunAgain(): boolean {
    return this.live.durable || this.#triedAgain || this.place.within?.mayRunAgain === true;
  }

  get comesBack(): boolean {
    const { live, scope } = this;
    if (!live.durable) return false;
    if (live.signal.aborted) return true;
    const { stopped } = scope;
    // An abort that is not the run's own, like a time limit, is of something around this: its visit ends, and the run goes on.
    const isOver = (fault: unknown): boolean =>
      isFlowError(fault, "timed-out") || isFlowError(fault, "aborted") || endsRun(fault, live);
    return stopped !== undefined && !isOver(stopped.by);
  }

  get timedOut(): boolean {
    const { place, scope } = this;
    if (place.live.signal.aborted) return false;
    return place.signal.aborted || isFlowError(scope.stopped?.by, "timed-out");
  }

  spending(ending: Promise<unknown>): void {
    const spending = (this.#spending ??= new Set());
    const over = (): void => void spending.delete(ending);
    spending.add(ending);
    this.place.within?.spending(ending);
    ending.then(over, over);
  }

  /** Whether calls are under way that approvals are being spent for. */
  get spends(): boolean {
    return (this.#spending?.size ?? 0) > 0;
  }

  /** Resolves when no such call is under way any more, however they end. */
  async spent(): Promise<void> {
    while (this.spends) await Promise.allSettled(this.#spending!);
  }

  leftUnused(approval: SpentApproval): void {
    const { signal, within } = this.place;
    // What is around it was cut off, and is what may be tried again.
    if (signal.aborted && within !== undefined) within.leftUnused(approval);
    else (this.#unused ??= []).push(approval);
  }

  /** Approvals that no call took up so far, because it was cut off. */
  get unused(): readonly SpentApproval[] {
    return this.#unused ?? none;
  }

  /** Kept only where a retry could enter it a second time without knowing how the first ended (TOOL-13). */
  entering(made: Made, tool: AnyTool, begun: () => Started): (() => void) | undefined {
    const around = this.place.within?.enteringWithin(made, tool);
    if (!this.#triedAgain || tool.idempotent) return around;
    const inDoubt = (this.#inDoubt ??= new Map());
    inDoubt.set(made, begun());
    return () => {
      around?.();
      if (!this.scope.over) inDoubt.delete(made);
    };
  }

  /** The same for a call of a nested run. */
  enteringWithin(made: Made, tool: AnyTool): (() => void) | undefined {
    const around = this.place.within?.enteringWithin(made, tool);
    if (!this.#triedAgain || tool.idempotent) return around;
    const inDoubt = (this.#inDoubtWithin ??= new Set());
    inDoubt.add(made);
    return () => {
      around?.();
      if (!this.scope.over) inDoubt.delete(made);
    };
  }

  /**
   * Effects that had begun, and whose end is not known, when the execution was cut off: `own`: its own calls', about which a
   * person can be asked before it is tried again; `within`: those of nested runs, which are cut off with it.
   */
  get inDoubt(): "nothing" | "own" | "within" {
    if ((this.#inDoubtWithin?.size ?? 0) > 0) return "within";
    return (this.#inDoubt?.size ?? 0) > 0 ? "own" : "nothing";
  }

  /** What had begun when the execution was cut off: before it is tried again, a person says what became of it (FLOW-76). */
  raiseDoubts(): void {
    for (const [made, started] of this.#inDoubt ?? [])
      raiseDoubt(this.live, this.visit, started, { asked: true, order: made.order });
  }

  spentOn(made: Made, what: { readonly cost?: number; readonly approval?: SpentApproval }): void {
    const spent = (this.#spent ??= new Map());
    spent.set(made, { cost: 0, ...spent.get(made), ...what });
  }

  /** What a synchronous step recorded. */
  open(kept: Kept): unknown {
    return this.#decoded(kept, this.live.graph.reachable);
  }

  /** A recorded result: a tool's by what its output reaches, an answer's by its schema, a step's by the state's (FLOW-71). */
  #opened(kept: Kept, { tool, interrupt }: Made): unknown {
    if (interrupt !== undefined) return this.#decoded(kept, interrupt.answer);
    return tool === undefined ? this.open(kept) : this.#decoded(kept, toolFacts(tool).output);
  }

  /** Recorded arguments, by what the tool's input reaches. */
  openArguments(kept: Kept, tool: AnyTool): unknown {
    return this.#decoded(kept, toolFacts(tool).input);
  }

  #decoded(kept: Kept, schema: unknown): unknown {
    return revealed(kept, this.live.parts.sealer, schema, { runId: this.runId, node: this.visit });
  }

  /** Whether this is a re-run. */
  get isAgain(): boolean {
    return this.#prior !== undefined;
  }

  /** How it ended, with what the re-run did not ask for again. */
  async leaveBehind(end: ScopeEnd): Promise<ScopeEnd> {
    const { live, visit, scope } = this;
    const prior = this.#prior;
    return prior === undefined ? end : leaveBehind({ live, visit, prior, asked: scope.asked }, end);
  }
}

/** What could not be sealed, as the sealer says it: whoever needs the result says where it was. */
function whyLost({ cause, message, data }: FlowError): { why: string; path?: string } {
  const path = data["path"];
  return {
    why: cause instanceof Error ? cause.message : message,
    ...(typeof path === "string" && { path }),
  };
}
