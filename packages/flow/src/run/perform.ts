/**
 * Performs a run: the planner says what comes next, and this does it, until the run pauses or ends.
 *
 * R1 A round settles whole: none of its visits is cut off because another failed or waits (FLOW-11).
 * R2 A pause is sealed before anybody hears of it; where that fails, everything the round asked for is withdrawn, and the
 *    run fails closed (FLOW-26, FLOW-27).
 * R3 What takes a durable run out of this process's hands (a lost revision, a store that can't be reached, a call in doubt,
 *    an abort) leaves the log as it stands; everything else that goes wrong ends the run as failed. A portable run has no
 *    other place to go on from: whatever stops it ends it, and what it asked for is withdrawn.
 * R4 What is thrown says of which flow and run it is (FLOW-07).
 */
import { isApprovalError } from "@holdpoint/approvals";
import { errorInfo, rebuildError } from "@holdpoint/tools";

import { encodeState, sealRun } from "../checkpoint/seal.ts";
import { FlowError, isFlowError, type FlowErrorCode } from "../errors.ts";
import { fairTurn } from "./fairness.ts";
import { abortedRun, type LiveRun } from "./live.ts";
import { routeRound } from "./merge.ts";
import { openWaits, waitsOf } from "./pending.ts";
import { plan } from "./plan.ts";
import { checkPure } from "./prepare.ts";
import { conclude, withdrawAll, withdrawWhatCanBe } from "./spend.ts";
import type { OpenVisit, RunState, VisitState } from "./state.ts";
import { runVisit } from "./visit.ts";
import { isApproval } from "./wait.ts";

/** How a process's part in a run ended, where it ended well. */
export type Performed =
  | { readonly status: "completed" }
  | { readonly status: "paused"; readonly text: string };

interface Failing {
  readonly status: "failing";
  readonly error: unknown;
  readonly node: string | undefined;
}

/** @throws FlowError what ended the run, or took it out of this process's hands */
export async function perform(live: LiveRun): Promise<Performed> {
  let ended: Performed | Failing;
  try {
    ended = await drive(live);
  } catch (fault) {
    if (!endsRun(fault, live)) {
      if (isFlowError(fault, "aborted")) await live.flush(); // what had finished is on record
      throw located(live, fault); // R3
    }
    ended = { status: "failing", error: fault, node: undefined };
  }
  if (ended.status !== "failing") return ended;
  const error = located(live, ended.error, ended.node);
  await recordFailure(live, { ...ended, error });
  throw error;
}

async function drive(live: LiveRun): Promise<Performed | Failing> {
  for (;;) {
    if (live.durable) await fairTurn(live.parts.clock);
    if (live.signal.aborted) throw abortedRun(live);
    const step = plan(live.state);
    switch (step.do) {
      case "visit":
        checkBudgets(live);
        await runRound(live, step.visits as readonly OpenVisit[]);
        break;
      case "route": {
        const failing = route(live);
        if (failing !== undefined) return failing;
        // The next round's start goes along with its first commit; an end is durable before it is told.
        if (live.state.visits.length > 0) await live.flush();
        break;
      }
      case "pause":
        return pause(live);
      case "complete":
        live.emit({ type: "completed" });
        await live.flush();
        return { status: "completed" };
      case "fail":
        return {
          status: "failing",
          error: failureOf(live, step.visits),
          node: step.visits[0]!.path,
        };
      case "dead-end":
        return { status: "failing", error: deadEnd(live), node: undefined };
    }
  }
}

/** R1: all of a round's ready visits, side by side up to the run's bound. */
function runRound(live: LiveRun, visits: readonly OpenVisit[]): Promise<void> {
  return visits.length === 1 ? runVisit(live, visits[0]!) : runTogether(live, visits);
}

async function runTogether(live: LiveRun, visits: readonly OpenVisit[]): Promise<void> {
  const queue = [...visits];
  const faults: unknown[] = [];
  const worker = async (): Promise<void> => {
    for (let visit = queue.shift(); visit !== undefined; visit = queue.shift()) {
      if (faults.length > 0 || live.signal.aborted) return;
      try {
        await runVisit(live, visit);
        await live.flush();
      } catch (fault) {
        faults.push(fault);
      }
    }
  };
  const bound = Math.min(live.state.seed.settings.concurrency, visits.length);
  await Promise.all(Array.from({ length: bound }, worker));
  if (faults.length > 0) throw faults[0];
}

/** Reducers and routes are the user's: what they throw ends the run. */
function route(live: LiveRun): Failing | undefined {
  try {
    const { routed, state } = routeRound(live.graph, live.state);
    live.emit({ type: "routed", ...routed }, state);
    return undefined;
  } catch (error) {
    return { status: "failing", error, node: undefined };
  }
}

/** R2: encoded as it will stand before it is said that it stands. */
async function pause(live: LiveRun): Promise<Performed> {
  const { state, graph, parts } = live;
  const again = state.phase.is === "paused";
  if (!again) checkPure(live);
  const paused: RunState = {
    ...state,
    phase: { is: "paused" },
    revision: state.revision + (again ? 0 : 1),
  };
  const body = encodeState(paused, graph, parts);
  if (!again) live.emit({ type: "paused" });
  await live.flush();
  return { status: "paused", text: sealRun(body, paused, parts) };
}

