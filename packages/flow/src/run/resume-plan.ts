/**
 * What a resume would do with each node, were it called now (FLOW-64). Reads; runs nothing, asks nobody, spends nothing.
 */
import { usedBefore } from "./spent.ts";
import { untilOf } from "./deadlines.ts";
import type { LiveRun } from "./live.ts";
import { openWaits, waitsIn } from "./pending.ts";
import type { RunState, VisitState } from "./state.ts";
import { executionsIn } from "./tree.ts";
import { timeOf } from "./sleeping.ts";
import { pendingId, type Wait } from "./wait.ts";

/** Why a node is kept, runs again, or can't go on. */
export type PlanReason =
  /** Keep: it finished, before this round or in it; a finished visit's update is merged when its round is whole. */
  | "finished"
  /** Keep: it failed, and the run ends with that when its round is whole. */
  | "failed"
  /** Re-run: what it waits for is decided. */
  | "answered"
  /** Re-run: it was due, or cut off, and nobody has to be asked first. */
  | "due"
  /** Blocked: nobody has decided what it waits for. */
  | "waits"
  /** Blocked: what it waits for was spent, or withdrawn, by somebody else. */
  | "spent"
  /** Blocked: a join that is due and waits for other branches. */
  | "join-waits"
  /** Blocked: nothing has led to it so far. */
  | "not-reached";

export interface NodePlan {
  readonly node: string;
  readonly will: "keep" | "re-run" | "blocked";
  readonly why: PlanReason;
  /** Its visit in this round, where it has one. */
  readonly visit?: string;
  /** Ids of what its visit waits for. */
  readonly waitsFor: readonly string[];
  /** Finished calls and steps of its visit that would be replayed, not run. */
  readonly replays: number;
}

export interface ResumePlan {
  readonly runId: string;
  readonly flow: string;
  readonly revision: number;
  /** Every node of the graph, in declaration order. */
  readonly nodes: readonly NodePlan[];
}

type Verdict = Pick<NodePlan, "will" | "why">;

/** Whether something that waits could be gone on from. */
type Standing = "decided" | "pending" | "spent";

export async function planResume(live: LiveRun): Promise<ResumePlan> {
  const { state, graph } = live;
  const standings = new Map<Wait, Standing>();
  for (const { wait } of openWaits(state)) standings.set(wait, await standingOf(live, wait));
  const visits = new Map(state.visits.map((visit) => [visit.node, visit]));
  return {
    runId: state.seed.runId,
    flow: state.seed.flow,
    revision: state.revision,
    nodes: [...graph.nodes.keys()].map((node) => {
      const visit = visits.get(node);
      return visit === undefined ? outside(state, node) : inRound(state, visit, standings);
    }),
  };
}

async function standingOf(live: LiveRun, wait: Wait): Promise<Standing> {
  if (live.mac !== undefined && usedBefore(live.mac) !== undefined) return "spent";
  const records = live.parts.approvals?.records;
  const until = untilOf(wait);
  if (until !== undefined) return until <= (await timeOf(live)) ? "decided" : "pending";
  if (wait.kind !== "approval") return "pending"; // no record could hold its answer
  const { approvalId, argumentsDigest, foreign } = wait;
  if (records === undefined || approvalId === undefined || foreign === true) return "pending";
  const { scope } = live.state.seed;
  const attemptId = live.parts.ids.id();
  // What a resume would plan; nothing of it is committed.
  const plan = await records.settle({ scope, id: approvalId, attemptId, argumentsDigest });
  if (plan.status === "ready") return "decided";
  return plan.status === "stands" || plan.status === "missing" ? "spent" : "pending";
}

/** A node that has no visit in this round. */
function outside(state: RunState, node: string): NodePlan {
  const verdict: Verdict = state.held.includes(node)
    ? { will: "blocked", why: "join-waits" }
    : Object.hasOwn(state.visited, node)
      ? { will: "keep", why: "finished" }
      : { will: "blocked", why: "not-reached" };
  return { node, ...verdict, waitsFor: [], replays: 0 };
}

function inRound(
  run: RunState,
  visit: VisitState,
  standings: ReadonlyMap<Wait, Standing>,
): NodePlan {
  const { node, path } = visit;
  if (visit.status === "finished") {
    const why = visit.end.ok || visit.end.via !== undefined ? "finished" : "failed";
    return { node, will: "keep", why, visit: path, waitsFor: [], replays: 0 };
  }
  const open = waitsIn(run, visit).flatMap(({ wait }) => (standings.has(wait) ? [wait] : []));
  const all = open.map((wait) => standings.get(wait)!);
  return {
    node,
    ...openVerdict(visit.status, all),
    visit: path,
    waitsFor: open.map(pendingId),
    replays: executionsIn(run, visit).reduce(
      (sum, { execution }) => sum + execution.journal.length,
      0,
    ),
  };
}

function openVerdict(status: "ready" | "waiting", all: readonly Standing[]): Verdict {
  // One that was spent elsewhere refuses the whole resume, whatever else is decided.
  if (all.includes("spent")) return { will: "blocked", why: "spent" };
  if (all.includes("decided")) return { will: "re-run", why: "answered" };
  return status === "ready" ? { will: "re-run", why: "due" } : { will: "blocked", why: "waits" };
}
