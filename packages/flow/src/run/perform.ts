/**
 * Performs a run: the planner says what comes next, and this does it, until the run pauses or ends.
 *
 * R1 A round settles whole: none of its visits is cut off because another failed or waits (FLOW-11).
 * R2 A pause is sealed before anybody hears of it; where that fails, everything the round asked for is withdrawn, and the
 *    run fails closed (FLOW-26, FLOW-27).
 * R3 What takes the run out of this process's hands (a lost revision, a store that can't be reached, a call in doubt, an
 *    abort of a durable run) leaves the log as it stands; everything else that goes wrong ends the run as failed.
 */
import { errorInfo, rebuildError } from "@holdpoint/tools";

import { encodeState, sealRun } from "../checkpoint/seal.ts";
import { FlowError, isFlowError, type FlowErrorCode } from "../errors.ts";
import { abortedRun, type LiveRun } from "./live.ts";
import { routeRound } from "./merge.ts";
import { openWaits } from "./pending.ts";
import { plan } from "./plan.ts";
import { checkPure } from "./prepare.ts";
import { withdrawAll } from "./spend.ts";
import type { OpenVisit, RunState, VisitState } from "./state.ts";
import { runVisit } from "./visit.ts";

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
      throw fault; // R3
    }
    ended = { status: "failing", error: fault, node: undefined };
  }
  if (ended.status !== "failing") return ended;
  await recordFailure(live, ended);
  throw ended.error;
}

async function drive(live: LiveRun): Promise<Performed | Failing> {
  for (;;) {
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
  const unsealable =
    isFlowError(failing.error, "state-not-sealable") ||
    isFlowError(failing.error, "payload-not-pure");
  const waits = openWaits(live.state).map(({ wait }) => wait);
  await withdrawAll(live, waits, unsealable ? "state-not-sealable" : "cancelled");
  live.emit({ type: "failed", error: errorInfo(failing.error), node: failing.node });
  await live.flush();
}

const endings: ReadonlySet<FlowErrorCode> = new Set([
  "no-approver",
  "payload-not-pure",
  "round-budget",
  "state-not-sealable",
  "visit-budget",
]);

/** Which faults are the run's own (R3). An aborted portable run has nothing left to go on from (FLOW-07). */
function endsRun(fault: unknown, live: LiveRun): boolean {
  return (
    isFlowError(fault) && (endings.has(fault.code) || (fault.code === "aborted" && !live.durable))
  );
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
  if (isFlowError(cause, "approval-denied")) return cause;
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
  const { roundsMax, visitsMax } = seed.settings;
  const where = { flow: seed.flow, runId: seed.runId };
  if (counters.rounds > roundsMax) {
    throw new FlowError("round-budget", `run ${seed.runId} used up its ${roundsMax} rounds`, where);
  }
  for (const { node, number, path } of visits) {
    const max = Math.min(
      visitsMax,
      live.graph.nodes.get(node)!.spec.options.maxVisits ?? visitsMax,
    );
    if (number <= max) continue;
    throw new FlowError(
      "visit-budget",
      `run ${seed.runId} used up the ${max} visits of '${node}'`,
      { ...where, node: path },
    );
  }
}
