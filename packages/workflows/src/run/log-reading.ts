import type { RunEvent } from "@holdpoint/flow";

import { workflowFacts, type Workflow } from "../definition/define.ts";
import { WorkflowError } from "../errors.ts";
import type { OpenRun } from "../registry/record-codec.ts";
import { follow, moved, pendingRun, type Failure, type RunRecord } from "../registry/record.ts";
import { failureBy } from "./faults.ts";
import type { Parts } from "./parts.ts";
import type { LogStatus } from "./reconcile.ts";

/** What a run's log says. `record`: the registry's, brought to where the log is. */
export type Logged =
  | { readonly log: LogStatus; readonly record: RunRecord }
  | { readonly failed: OpenRun };

/**
 * What the log says, folded into the record: only what came after the record's own revision, since that is the fold of what is
 * before it, under a seal. A definite fault of the log ends the run (WF-23).
 */
export async function readLog(
  parts: Parts,
  definition: Workflow,
  opened: OpenRun,
): Promise<Logged> {
  const { record } = opened;
  const { id: runId, scope } = record.facts;
  const head = await parts.log.head(scope, runId);
  if (head === 0) return { log: "none", record };
  // A waiting run whose log did not move since the registry saw it pause: nothing to read.
  const isSeen = head === record.revision && opened.outdated === undefined;
  if (record.standing.status === "interrupted" && isSeen) {
    return { log: "paused", record };
  }
  if (head < record.revision) {
    const seen = `the log of run ${runId} ends at ${head}, and ${record.revision} was seen`;
    const failure = { code: "checkpoint-rolled-back", message: seen };
    return { failed: await failRun(parts, opened, failure) };
  }
  // A row of an older form is made anew: it does not hold all that it would be now.
  const known =
    opened.outdated === undefined ? record : { ...pendingRun(record.facts), cancel: record.cancel };
  let events: readonly RunEvent[];
  try {
    const runner = parts.runner({ log: parts.log });
    const { flow } = workflowFacts(definition);
    events = await runner.history(flow, runId, { after: known.revision });
  } catch (error) {
    const failure = failureBy(error, record);
    if (failure === undefined) throw error;
    return { failed: await failRun(parts, opened, failure) };
  }
  const seen = events.reduce(follow, known);
  if (parts.log.home === parts.access.registry.home) {
    await assertNotPutBack(parts, opened, known, events);
  }
  return { log: logStatusOf(seen), record: seen };
}

/**
 * Where log and registry are one database, the row moves in the very commit of the event that moves the run: a row that knows
 * less than its log was put back (STORE-12), unless somebody moved the run between the two readings. The log is right, and
 * nothing is done before somebody has looked.
 * @throws WorkflowError `checkpoint-rolled-back`, `run-moved`
 */
async function assertNotPutBack(
  { access }: Parts,
  { record, version }: OpenRun,
  known: RunRecord,
  events: readonly RunEvent[],
): Promise<void> {
  const revision = movedOnAt(record, known, events);
  if (revision === undefined) return;
  const { id: runId } = record.facts;
  const now = await access.require(runId);
  if (now.version !== version) {
    throw new WorkflowError("run-moved", `run ${runId} moved while it was read`, { runId });
  }
  const message = `the registry's row of run ${runId} is of revision ${record.revision}, and its log moved on in ${revision}: an older row was put back`;
  throw new WorkflowError("checkpoint-rolled-back", message, { runId, revision });
}

/** The first revision that moves the run behind what its row knows. */
function movedOnAt(
  { revision }: RunRecord,
  known: RunRecord,
  events: readonly RunEvent[],
): number | undefined {
  let seen = known;
  for (const event of events) {
    const next = follow(seen, event);
    const moves = next.standing.status !== seen.standing.status;
    seen = next;
    if (moves && seen.revision > revision) return seen.revision;
  }
  return undefined;
}

function logStatusOf({ standing: { status } }: RunRecord): LogStatus {
  if (status === "interrupted") return "paused";
  return status === "pending" ? "none" : status;
}

/** Ends a run by hand of the registry. @throws WorkflowError `run-moved`, `store-unavailable` */
export function failRun(
  parts: Parts,
  { record, version }: OpenRun,
  failure: Failure,
): Promise<OpenRun> {
  const failed = moved(record, { status: "failed", failure }, parts.clock.now());
  const told = parts.deliveries?.write(failed, "ended");
  return parts.access.put(failed, version, told === undefined ? [] : [told]);
}
