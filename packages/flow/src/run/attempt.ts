/**
 * One execution after the other of a piece of a node's code, until it finished, failed for good or waits.
 *
 * V2 An execution that ended otherwise than waiting is over: what it gave is read, or its failure recorded.
 * V3 What `defer` registered runs at every end of an execution, a pause included; it can't change how it ended.
 */
import { errorInfo, rebuildError, type ErrorInfo } from "@holdpoint/tools";

import type { MaybePromise, NodeOptions, Retry } from "../graph/node.ts";
import { Execution, type Executing } from "./execution.ts";
import { neverAborted, type LiveRun } from "./live.ts";
import type { Place } from "./place.ts";
import type { ScopeEnd } from "./scope.ts";
import { limitTime, type TimeLimit } from "./time-limit.ts";

/** Which code, and under which options. */
export interface Attempt<T> {
  readonly options: NodeOptions;
  readonly body: (execution: Execution) => MaybePromise<unknown>;
  /** Reads what the code gave; what it throws is a failure like the code's own. */
  readonly read: (value: unknown) => T;
}

export type Attempted<T> =
  | { readonly how: "finished"; readonly value: T }
  | { readonly how: "failed"; readonly error: ErrorInfo }
  | { readonly how: "waiting" };

/** Throws only what ends the run itself. */
export async function attempt<T>(
  place: Place,
  at: Executing,
  what: Attempt<T>,
): Promise<Attempted<T>> {
  for (;;) {
    const execution = new Execution(place, at, what.options);
    const limit = limitTime(place.live, at.path, what.options.timeoutMs, execution);
    const ended = await run(place, execution, what.body);
    limit?.over();
    const closing = close(execution, ended, limit);
    const end = closing instanceof Promise ? await closing : closing;
    if (end.how === "stopped") throw end.error;
    if (end.how === "waiting") return end;
    const outcome = outcomeOf(end, what.read);
    if (outcome.how !== "failed" || end.inDoubt === "within") return outcome;
    const next = await retries(place, at, what.options.retry, outcome.error, end.raiseDoubts);
    if (next.again === "in-doubt") return { how: "waiting" };
    if (next.again) continue;
    return next.error === undefined ? outcome : { how: "failed", error: errorInfo(next.error) };
  }
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
type ExecutionEnd = ScopeEnd & {
  readonly inDoubt?: Execution["inDoubt"];
  /** Asks a person about such effects of its own. */
  readonly raiseDoubts?: (() => void) | undefined;
};

/** Every promise in between costs each node a turn: there is none that is not needed. */
function run(
  { live, signal }: Place,
  execution: Execution,
  body: Attempt<unknown>["body"],
): Promise<ScopeEnd> {
  const { scope } = execution;
  const code = (): unknown => body(execution);
  return signal === neverAborted
    ? scope.run(code)
    : live.executing(signal, scope, () => scope.run(code));
}

/** V3, and what a re-run left behind. */
function close(
  execution: Execution,
  end: ScopeEnd,
  limit: TimeLimit | undefined,
): ExecutionEnd | Promise<ExecutionEnd> {
  if (execution.cleans) return execution.cleanUp().then(() => closed(execution, end, limit));
  return closed(execution, end, limit);
}

function closed(
  execution: Execution,
  end: ScopeEnd,
  limit: TimeLimit | undefined,
): ExecutionEnd | Promise<ExecutionEnd> {
  if (end.how === "stopped") {
    if (limit?.timedOut === undefined) return end;
    const { inDoubt } = execution;
    const raiseDoubts = inDoubt === "own" ? () => execution.raiseDoubts() : undefined;
    return { how: "failed", error: limit.timedOut, inDoubt, raiseDoubts };
  }
  return execution.isAgain ? execution.leaveBehind(end) : end;
}
