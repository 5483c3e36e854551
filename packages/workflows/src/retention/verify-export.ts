/**
 * Checking an export offline: by its own seal, and then by the seals of everything in it, as the stores' own readers do.
 */
import {
  SealedRecords,
  type ApprovalStore,
  type AuditReport,
  type Row,
} from "@holdpoint/approvals";
import { isFlowError, verifyLog, type LogRow } from "@holdpoint/flow";
import type { Keyring } from "@holdpoint/seal";

import { isWorkflowError } from "../errors.ts";
import { RunCodec, type OpenRun } from "../registry/record-codec.ts";
import { viewOf, type RunView } from "../registry/run-view.ts";
import { openExport, type ExportedRow, type OpenExport } from "./export-text.ts";

/** What a check of an export found. `broken`: `what` is the part that can't be trusted. */
export type ExportReport =
  | {
      readonly status: "whole";
      readonly run: RunView;
      /** Entries of the log, each verified and chained to the one before. */
      readonly events: number;
      /** Every approval of the run, with its audit trail. */
      readonly approvals: readonly { readonly id: string; readonly audit: AuditReport }[];
    }
  | {
      readonly status: "broken";
      readonly what: "text" | "run" | "log" | "approval";
      readonly why: string;
    };

/**
 * Checks a text that `Retention.export` made: nothing of it was changed, added, left out or put from elsewhere. Needs the keys,
 * and neither stores nor definitions.
 */
export async function verifyExport(
  text: string,
  { keyring }: { readonly keyring: Keyring },
): Promise<ExportReport> {
  const parts = opened(text, keyring);
  if ("status" in parts) return parts;
  const { of, run } = parts;
  const log = of.rows.flatMap((row): LogRow[] => (row.kind === "log" ? [row] : []));
  try {
    verifyLog(log, { keyring, scope: of.scope, runId: of.runId });
  } catch (error) {
    if (!isFlowError(error)) throw error;
    return { status: "broken", what: "log", why: error.message };
  }
  if (log.length < run.record.revision) {
    const why = `the log ends at ${log.length}, and the registry saw ${run.record.revision}`;
    return { status: "broken", what: "log", why };
  }
  const approvals = await auditsOf(of, keyring);
  const broken = approvals.find(({ audit }) => audit.status !== "whole");
  if (broken !== undefined) {
    const why = `the approval ${broken.id} or its trail is ${broken.audit.status}`;
    return { status: "broken", what: "approval", why };
  }
  return { status: "whole", run: viewOf(run), events: log.length, approvals };
}

type Broken = Extract<ExportReport, { readonly status: "broken" }>;

function opened(text: string, keyring: Keyring): Broken | { of: OpenExport; run: OpenRun } {
  try {
    const of = openExport(text, keyring);
    const [row] = of.rows;
    if (row?.kind !== "run" || row.key !== of.runId)
      return { status: "broken", what: "run", why: "it is of another run" };
    return { of, run: new RunCodec(keyring).open(of.scope, row) };
  } catch (error) {
    if (isWorkflowError(error, "export-invalid"))
      return { status: "broken", what: "text", why: error.message };
    if (isWorkflowError(error, "record-tampered"))
      return { status: "broken", what: "run", why: error.message };
    throw error;
  }
}

async function auditsOf(of: OpenExport, keyring: Keyring) {
  const records = new SealedRecords(exportedApprovals(of.rows), { keyring });
  const ids = rowsOf(of.rows, "approval").map(({ key }) => key);
  return Promise.all(
    ids.map(async (id) => ({ id, audit: await records.verifyAudit(of.scope, id) })),
  );
}

function rowsOf(rows: readonly ExportedRow[], kind: ExportedRow["kind"]): readonly Row[] {
  return rows.flatMap((row) => (row.kind === kind && row.kind !== "log" ? [row] : []));
}

/** The approvals of an export as a store that is only read. */
function exportedApprovals(rows: readonly ExportedRow[]): ApprovalStore {
  const records = rowsOf(rows, "approval");
  const trails = rowsOf(rows, "audit");
  const nothing = async (): Promise<never[]> => [];
  return {
    home: {},
    durable: false,
    now: async () => 0,
    commit: async () => ({ status: "unknown", cause: new Error("an export is only read") }),
    get: async (_scope, id) => records.find(({ key }) => key === id),
    find: async () => undefined,
    list: nothing,
    history: async (_scope, id) => trails.filter(({ key }) => key.startsWith(`${id}/`)),
    changes: nothing,
    lastChange: async () => 0,
    wait: async () => undefined,
  };
}
