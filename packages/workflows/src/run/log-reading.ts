import { FlowError, isFlowError, type RunEvent, type RunReading } from "@holdpoint/flow";

import type { Workflow } from "../definition/define.ts";
import { workflowFacts } from "../definition/facts.ts";
import { WorkflowError } from "../errors.ts";
import type { OpenRun } from "../registry/record-codec.ts";
import { follow, moved, pendingRun, type Failure, type RunRecord } from "../registry/record.ts";
import { failureBy } from "./faults.ts";
import type { Parts } from "./parts.ts";
import type { LogStatus } from "./reconcile.ts";

/** What a run's log says. `record`: the registry's, brought to where the log is. `reading`: for going on from it. */
export type Logged =
  | { readonly log: LogStatus; readonly record: RunRecord; readonly reading?: RunReading }
  | { readonly failed: OpenRun };

/** How a log is looked at. */
export interface LookHow {
  /** Whether a run that waits is known to go on: then its log is read at once, for that. */
  readonly goesOn?: boolean;
}

/**
 * What the log says, folded into the record: only what came after the record's own revision, since that is the fold of what is
 * before it, under a seal. A definite fault of the log ends the run (WF-23).
 */
export async function readLog(
  parts: Parts,
  definition: Workflow,
  opened: OpenRun,
  how?: LookHow,
): Promise<Logged> {
  try {
    return await knownLog(parts, definition, opened, how);
  } catch (error) {
    const failure = failureBy(error, opened.record);
    if (failure === undefined) throw error;
    return { failed: await failRun(parts, opened, failure) };
  }
}

/**
 * What the log says, folded into the record; changes nothing.
 * @throws FlowError; WorkflowError `checkpoint-rolled-back`, `run-moved`, `store-unavailable`
 */
export async function knownLog(
  parts: Parts,
  definition: Workflow,
  opened: OpenRun,
  { goesOn = false }: LookHow = {},
): Promise<Extract<Logged, { readonly log: LogStatus }>> {
  const { record } = opened;
  const { flow, retry } = workflowFacts(definition);
  const { id: runId, scope } = record.facts;
  const { standing } = record;
  // What goes on is read in any case, and says itself where it ends.
  if (standing.status !== "running" && !goesOn) {
    const head = await parts.log.head(scope, runId);
    if (head === 0) return { log: "none", record };
    // A waiting run whose log did not move since the registry saw it pause: nothing to read.
    const isSeen = head === record.revision && opened.outdated === undefined;
    if (standing.status === "interrupted" && isSeen) return { log: "paused", record };
    assertNotBehind(record, head);
  }
  // A row of an older form is made anew: it does not hold all that it would be now. What a policy retries is asked of it again.
  const isDue = standing.status === "running" && standing.retry !== undefined;
  const isAnew = isDue || opened.outdated !== undefined;
  const known = isAnew ? { ...pendingRun(record.facts), cancel: record.cancel } : record;
  const runner = parts.runner({ log: parts.log });
  const reading = await runner
    .read(flow, runId, { after: known.revision })
    .catch((error: unknown) => noneWhereGone(parts, record, error));
  if (reading === undefined) return { log: "none", record };
  assertNotBehind(record, reading.revision);
  const { events } = reading;
  const step = (seen: RunRecord, event: RunEvent): RunRecord => follow(seen, event, retry);
  const seen = events.reduce(step, known);
  if (parts.log.home === parts.access.registry.home) {
    await assertNotPutBack(parts, opened, movesOf(known, events, step));
  }
  return { log: logStatusOf(seen), record: seen, reading };
}

/** A log that ends before what was seen of it. @throws FlowError `checkpoint-rolled-back` */
function assertNotBehind({ facts: { id: runId }, revision }: RunRecord, head: number): void {
  if (head >= revision) return;
  const message = `the log of run ${runId} ends at ${head}, and ${revision} was seen`;
  throw new FlowError("checkpoint-rolled-back", message, { runId });
}

/** `undefined`: there is no entry of this run any more; whatever else a reading found is thrown. */
async function noneWhereGone(
  { log }: Parts,
  { facts: { scope, id } }: RunRecord,
  error: unknown,
): Promise<undefined> {
  const mayBeGone =
    isFlowError(error, "run-not-found") || isFlowError(error, "checkpoint-rolled-back");
  if (!mayBeGone || (await log.head(scope, id)) > 0) throw error;
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
  moves: readonly number[],
): Promise<void> {
  const revision = moves.find((move) => move > record.revision);
  if (revision === undefined) return;
  const { id: runId } = record.facts;
  const now = await access.require(runId);
  if (now.version !== version) {
    throw new WorkflowError("run-moved", `run ${runId} moved while it was read`, { runId });
  }
  const message = `the registry's row of run ${runId} is of revision ${record.revision}, and its log moved on in ${revision}: an older row was put back`;
  throw new WorkflowError("checkpoint-rolled-back", message, { runId, revision });
}

/** The revisions that move a run. */
function movesOf(
  begun: RunRecord,
  events: readonly RunEvent[],
  step: (seen: RunRecord, event: RunEvent) => RunRecord,
): readonly number[] {
  let seen = begun;
  return events.flatMap((event) => {
    const { status } = seen.standing;
    seen = step(seen, event);
    return seen.standing.status === status ? [] : [seen.revision];
  });
}

function logStatusOf({ standing }: RunRecord): LogStatus {
  const { status } = standing;
  if (status === "running" && standing.retry !== undefined) return "to-retry";
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
