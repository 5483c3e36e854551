/**
 * A run as a text: a line for each row, as its store has it, and before them one that seals how many there are and all of
 * them together. Nothing of it has to be decoded, and none can be left out.
 */
import type { Cell, Row } from "@holdpoint/approvals";
import type { LogRow } from "@holdpoint/flow";
import { digestText, isSealError, PURPOSES, sign, verify, type Keyring } from "@holdpoint/seal";

import { WorkflowError } from "../errors.ts";
import type { RunRows } from "./run-rows.ts";

/** The version of the text: 1, first release. */
const exportVersion = 1;

/** One row, as it stands in an export. */
export type ExportedRow =
  | { readonly kind: "log"; readonly revision: number; readonly text: string }
  | {
      readonly kind: "run" | "startKey" | "approval" | "approvalKey" | "audit";
      readonly key: string;
      readonly version: number;
      readonly attempt: string;
      readonly values: Readonly<Record<string, Cell>>;
    };

interface Of {
  readonly scope: string;
  readonly runId: string;
  readonly keyring: Keyring;
}

export function exportText(rows: RunRows, { scope, runId, keyring }: Of): string {
  const lines = exportedRows(rows).map((row) => JSON.stringify(row));
  const body = lines.join("\n");
  const header = { format: exportVersion, scope, run: runId, lines: lines.length };
  const { text } = sign(digestText(body), { keyring, purpose: PURPOSES.runExport, header });
  return `${text}\n${body}\n`;
}

function exportedRows(rows: RunRows): readonly ExportedRow[] {
  const { run, startKey, log, approvals } = rows;
  const row = (kind: Exclude<ExportedRow["kind"], "log">, of: Row): ExportedRow => {
    const { key, version, attempt, values } = of;
    return { kind, key, version, attempt, values };
  };
  return [
    row("run", run),
    ...(startKey === undefined ? [] : [row("startKey", startKey)]),
    ...log.map(({ revision, text }: LogRow): ExportedRow => ({ kind: "log", revision, text })),
    ...approvals.flatMap(({ record, key, trail }) => [
      row("approval", record),
      ...(key === undefined ? [] : [row("approvalKey", key)]),
      ...trail.map((entry) => row("audit", entry)),
    ]),
  ];
}

/** An export whose own seal holds. */
export interface OpenExport {
  readonly scope: string;
  readonly runId: string;
  readonly rows: readonly ExportedRow[];
}

/** @throws WorkflowError `export-invalid` */
export function openExport(text: string, keyring: Keyring): OpenExport {
  const line = text.indexOf("\n");
  const lines = text.slice(line + 1).split("\n");
  if (line === -1 || lines.pop() !== "") throw invalid("it is no text of an export");
  const { header, body } = sealOf(text.slice(0, line), keyring);
  if (header["format"] !== exportVersion)
    throw invalid(
      `its format is ${String(header["format"])}, and this version reads ${exportVersion}`,
    );
  const isWhole = header["lines"] === lines.length && body === digestText(lines.join("\n"));
  if (!isWhole) throw invalid("lines of it were changed, added or left out");
  // Sealed by us: each line is one that `exportText` wrote.
  const rows = lines.map((one) => JSON.parse(one) as ExportedRow);
  return { scope: String(header["scope"]), runId: String(header["run"]), rows };
}

function sealOf(text: string, keyring: Keyring): ReturnType<typeof verify> {
  try {
    return verify(text, { keyring, purpose: PURPOSES.runExport });
  } catch (error) {
    if (!isSealError(error)) throw error;
    throw invalid("its first line was changed, or was sealed under another key", error);
  }
}

function invalid(why: string, cause?: unknown): WorkflowError {
  return new WorkflowError("export-invalid", `the export can't be trusted: ${why}`, {}, cause);
}
