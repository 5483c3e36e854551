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
import { neverAborted, type LiveRun } from "./live.ts";
import type { Place } from "./place.ts";
import type { ScopeEnd } from "./scope.ts";
import { concludeUnused } from "./spend.ts";
import { limitTime, type TimeLimit } from "./time-limit.ts";

/** Which code, and under which options. */
export interface Attempt<T> {
  readonly options: NodeOptions;
  readonly body: (execution: Execution) => MaybePromise<unknown>;
  /** Reads what the code gave; what it throws is a failure like the code's own. */
  readonly read: (value: unknown) => T;
}

export type Attempted<T> = { readonly how: "finished"; readonly value: T } | Failed | Waits;

interface Failed {
  readonly how: "failed";
  readonly error: ErrorInfo;
}

interface Waits {
  readonly how: "waiting";
}

/**
 * Throws only what ends the run itself. Chained by hand: an `await` costs three times the memory of a reaction, and each node
 * of a run comes through here.
 */
export function attempt<T>(place: Place, at: Executing, what: Attempt<T>): Promise<Attempted<T>> {
  return once(place, at, what, "first") as Promise<Attempted<T>>;
}

/** However often: what is tried in a loop leaves nothing of itself behind. */
async function tryOn<T>(place: Place, at: Executing, what: Attempt<T>): Promise<Attempted<T>> {
  for (;;) {
    const outcome = await once(place, at, what, "later");
    if (outcome !== undefined) return outcome;
  }
}

/** Where it has to be tried again, the first goes on by itself, and a later one says `undefined`. */
type Turn = "first" | "later";

function once<T>(
  place: Place,
  at: Executing,
  what: Attempt<T>,
  turn: Turn,
): Promise<Attempted<T> | undefined> {
  const execution = new Execution(place, at, what.options);
  const { timeoutMs } = what.options;
  const limit =
    timeoutMs === undefined ? undefined : limitTime(place.live, at.path, timeoutMs, execution);
  return run(place, execution, what.body).then((end) => {
    limit?.over();
    const closed = close(execution, end, limit);
    return closed instanceof Promise
      ? closed.then((it) => judge(place, at, what, turn, it))
      : judge(place, at, what, turn, closed);
  });
}

function judge<T>(
  place: Place,
  at: Executing,
  what: Attempt<T>,
  turn: Turn,
  end: ExecutionEnd,
): MaybePromise<Attempted<T> | undefined> {
  if (end.how === "stopped") throw end.error;
  if (end.how === "waiting") return end;
  const outcome = outcomeOf(end, what.read);
  if (outcome.how !== "failed") return outcome;
  return afterFailure(place, at, what, turn, { ...end, outcome });
}

async function afterFailure<T>(
  place: Place,
  at: Executing,
  what: Attempt<T>,
  turn: Turn,
  { outcome, inDoubt, raiseDoubts, unused = [] }: CutOff & { outcome: Failed },
): Promise<Attempted<T> | undefined> {
  const retry = inDoubt === "within" ? undefined : what.options.retry;
  const next = await retries(place, at, retry, outcome.error, raiseDoubts);
  if (next.again === "in-doubt") return { how: "waiting" };
  if (next.again) return turn === "first" ? tryOn(place, at, what) : undefined;
  for (const approval of unused) await concludeUnused(place.live, approval); // V4
  return next.error === undefined ? outcome : { how: "failed", error: errorInfo(next.error) };
}

/** V2 */
function outcomeOf<T>(
  end: Extract<ScopeEnd, { how: "failed" | "finished" }>,
  read: (value: unknown) => T,
): Attempted<T> {
  if (end.how === "failed") return { how: "failed", error: errorInfo(end.error) };
  try {
    return { how: "finished", value: read(end.value) };
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

function run(
  { live, signal }: Place,
  execution: Execution,
  body: Attempt<unknown>["body"],
): Promise<ScopeEnd> {
  const { scope } = execution;
  return signal === neverAborted
    ? scope.run(body, execution)
    : live.executing(signal, scope, () => scope.run(body, execution));
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
