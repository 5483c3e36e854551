/**
 * Drives one frame, the run's own or a nested one's: the planner says what comes next, and this does it, until the frame
 * waits or ends.
 *
 * D1 A round settles whole: none of its visits is cut off because another failed or waits (FLOW-11).
 * D2 What fails within a frame is the frame's end, and a value; what is thrown here is a fault of the run (FLOW-05: so are
 *    used-up budgets, in a nested run too).
 */
import { rebuildError } from "@holdpoint/tools";

import { FlowError, isFlowError } from "../errors.ts";
import { fairTurn } from "./fairness.ts";
import { abortedRun, neverAborted } from "./live.ts";
import { routeRound } from "./merge.ts";
import type { Place } from "./place.ts";
import { plan, type FailedNode } from "./plan.ts";
import type { OpenVisit } from "./state.ts";
import { runTogether } from "./together.ts";
import { runVisit } from "./visit.ts";

/** How a frame stands when nothing more can be done in it. */
export type Driven =
  | { readonly status: "completed" }
  /** People are waited for. */
  | { readonly status: "paused" }
  | Failing;

export interface Failing {
  readonly status: "failing";
  readonly error: unknown;
  readonly node: string | undefined;
}

/** @throws FlowError what ends the run itself, or takes it out of this process's hands */
export async function drive(place: Place): Promise<Driven> {
  const { live, frame, signal } = place;
  for (;;) {
    const turn = live.durable ? fairTurn(live.parts.clock) : undefined;
    if (turn !== undefined) await turn;
    if (signal !== neverAborted && signal.aborted) throw abortedRun(live);
    const step = plan(frame);
    switch (step.do) {
      case "visit":
        checkBudgets(place);
        await runRound(place, step.visits as readonly OpenVisit[]);
        break;
      case "route": {
        const failing = route(place);
        if (failing !== undefined) return failing;
        // The next round's start goes along with its first commit; an end is durable before it is told.
        const flushed = frame.visits.length > 0 ? live.flush() : undefined;
        if (flushed !== undefined) await flushed;
        break;
      }
      case "pause":
        return { status: "paused" };
      case "complete":
        return { status: "completed" };
      case "fail":
        return {
          status: "failing",
          error: failureOf(place, step.failed),
          node: step.failed[0]!.node,
        };
      case "dead-end":
        return { status: "failing", error: deadEnd(place), node: undefined };
    }
  }
}

/** D1: all of a round's ready visits, side by side up to the run's bound. */
function runRound(place: Place, visits: readonly OpenVisit[]): Promise<void> {
  if (visits.length === 1) return runVisit(place, visits[0]!);
  const { concurrency } = place.live.state.seed.settings;
  return runTogether(place, concurrency, visits, (visit) => runVisit(place, visit));
}

/** Reducers and routes are the user's: what they throw ends the frame (D2). */
function route({ live, graph, frame }: Place): Failing | undefined {
  try {
    const { routed, state } = routeRound(graph, frame, live.durable);
    live.emit(routed, state);
    return undefined;
  } catch (error) {
    return { status: "failing", error, node: undefined };
  }
}

/** The first failure in declaration order, with all of them in `data.errors` (FLOW-12). */
function failureOf({ live, graph }: Place, errors: readonly FailedNode[]): unknown {
  const { runId } = live.state.seed;
  const { node, error } = errors[0]!;
  const cause = rebuildError(error);
  if (isFlowError(cause, "approval-denied"))
    return Object.assign(cause, { data: { ...cause.data, errors } });
  return new FlowError(
    "node-failed",
    `${node} of '${graph.name}' failed: ${error.message}`,
    { flow: graph.name, runId, node, errors },
    cause,
  );
}

function deadEnd({ live, graph, frame }: Place): FlowError {
  const { runId } = live.state.seed;
  const where = frame.path === "" ? "" : ` (${frame.path})`;
  return new FlowError(
    "dead-end",
    `run ${runId} of '${graph.name}'${where} has nowhere to go on to and reached no end`,
    { flow: graph.name, runId },
  );
}

/** Stops a runaway before its next round (FLOW-05). Rounds count over the whole run, visits within their frame. */
function checkBudgets({ live, frame, nodeVisits }: Place): void {
  const { counters, seed } = live.state;
  const { roundsMax, visitsMax } = seed.settings;
  const where = { flow: seed.flow, runId: seed.runId };
  if (counters.rounds > roundsMax) {
    throw new FlowError("round-budget", `run ${seed.runId} used up its ${roundsMax} rounds`, where);
  }
  for (const { node, number, path } of frame.visits) {
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
