import { FlowError } from "../errors.ts";
import type { LiveRun } from "./live.ts";
import type { Scope } from "./scope.ts";

/** A node's time limit, while one execution of it is under way. */
export interface TimeLimit {
  /** Set when the time was over before the execution was. */
  readonly timedOut: FlowError | undefined;
  over(): void;
}

/**
 * Stops an execution whose time is over: its signal aborts, nothing more reaches its code, and a late outcome is nobody's.
 * A pause ends an execution, so a person's time never counts (TOOL-14).
 */
export function limitTime(
  live: LiveRun,
  visit: string,
  timeoutMs: number,
  execution: { signal: AbortSignal; readonly scope: Scope },
): TimeLimit {
  const controller = new AbortController();
  execution.signal = AbortSignal.any([execution.signal, controller.signal]);
  let timedOut: FlowError | undefined;
  const cancel = live.parts.clock.timer(timeoutMs, () => {
    const { runId } = live.state.seed;
    timedOut = new FlowError("timed-out", `${visit} took longer than ${timeoutMs} ms`, {
      runId,
      node: visit,
    });
    execution.scope.stop(timedOut);
    controller.abort(timedOut);
  });
  return {
    get timedOut() {
      return timedOut;
    },
    over: cancel,
  };
}
