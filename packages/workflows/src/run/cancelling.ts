/**
 * Ending a run by hand (WF-26).
 *
 * X1 A run that nobody works on ends at once, and what waits is withdrawn in the commit that says so.
 * X2 One at work is told to stop; the wish and its reason are on record before that, so whoever takes the run up after a crash
 *    ends it. So they are where approvals are kept apart: what is taken back there is taken back before the end is on record.
 * X3 A run that has ended stays as it is.
 * X4 Nothing that was asked for it outlives it. What its log knows nothing of is withdrawn before its end, the wish being on
 *    record by then: whoever takes the run up after a crash looks for it again. What this process is still filing is waited for
 *    before that, so its end is the last thing that is done. What arrives later, from another process, is looked for after
 *    the end, and where somebody cancels it again.
 */

import type { FlowRunner } from "@holdpoint/flow";

import type { Workflow } from "../definition/define.ts";
import { workflowFacts } from "../definition/facts.ts";
import { isWorkflowError } from "../errors.ts";
import { cancelTriesMax } from "../limits.ts";
import { isTerminal } from "../registry/moves.ts";
import type { OpenRun } from "../registry/record-codec.ts";
import { boundedReason, failureIn, type CancelRequest } from "../registry/record.ts";
import { viewOf, type RunView } from "../registry/run-view.ts";
import { readLog } from "./log-reading.ts";
import { cancelled, RunOwner } from "./owner.ts";
import { orphansOf, withdrawOrphans } from "./orphans.ts";
import type { CancelHow, Parts } from "./parts.ts";

/**
 * Ends a run, and resolves when it has ended.
 * @throws WorkflowError `run-not-found`, `unknown-definition`, `run-moved`, `store-unavailable`
 */
export async function cancelRun(parts: Parts, runId: string, how: CancelHow): Promise<RunView> {
  const wish = wishOf(parts, how);
  const isApart = parts.approvals.records.store.home !== parts.log.home;
  if (isApart || parts.lanes.busy(runId)) await requestCancel(parts, runId, wish); // X2
  parts.lanes.interrupt(runId, cancelled(runId));
  return parts.lanes.enter(runId, async () => {
    const opened = await parts.access.require(runId);
    if (isTerminal(opened.record.standing.status)) return endedBefore(parts, opened);
    const ended = await endCancelled(parts, opened, opened.record.cancel ?? wish);
    parts.faults.clear(runId);
    return viewOf(ended);
  });
}

// X3, X4
async function endedBefore(parts: Parts, opened: OpenRun): Promise<RunView> {
  const { facts, standing } = opened.record;
  if (standing.status === "cancelled")
    await withdrawOrphans(parts, facts.id, await orphansOf(parts, facts.id));
  return viewOf(opened);
}

/** How somebody cancels, as it is kept. */
export function wishOf({ clock }: Parts, { reason, by }: CancelHow): CancelRequest {
  return { reason: boundedReason(reason), by, at: clock.now() };
}

/**
 * Puts a wish on record for whoever works on the run; the first one stands.
 * @throws WorkflowError `run-not-found`, `run-moved`, `store-unavailable`
 */
export async function requestCancel(
  { access }: Parts,
  runId: string,
  cancel: CancelRequest,
): Promise<OpenRun> {
  for (let tries = 1; ; tries += 1) {
    const { record, version } = await access.require(runId);
    if (isTerminal(record.standing.status) || record.cancel !== undefined) {
      return { record, version };
    }
    try {
      return await access.put({ ...record, cancel }, version);
    } catch (error) {
      if (!isWorkflowError(error, "run-moved") || tries >= cancelTriesMax) throw error;
    }
  }
}

/** Ends a run that nobody works on. @throws WorkflowError `unknown-definition`, `run-moved`, `store-unavailable` */
export async function endCancelled(
  parts: Parts,
  opened: OpenRun,
  wish: CancelRequest,
): Promise<OpenRun> {
  const { facts, standing } = opened.record;
  const definition = parts.definitions.exactly(facts.definition, facts.version, facts.id);
  const logged = await readLog(parts, definition, opened);
  if ("failed" in logged) return logged.failed;
  const failure = failureIn(logged.record.standing);
  if (failure !== undefined) {
    const owner = new RunOwner(parts, { ...opened, record: { ...logged.record, standing } });
    await owner.move({ status: "failed", failure }); // X3: it had failed, and is not retried
    return owner.opened;
  }
  await parts.filings.settled(facts.id); // X4
  const orphans = await orphansOf(parts, facts.id, logged.record.waits);
  const wished = orphans.length > 0 ? await requestCancel(parts, facts.id, wish) : opened; // X4
  await withdrawOrphans(parts, facts.id, orphans);
  const { cancel } = wished.record;
  const owner = new RunOwner(parts, { ...wished, record: { ...logged.record, cancel, standing } });
  if (logged.log === "none") {
    await owner.move({ status: "cancelled", reason: wish.reason, by: wish.by });
  } else {
    await cancelLogged(owner.runner, definition, facts.id, wish); // X1
    await owner.caughtUp();
  }
  await withdrawOrphans(parts, facts.id, await orphansOf(parts, facts.id)); // X4
  return owner.opened;
}

function cancelLogged(
  runner: FlowRunner,
  definition: Workflow,
  runId: string,
  { reason, by }: CancelRequest,
): Promise<void> {
  const { flow } = workflowFacts(definition);
  return runner.cancel(flow, runId, { reason, ...(by !== undefined && { by }) });
}
