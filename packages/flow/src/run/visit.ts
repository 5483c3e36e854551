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
import type { OpenVisit } from "./state.ts";
import { limitTime } from "./time-limit.ts";
import { checkedUpdate, failed } from "./update.ts";

/** Runs a visit until it finished, failed or waits. Throws only what ends the run itself. */
export async function runVisit(live: LiveRun, visit: OpenVisit): Promise<void> {
  const node = live.graph.nodes.get(visit.node)!;
  if (visit.inputs === undefined && isFresh(visit.execution)) {
    const started = startVisit(live, visit, node);
    if (!started) return;
  }
  if (node.spec.kind === "gate") return visitGate(live, visit, node, node.spec);
  for (let attempt = 1; ; attempt++) {
    const end = await execute(live, visit, node.spec);
    if (end.how === "stopped") throw end.error;
    if (end.how === "waiting") return live.emit({ type: "visit-waiting", visit: visit.path });
    const outcome = outcomeOf(live, visit, node, end);
    if (outcome.ok || !(await retries(live, visit, node, attempt, outcome.error))) {
      return live.emit({ type: "visit-finished", visit: visit.path, end: outcome });
    }
  }
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
  end: Exclude<ScopeEnd, { how: "waiting" | "stopped" }>,
): VisitEnd {
  if (end.how === "failed") return failed(node, end.error);
  try {
    return { ok: true, update: checkedUpdate(live, visit.path, end.value) };
  } catch (error) {
    return failed(node, error);
  }
}

/** Whether a failed execution is tried again (FLOW-12); what it had finished is replayed, what had failed is not. */
async function retries(
  live: LiveRun,
  visit: OpenVisit,
  node: GraphNode,
  attempt: number,
  error: ErrorInfo,
): Promise<boolean> {
  const { retry } = node.spec.options;
  if (retry === undefined || attempt >= retry.attempts) return false;
  if (!(retry.on === undefined ? error.retryable : retry.on(rebuildError(error)))) return false;
  live.emit({ type: "retried", visit: visit.path, attempt, error });
  await live.flush();
  const { backoffMs = 0 } = retry;
  const waitMs =
    typeof backoffMs === "function" ? backoffMs(attempt) : backoffMs * 2 ** (attempt - 1);
  if (waitMs > 0) await new Promise<void>((resolve) => live.parts.clock.timer(waitMs, resolve));
  return true;
}

/** One execution of a node's code. */
async function execute(
  live: LiveRun,
  visit: OpenVisit,
  spec: FunctionSpec | CallSpec,
): Promise<ScopeEnd> {
  const execution = new Execution(live, visit);
  const limit = limitTime(live, visit.path, spec.options.timeoutMs, execution);
  const body = (): unknown => bodyOf(live, visit, spec, execution);
  const { scope } = execution;
  const end = live.abortable
    ? await live.executing(scope, () => scope.run(body))
    : await scope.run(body);
  limit?.over();
  if (execution.cleans) await execution.cleanUp(); // V3
  if (end.how === "stopped")
    return limit?.timedOut === undefined ? end : { how: "failed", error: limit.timedOut };
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
