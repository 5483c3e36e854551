/**
 * One execution after the other of a piece of a node's code, until it finished, failed for good or waits.
 *
 * V2 An execution that ended otherwise than waiting is over: what it gave is read, or its failure recorded.
 * V3 What `defer` registered runs at every end of an execution, a pause included; it can't change how it ended.
 * V4 One that its time limit cut off while an approval was being spent is over when that settle is known: what was spent for a
 *    call that was not entered allows the same call of the retry, and is unused where there is none (APR-21).
 */
import { errorInfo, rebuildError, type ErrorInfo } from "@holdpoint/tools";

import type { MaybePromise, NodeOptions, Retry } from "../graph/node.ts";
import { Execution, type Executing } from "./execution.ts";
import type { SpentApproval } from "./journal.ts";
import { abortedRun, neverAborted, type LiveRun } from "./live.ts";
import type { Place } from "./place.ts";
import type { ScopeCode, ScopeEnd } from "./scope.ts";
import { concludeUnused } from "./spend.ts";
import { limitTime, type TimeLimit } from "./time-limit.ts";

/** Which code, under which options, and what comes of it. */
export interface Attempt<T, R> {
  readonly options: NodeOptions;
  body(execution: Execution): MaybePromise<unknown>;
  /** Reads what the code gave; what it throws is a failure like the code's own. */
  read(value: unknown): T;
  /** Takes in how it ended. What it throws ends the run. */
  ended(outcome: Attempted<T>): MaybePromise<R>;
}

export type Attempted<T> = { readonly how: "finished"; readonly value: T } | Failed | Waits;

interface Failed {
  readonly how: "failed";
  readonly error: ErrorInfo;
}

interface Waits {
  readonly how: "waiting";
}

/** It has to be tried again, by whoever tries it in a loop. */
const again = Symbol("again");

/** Where it has to be tried again, the first goes on by itself, and a later one says `again`. */
type Turn = "first" | "later";

/**
 * Rejects with what ends the run itself only. Chained by hand, by one promise and one object: an `await` costs three times the
 * memory of a reaction, and each node of a run comes through here.
 */
export function attempt<T, R>(place: Place, at: Executing, what: Attempt<T, R>): Promise<R> {
  return once(place, at, what, "first") as Promise<R>;
}

/** However often: what is tried in a loop leaves nothing of itself behind. */
async function tryOn<T, R>(place: Place, at: Executing, what: Attempt<T, R>): Promise<R> {
  for (;;) {
    const outcome = await once(place, at, what, "later");
    if (outcome !== again) return outcome as R;
  }
}

function once<T, R>(
  place: Place,
  at: Executing,
  what: Attempt<T, R>,
  turn: Turn,
): Promise<R | typeof again> {
  return new Promise((resolve, reject) => {
    new Once(place, at, what, turn, { resolve, reject }).begin();
  });
}

interface Promised<R> {
  readonly resolve: (value: MaybePromise<R>) => void;
  readonly reject: (error: unknown) => void;
}

/** One execution and what is done with its end. */
class Once<T, R> implements ScopeCode<Execution> {
  readonly #place: Place;
  readonly #at: Executing;
  readonly #what: Attempt<T, R>;
  readonly #turn: Turn;
  readonly #promised: Promised<R | typeof again>;
  readonly #execution: Execution;
  readonly #limit: TimeLimit | undefined;
  #stop: (() => void) | undefined;

