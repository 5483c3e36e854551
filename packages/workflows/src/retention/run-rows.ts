import type { ApprovalStore, Row } from "@holdpoint/approvals";
import type { LogRow } from "@holdpoint/flow";

import { reached } from "../registry/commit.ts";
import { startKeyOf } from "../registry/store.ts";
import type { OpenRun } from "../registry/record-codec.ts";
import type { WorkflowStore } from "../run/parts.ts";

/** An approval's row with what belongs to it. */
export interface ApprovalRows {
  readonly record: Row;
  /** Of the call that it was asked for by, where it is this record's. */
  readonly key: Row | undefined;
  readonly trail: readonly Row[];
}

/** Everything that is kept of one run. A snapshot says nothing that the log does not say, and is only counted. */
export interface RunRows {
  readonly run: Row;
  readonly startKey: Row | undefined;
  readonly log: readonly LogRow[];
  readonly hasSnapshot: boolean;
  readonly approvals: readonly ApprovalRows[];
}

const pageRows = 500;
/** As many entries as a trail has, in every store. */
const trailMax = 10_000;

/** Reads all rows of a run. @throws WorkflowError `store-unavailable` */
export async function rowsOfRun(
  { approvals, log, runs }: WorkflowStore,
  run: Row,
  { record }: OpenRun,
): Promise<RunRows> {
  const { scope, id, definition, startKey } = record.facts;
  const key = startKey === undefined ? undefined : await runs.find(scope, definition, startKey);
  return {
    run,
    startKey: key?.key === startKeyOf(definition, startKey ?? "") ? key : undefined,
    log: await entriesOf(log, scope, id),
    hasSnapshot: (await reached(log.snapshot(scope, id))) !== undefined,
    approvals: await approvalsOf(approvals, scope, id),
  };
}

async function entriesOf(
  log: WorkflowStore["log"],
  scope: string,
  runId: string,
): Promise<readonly LogRow[]> {
  const rows: LogRow[] = [];
  for (;;) {
    const page = await reached(log.read(scope, runId, rows.length, pageRows));
    rows.push(...page);
    if (page.length < pageRows) return rows;
  }
}

async function approvalsOf(
  store: ApprovalStore,
  scope: string,
  runId: string,
): Promise<readonly ApprovalRows[]> {
  const found: ApprovalRows[] = [];
  let after: { readonly value: number; readonly id: string } | undefined;
  for (;;) {
    const page = { order: "oldest", limit: pageRows, ...(after && { after }) } as const;
    const records = await reached(store.list(scope, { runId }, page));
    for (const record of records) {
      const key = await reached(store.find(scope, String(record.values["requestKey"])));
      const trail = await reached(store.history(scope, record.key, 0, trailMax));
      found.push({ record, key: key?.values["id"] === record.key ? key : undefined, trail });
    }
    const last = records.at(-1);
    if (last === undefined || records.length < pageRows) return found;
    after = { value: Number(last.values["requestedAt"]), id: last.key };
  }
}
