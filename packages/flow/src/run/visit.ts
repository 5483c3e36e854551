/**
 * One visit of one node: its inputs, its execution, its end.
 *
 * V1 Inputs are evaluated once, at the visit's start; a re-run gets the recorded ones (FLOW-63).
 * V2 An execution that ended otherwise than waiting is over: its update is validated, or its failure recorded.
 * V3 What `defer` registered runs at every end of an execution, a pause included; it can't change how it ended.
 */
import { rebuildError, type ErrorInfo } from "@holdpoint/tools";

import { isFlowError } from "../errors.ts";
import type { GraphNode } from "../graph/flow.ts";
import type { CallSpec, FunctionSpec, MaybePromise } from "../graph/node.ts";
import { VisitContext } from "./context.ts";
import type { VisitEnd } from "./event.ts";
import { Execution } from "./execution.ts";
import { visitGate } from "./gate.ts";
import { inputsOf } from "./inputs.ts";
import { isFresh } from "./journal.ts";
import { neverAborted, type LiveRun } from "./live.ts";
import type { Place } from "./place.ts";
import type { ScopeEnd } from "./scope.ts";
import { withdrawAll } from "./spend.ts";
import type { OpenVisit } from "./state.ts";
import { limitTime } from "./time-limit.ts";
import { checkedUpdate, failed } from "./update.ts";
import { isOpen } from "./wait.ts";

/** Runs a visit until it finished, failed or waits. Throws only what ends the run itself. */
export async function runVisit(place: Place, visit: OpenVisit): Promise<void> {
  const { live, graph } = place;
  const node = graph.nodes.get(visit.node)!;
  if (visit.inputs === undefined && isFresh(visit.execution)) {
    const started = startVisit(place, visit, node);
    if (!started) return;
  }
  if (node.spec.kind === "gate") return visitGate(place, visit, node, node.spec);
  for (;;) {
    const end = await execute(place, visit, node.spec);
    if (end.how === "stopped") throw end.error;
    if (end.how === "waiting") return live.emit({ type: "visit-waiting", visit: visit.path });
    const outcome = outcomeOf(place, visit, node, end);
    if (!outcome.ok) {
      const next = await retries(place, visit, node, outcome.error);
      if (next.again && end.raiseDoubts !== undefined) {
        end.raiseDoubts();
        return live.emit({ type: "visit-waiting", visit: visit.path });
      }
      if (next.again) continue;
      if (next.error !== undefined) return finish(live, visit, failed(node, next.error));
    }
    return finish(live, visit, outcome);
  }
}

/** What an execution that was cut off had asked for is taken back: its visit is over, and nobody can answer any more. */
async function finish(live: LiveRun, visit: OpenVisit, end: VisitEnd): Promise<void> {
  const open = visit.execution.waits.filter(isOpen);
  if (open.length > 0) await withdrawAll(live, open, "cancelled");
  live.emit({ type: "visit-finished", visit: visit.path, end });
}

/** V1. Whether the visit began; if its inputs could not be made, it has failed. */
function startVisit({ live, frame }: Place, visit: OpenVisit, node: GraphNode): boolean {
  try {
    live.emit({
      type: "visit-started",
      visit: visit.path,
      inputs: inputsOf(node, frame.state),
    });
    return true;
  } catch (error) {
    if (isFlowError(error, "state-not-sealable")) throw error;
    live.emit({ type: "visit-finished", visit: visit.path, end: failed(node, error) });
    return false;
  }
}

/** V2 */
function outcomeOf(
  place: Place,
  visit: OpenVisit,
  node: GraphNode,
  end: Extract<ExecutionEnd, { how: "failed" | "finished" }>,
): VisitEnd {
  if (end.how === "failed") return failed(node, end.error);
  try {
    return { ok: true, update: checkedUpdate(place, visit.path, end.value) };
  } catch (error) {
    return failed(node, error);
  }
}

type Next = { readonly again: true } | { readonly again: false; readonly error?: unknown };

/**
 * Whether a failed execution is tried again (FLOW-12); what it had finished is replayed, what had failed is not. Attempts
 * count over all pauses. `error`: what the retry's own functions threw.
 */
async function retries(
  { live, signal }: Place,
  visit: OpenVisit,
  node: GraphNode,
  error: ErrorInfo,
): Promise<Next> {
  const { retry } = node.spec.options;
  const attempt = visit.execution.retries + 1;
  if (retry === undefined || attempt >= retry.attempts) return { again: false };
  let waitMs: number;
  try {
    const wanted = retry.on === undefined ? error.retryable : retry.on(rebuildError(error));
    if (!wanted) return { again: false };
    const { backoffMs = 0 } = retry;
    waitMs = typeof backoffMs === "function" ? backoffMs(attempt) : backoffMs * 2 ** (attempt - 1);
  } catch (thrown) {
    return { again: false, error: thrown };
  }
  live.emit({ type: "retried", visit: visit.path, attempt, error });
  await live.flush();
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

/** `raiseDoubts`: it was cut off while an effect was under way that must not be begun a second time unasked (TOOL-13). */
type ExecutionEnd = ScopeEnd & { readonly raiseDoubts?: () => void };

/** One execution of a node's code. */
async function execute(
  place: Place,
  visit: OpenVisit,
  spec: FunctionSpec | CallSpec,
): Promise<ExecutionEnd> {
  const { live, signal } = place;
  const execution = new Execution(place, visit, spec.options);
  const limit = limitTime(live, visit.path, spec.options.timeoutMs, execution);
  const body = (): unknown => bodyOf(place, visit, spec, execution);
  const { scope } = execution;
  const end =
    signal === neverAborted
      ? await scope.run(body)
      : await live.executing(signal, scope, () => scope.run(body));
  limit?.over();
  if (execution.cleans) await execution.cleanUp(); // V3
  if (end.how === "stopped") {
    if (limit?.timedOut === undefined) return end;
    const raiseDoubts = execution.inDoubt ? () => execution.raiseDoubts() : undefined;
    return { how: "failed", error: limit.timedOut, ...(raiseDoubts && { raiseDoubts }) };
  }
  return execution.isAgain ? execution.leaveBehind(end) : end;
}

/** A call node is a function of one call. */
function bodyOf(
  { frame }: Place,
  visit: OpenVisit,
  spec: FunctionSpec | CallSpec,
  execution: Execution,
): MaybePromise<unknown> {
  const ctx = new VisitContext(execution, execution.scope);
  if (spec.kind === "function") return spec.run(frame.state, ctx);
  const { inputs } = visit;
  const args =
    inputs?.kind === "call" ? execution.openArguments(inputs.args, spec.tool) : undefined;
  return ctx.call(spec.tool, args).then((result: unknown) => {
    if (typeof spec.into === "function") return spec.into(result, frame.state);
    return spec.into === undefined ? undefined : { [spec.into]: result };
  });
}