  constructor(
    place: Place,
    at: Executing,
    what: Attempt<T, R>,
    turn: Turn,
    promised: Promised<R | typeof again>,
  ) {
    this.#place = place;
    this.#at = at;
    this.#what = what;
    this.#turn = turn;
    this.#promised = promised;
    this.#execution = new Execution(place, at, what.options);
    const { timeoutMs } = what.options;
    this.#limit =
      timeoutMs === undefined
        ? undefined
        : limitTime(place.live, at.path, timeoutMs, this.#execution);
  }

  /** An abort of its frame's signal stops it at once, and its calls' ends are nobody's (FLOW-07). */
  begin(): void {
    const { live, signal } = this.#place;
    const { scope } = this.#execution;
    if (signal !== neverAborted) {
      if (signal.aborted) throw abortedRun(live);
      this.#stop = () => scope.stop(abortedRun(live));
      signal.addEventListener("abort", this.#stop, { once: true });
    }
    scope.run(this, this.#execution);
  }

  body(execution: Execution): unknown {
    return this.#what.body(execution);
  }

  over(end: ScopeEnd): void {
    if (this.#stop !== undefined) this.#place.signal.removeEventListener("abort", this.#stop);
    this.#limit?.over();
    const { resolve, reject } = this.#promised;
    try {
      const closed = close(this.#execution, end, this.#limit);
      resolve(
        closed instanceof Promise ? closed.then((it) => this.#judged(it)) : this.#judged(closed),
      );
    } catch (error) {
      reject(error);
    }
  }

  #judged(end: ExecutionEnd): MaybePromise<R | typeof again> {
    const what = this.#what;
    if (end.how === "stopped") throw end.error;
    if (end.how === "waiting") return what.ended(end);
    const outcome = outcomeOf(end, what);
    if (outcome.how !== "failed") return what.ended(outcome);
    return this.#failed(outcome, end);
  }

  async #failed(
    outcome: Failed,
    { inDoubt, raiseDoubts, unused = [] }: CutOff,
  ): Promise<R | typeof again> {
    const place = this.#place;
    const at = this.#at;
    const what = this.#what;
    const retry = inDoubt === "within" ? undefined : what.options.retry;
    const next = await retries(place, at, retry, outcome.error, raiseDoubts);
    if (next.again === "in-doubt") return what.ended({ how: "waiting" });
    if (next.again) return this.#turn === "first" ? tryOn(place, at, what) : again;
    for (const approval of unused) await concludeUnused(place.live, approval); // V4
    if (next.error === undefined) return what.ended(outcome);
    return what.ended({ how: "failed", error: errorInfo(next.error) });
  }
}

/** V2 */
function outcomeOf<T>(
  end: Extract<ScopeEnd, { how: "failed" | "finished" }>,
  what: Attempt<T, unknown>,
): Attempted<T> {
  if (end.how === "failed") return { how: "failed", error: errorInfo(end.error) };
  try {
    return { how: "finished", value: what.read(end.value) };
  } catch (error) {
    return { how: "failed", error: errorInfo(error) };
  }
}

type Next =
  | { readonly again: true | "in-doubt" }
  | { readonly again: false; readonly error?: unknown };

/**
 * Whether a failed execution is tried again (FLOW-12); what it had finished is replayed, what had failed is not. Attempts
 * count over all pauses. `error`: what the retry's own functions threw.
 */
async function retries(
  { live, signal }: Place,
  at: Executing,
  retry: Retry | undefined,
  error: ErrorInfo,
  raiseDoubts: (() => void) | undefined,
): Promise<Next> {
  const count = at.execution.retries + 1;
  if (retry === undefined || count >= retry.attempts) return { again: false };
  let waitMs: number;
  try {
    const wanted = retry.on === undefined ? error.retryable : retry.on(rebuildError(error));
    if (!wanted) return { again: false };
    const { backoffMs = 0 } = retry;
    waitMs = typeof backoffMs === "function" ? backoffMs(count) : backoffMs * 2 ** (count - 1);
  } catch (thrown) {
    return { again: false, error: thrown };
  }
  live.emit({ type: "retried", visit: at.path, attempt: count, error });
  await live.flush();
  if (raiseDoubts !== undefined) {
    raiseDoubts(); // a person says first what became of what had begun (FLOW-76)
    return { again: "in-doubt" };
  }
  if (waitMs > 0) await pause(live, signal, waitMs);
  return { again: true };
}

/** Waits, unless the run is aborted meanwhile, or the time of whatever is around this is over. */
function pause({ parts }: LiveRun, signal: AbortSignal, waitMs: number): Promise<void> {
  return new Promise((resolve) => {
    const over = (): void => {
      cancel();
      signal.removeEventListener("abort", over);
      resolve();
    };
    const cancel = parts.clock.timer(waitMs, over);
    signal.addEventListener("abort", over);
    if (signal.aborted) over();
  });
}

/** `inDoubt`: whether it was cut off while an effect was under way that must not be begun a second time (TOOL-13). */
type ExecutionEnd = ScopeEnd & CutOff;

interface CutOff {
  readonly inDoubt?: Execution["inDoubt"];
  /** Asks a person about such effects of its own. */
  readonly raiseDoubts?: (() => void) | undefined;
  /** Approvals that were spent for calls which were not entered: a retry makes these calls again. */
  readonly unused?: readonly SpentApproval[];
}

/** V3, and what a re-run left behind. */
function close(
  execution: Execution,
  end: ScopeEnd,
  limit: TimeLimit | undefined,
): MaybePromise<ExecutionEnd> {
  // V4. An abort of the run is told at once; what it cut off comes to rest by itself.
  if (execution.spends && !execution.live.signal.aborted)
    return execution.spent().then(() => close(execution, end, limit));
  if (execution.cleans) return execution.cleanUp().then(() => left(execution, end, limit));
  return left(execution, end, limit);
}

function left(
  execution: Execution,
  end: ScopeEnd,
  limit: TimeLimit | undefined,
): MaybePromise<ExecutionEnd> {
  if (end.how === "stopped") {
    if (limit?.timedOut === undefined) return end;
    const { inDoubt, unused } = execution;
    const raiseDoubts = inDoubt === "own" ? () => execution.raiseDoubts() : undefined;
    return { how: "failed", error: limit.timedOut, inDoubt, raiseDoubts, unused };
  }
  return execution.isAgain ? execution.leaveBehind(end) : end;
}