/** What the round asked for is withdrawn in the commit that ends the run. */
async function recordFailure(live: LiveRun, failing: Failing): Promise<void> {
  const { error } = failing;
  const unsealable =
    isFlowError(error, "state-not-sealable") || isFlowError(error, "payload-not-pure");
  if (isFlowError(error, "state-not-sealable")) tellUnjournaled(live, error);
  const waits = openWaits(live.state).map(({ wait }) => wait);
  const reason = unsealable ? "state-not-sealable" : "cancelled";
  if (live.durable) await withdrawAll(live, waits, reason);
  else await withdrawWhatCanBe(live, waits, reason);
  await concludeUnused(live);
  live.emit({ type: "failed", error: errorInfo(failing.error), node: failing.node });
  await live.flush();
}

/** FLOW-27: the call ran, and its result can be put on no record. A durable run has said so when it happened. */
function tellUnjournaled(live: LiveRun, error: FlowError): void {
  const { node, call } = error.data;
  if (live.durable || node === undefined || typeof call !== "string") return;
  live.notice({ type: "call-unjournaled", visit: node, name: call, ok: true });
}

/** Approvals that this resume spent on visits whose code never ran: they allowed nothing (APR-21). */
async function concludeUnused(live: LiveRun): Promise<void> {
  for (const { path, wait } of waitsOf(live.state).filter(isApproval)) {
    const { answer, approvalId, foreign } = wait;
    if (answer?.decision.approved !== true || approvalId === undefined) continue;
    if (foreign === true || live.rerun.has(path) || wait.facts.kind === "gate") continue;
    const { decision, attemptId } = answer;
    try {
      await conclude(live, { id: approvalId, decision, attemptId }, "unused");
    } catch (fault) {
      if (live.durable) throw fault;
      const { runId } = live.state.seed;
      live.parts.logger.error("an unused approval could not be put on record as such", {
        approvalId,
        runId,
      });
    }
  }
}

const endings: ReadonlySet<FlowErrorCode> = new Set([
  "no-approver",
  "payload-not-pure",
  "round-budget",
  "state-not-sealable",
  "visit-budget",
]);

/** Which faults are the run's own (R3). */
function endsRun(fault: unknown, live: LiveRun): boolean {
  return !live.durable || (isFlowError(fault) && endings.has(fault.code));
}

/** R4. A lost race for an approval stays what it is: callers know it by its own class. */
function located(live: LiveRun, error: unknown, node?: string): unknown {
  const { flow, runId } = live.state.seed;
  const where = { flow, runId, ...(node !== undefined && { node }) };
  if (isFlowError(error)) return Object.assign(error, { data: { ...where, ...error.data } });
  if (isApprovalError(error, "approval-already-decided")) return error;
  const { message } = errorInfo(error);
  if (isApprovalError(error, "store-unavailable"))
    return new FlowError(
      "store-unavailable",
      `run ${runId} lost a store: ${message}`,
      where,
      error,
    );
  return new FlowError("node-failed", `run ${runId} of '${flow}' failed: ${message}`, where, error);
}

/** The first failure in declaration order, with all of them in `data.errors` (FLOW-12). */
function failureOf(live: LiveRun, failed: readonly VisitState[]): unknown {
  const { flow, runId } = live.state.seed;
  const errors = failed.flatMap((visit) =>
    visit.status === "finished" && !visit.end.ok
      ? [{ node: visit.path, error: visit.end.error }]
      : [],
  );
  const { node, error } = errors[0]!;
  const cause = rebuildError(error);
  if (isFlowError(cause, "approval-denied"))
    return Object.assign(cause, { data: { ...cause.data, errors } });
  return new FlowError(
    "node-failed",
    `${node} of '${flow}' failed: ${error.message}`,
    { flow, runId, node, errors },
    cause,
  );
}

function deadEnd(live: LiveRun): FlowError {
  const { flow, runId } = live.state.seed;
  return new FlowError(
    "dead-end",
    `run ${runId} of '${flow}' has nowhere to go on to and reached no end`,
    { flow, runId },
  );
}

/** Stops a runaway before its next round (FLOW-05). */
function checkBudgets(live: LiveRun): void {
  const { counters, seed, visits } = live.state;
  const { roundsMax, visitsMax, nodeVisits } = seed.settings;
  const where = { flow: seed.flow, runId: seed.runId };
  if (counters.rounds > roundsMax) {
    throw new FlowError("round-budget", `run ${seed.runId} used up its ${roundsMax} rounds`, where);
  }
  for (const { node, number, path } of visits) {
    const own = Object.hasOwn(nodeVisits, node) ? nodeVisits[node]! : visitsMax;
    const max = Math.min(visitsMax, own);
    if (number <= max) continue;
    throw new FlowError(
      "visit-budget",
      `run ${seed.runId} used up the ${max} visits of '${node}'`,
      { ...where, node: path },
    );
  }
}
