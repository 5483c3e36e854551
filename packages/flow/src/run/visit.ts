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
import type { LiveRun } from "./live.ts";
import type { ScopeEnd } from "./scope.ts";
import { withdrawAll } from "./spend.ts";
import type { OpenVisit } from "./state.ts";
import { limitTime } from "./time-limit.ts";
import { checkedUpdate, failed } from "./update.ts";
import { isOpen } from "./wait.ts";

/** Runs a visit until it finished, failed or waits. Throws only what ends the run itself. */
export async function runVisit(live: LiveRun, visit: OpenVisit): Promise<void> {
  const node = live.graph.nodes.get(visit.node)!;
  if (visit.inputs === undefined && isFresh(visit.execution)) {
    const started = startVisit(live, visit, node);
    if (!started) return;
  }
  if (node.spec.kind === "gate") return visitGate(live, visit, node, node.spec);
  for (;;) {
    const end = await execute(live, visit, node.spec);
    if (end.how === "stopped") throw end.error;
    if (end.how === "waiting") return live.emit({ type: "visit-waiting", visit: visit.path });
    const outcome = outcomeOf(live, visit, node, end);
    const failure = outcome.ok || end.inDoubt ? undefined : outcome.error;
    if (failure !== undefined) {
      const next = await retries(live, visit, node, failure);
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
function startVisit(live: LiveRun, visit: OpenVisit, node: GraphNode): boolean {
  try {
    live.emit({
      type: "visit-started",
      visit: visit.path,
      inputs: inputsOf(node, live.state.state),
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
  live: LiveRun,
  visit: OpenVisit,
  node: GraphNode,
  end: Extract<ExecutionEnd, { how: "failed" | "finished" }>,
): VisitEnd {
  if (end.how === "failed") return failed(node, end.error);
  try {
    return { ok: true, update: checkedUpdate(live, visit.path, end.value) };
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
  live: LiveRun,
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
  if (waitMs > 0) await pause(live, waitMs);
  return { again: true };
}

/** Waits, unless the run is aborted meanwhile. */
function pause(live: LiveRun, waitMs: number): Promise<void> {
  const { signal, parts } = live;
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

/** `inDoubt`: it was cut off while an effect was under way that must not be begun a second time. */
type ExecutionEnd = ScopeEnd & { readonly inDoubt?: boolean };

/** One execution of a node's code. */
async function execute(
  live: LiveRun,
  visit: OpenVisit,
  spec: FunctionSpec | CallSpec,
): Promise<ExecutionEnd> {
  const execution = new Execution(live, visit, spec.options.retry !== undefined);
  const limit = limitTime(live, visit.path, spec.options.timeoutMs, execution);
  const body = (): unknown => bodyOf(live, visit, spec, execution);
  const { scope } = execution;
  const end = live.abortable
    ? await live.executing(scope, () => scope.run(body))
    : await scope.run(body);
  limit?.over();
  if (execution.cleans) await execution.cleanUp(); // V3
  if (end.how === "stopped") {
    const { inDoubt } = execution;
    return limit?.timedOut === undefined ? end : { how: "failed", error: limit.timedOut, inDoubt };
  }
  if (execution.isAgain) await execution.leaveBehind(end);
  return end;
}

/** A call node is a function of one call. */
function bodyOf(
  live: LiveRun,
  visit: OpenVisit,
  spec: FunctionSpec | CallSpec,
  execution: Execution,
): MaybePromise<unknown> {
  const ctx = new VisitContext(execution, execution.scope);
  if (spec.kind === "function") return spec.run(live.state.state, ctx);
  const { inputs } = visit;
  const args =
    inputs?.kind === "call" ? execution.openArguments(inputs.args, spec.tool) : undefined;
  return ctx.call(spec.tool, args).then((result: unknown) => {
    if (typeof spec.into === "function") return spec.into(result, live.state.state);
    return spec.into === undefined ? undefined : { [spec.into]: result };
  });
}
