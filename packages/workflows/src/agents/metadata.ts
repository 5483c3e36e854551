import * as z from "zod";

import { toolDescriptionCharactersMax, toolWaitsMax } from "../limits.ts";
import type { RunView } from "../registry/run-view.ts";
import type { Activity } from "../run/activity.ts";

/** A run as a model may see it: ids, names, times and bounded texts. No input, state, arguments, session or people. */
export const RunMetadata = z.strictObject({
  run_id: z.string(),
  definition_name: z.string(),
  definition_version: z.string(),
  run_status: z.enum(["pending", "running", "interrupted", "completed", "failed", "cancelled"]),
  status_summary: z.string(),
  checkpoint_revision: z.int(),
  /** The last event of its history that a page may go on after. */
  activity_cursor: z.string().optional(),
  parent_run_id: z.string().optional(),
  /** What it waits for: the first twenty. */
  waits_for: z.array(z.strictObject({ kind: z.string(), tool: z.string() })),
  created: z.string(),
  updated: z.string(),
});

export function metadataOf(view: RunView): z.output<typeof RunMetadata> {
  return {
    run_id: view.runId,
    definition_name: view.definition,
    definition_version: view.version,
    run_status: view.status,
    status_summary: summaryOf(view).slice(0, toolDescriptionCharactersMax),
    checkpoint_revision: view.revision,
    ...(view.revision > 0 && { activity_cursor: `${view.runId}/${view.revision}` }),
    ...(view.parent !== undefined && { parent_run_id: view.parent }),
    waits_for: view.waitsFor.slice(0, toolWaitsMax).map(({ kind, tool }) => ({ kind, tool })),
    created: new Date(view.createdAt).toISOString(),
    updated: new Date(view.updatedAt).toISOString(),
  };
}

/** What its definition says of a completed run, the code of a failed one; a failure's text may quote what it failed on. */
function summaryOf({ status, summary, failure, waitsFor, cancelRequested }: RunView): string {
  if (cancelRequested) return "cancelled, and about to stop";
  if (summary !== undefined) return summary;
  if (failure !== undefined) return `failed: ${failure.code}`;
  return waitsFor.length > 0 ? `waits for ${waitsFor.length} answers of people` : status;
}

export const HistoryEntry = z.strictObject({
  event_id: z.string(),
  revision: z.int(),
  at: z.string(),
  type: z.string(),
  text: z.string(),
});

export function entryOf({ id, revision, at, type, text }: Activity): z.output<typeof HistoryEntry> {
  return { event_id: id, revision, at: new Date(at).toISOString(), type, text };
}
