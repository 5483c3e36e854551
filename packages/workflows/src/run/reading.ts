/** Reading runs: no lane, no slot, no lease; what is read is what stands (WF-32). */

import type { ResumePlan } from "@holdpoint/flow";

import type { Workflow } from "../definition/define.ts";
import { workflowFacts } from "../definition/facts.ts";
import { WorkflowError } from "../errors.ts";
import { pageDefault } from "../limits.ts";
import { checkedLimit, listRuns, type RunQuery } from "../registry/listing.ts";
import type { RunRecord } from "../registry/record.ts";
import { viewOf, type RunView } from "../registry/run-view.ts";
import { activityOf, revisionAfter, type Activity, type HistoryQuery } from "./activity.ts";
import type { Parts } from "./parts.ts";

/** A page of runs. */
export interface RunList {
  readonly items: readonly RunView[];
  /** Runs of this page whose records can't be trusted; they hold up none of the others. */
  readonly broken: readonly { readonly runId: string; readonly error: WorkflowError }[];
  /** Where the next page begins; absent on the last one. */
  readonly cursor?: string;
}

/** @throws WorkflowError `record-tampered`, `store-unavailable` */
export async function readRun({ access }: Parts, runId: string): Promise<RunView | undefined> {
  const opened = await access.load(runId);
  return opened && viewOf(opened);
}

/** @throws WorkflowError `filter-invalid`, `cursor-invalid`, `store-unavailable` */
export async function readRuns({ access }: Parts, query: RunQuery): Promise<RunList> {
  const { items, ...rest } = await listRuns(access, query);
  return { items: items.map(viewOf), ...rest };
}

/** @throws WorkflowError `run-not-found`, `unknown-definition`; FlowError `checkpoint-tampered`, `graph-version-mismatch` */
export async function readHistory(
  { access, definitions, log, runner }: Parts,
  runId: string,
  { after: from = 0, limit: asked = pageDefault }: HistoryQuery,
): Promise<readonly Activity[]> {
  const limit = checkedLimit(asked);
  const after = revisionAfter(runId, from);
  const { facts } = (await access.require(runId)).record;
  const definition = definitions.exactly(facts.definition, facts.version, runId);
  if ((await log.head(facts.scope, runId)) === 0) return [];
  const events = await runner({ log }).history(workflowFacts(definition).flow, runId);
  return events
    .slice(after, after + limit)
    .map((event, at) => activityOf(event, runId, after + at + 1));
}

/** @throws WorkflowError `run-not-found`, `unknown-definition`; as `FlowRunner.plan` */
export async function readPlan(
  { access, definitions, log, runner }: Parts,
  runId: string,
): Promise<ResumePlan> {
  const { facts } = (await access.require(runId)).record;
  const definition = definitions.exactly(facts.definition, facts.version, runId);
  return runner({ log }).plan(workflowFacts(definition).flow, runId);
}

/** @throws WorkflowError `run-not-completed`, `run-not-found`, `output-invalid` */
export async function readOutput(
  { access, definitions, log, runner }: Parts,
  definition: Workflow,
  runId: string,
): Promise<unknown> {
  const { record } = await access.require(runId);
  const { facts, standing } = record;
  const exact = definitions.exactly(facts.definition, facts.version, runId);
  if (standing.status !== "completed" || exact !== definitions.resolve(definition)) {
    throw new WorkflowError("run-not-completed", `run ${runId} is ${placeOf(record)}`, { runId });
  }
  const { flow, end, output } = workflowFacts(exact);
  const result = await runner({ log }).adopt(flow, runId);
  if (result.status !== "completed") {
    throw new WorkflowError("run-not-completed", `run ${runId} waits`, { runId });
  }
  const given = end(result.state);
  if (output === undefined) return given;
  const read = await output["~standard"].validate(given);
  if (read.issues === undefined) return read.value;
  const message = `what run ${runId} ended in is not what the output schema of '${exact.name}' takes`;
  throw new WorkflowError("output-invalid", message, { runId, definition: exact.name });
}

/** Where a run is, for messages. */
export function placeOf({ facts, standing }: RunRecord): string {
  return `${standing.status} under '${facts.definition}' of version ${facts.version}`;
}
