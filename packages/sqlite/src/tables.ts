import type { Cell, Row } from "@holdpoint/approvals";

import type { RawRow } from "./prepared.ts";

/** What a column holds. */
export type ColumnKind = "text" | "integer" | "integer or null" | "text or null";

/** A table that is written through `commit`: its statement, and its columns beside scope, key, rowVersion and attempt. */
export interface Table {
  readonly name: string;
  readonly columns: Readonly<Record<string, ColumnKind>>;
  /** Whether rows are only ever added: then no other version than 0 can be expected. */
  readonly appendOnly: boolean;
}

const approvals: Table = {
  name: "approvals",
  columns: {
    state: "text",
    tool: "text",
    runId: "text",
    requestKey: "text",
    requestedAt: "integer",
    expiresAt: "integer or null",
    sealed: "text",
  },
  appendOnly: false,
};

const approvalKeys: Table = {
  name: "approvalKeys",
  columns: { id: "text", asked: "integer" },
  appendOnly: false,
};

const approvalAudit: Table = {
  name: "approvalAudit",
  columns: { sealed: "text" },
  appendOnly: true,
};

const log: Table = {
  name: "log",
  columns: { run: "text", revision: "integer", text: "text" },
  appendOnly: true,
};

const snapshots: Table = {
  name: "snapshots",
  columns: { revision: "integer", text: "text" },
  appendOnly: false,
};

const runs: Table = {
  name: "runs",
  columns: {
    definition: "text",
    version: "text",
    status: "text",
    session: "text or null",
    startKey: "text or null",
    createdAt: "integer",
    updatedAt: "integer",
    dueAt: "integer or null",
    sealed: "text",
  },
  appendOnly: false,
};

const runKeys: Table = { name: "runKeys", columns: { runId: "text" }, appendOnly: true };

const leases: Table = {
  name: "leases",
  columns: { epoch: "integer", owner: "text or null", until: "integer" },
  appendOnly: false,
};

const outbox: Table = {
  name: "outbox",
  columns: { state: "text", dueAt: "integer", tries: "integer", sealed: "text" },
  appendOnly: false,
};

export const tables = {
  approvals,
  approvalKeys,
  approvalAudit,
  log,
  snapshots,
  runs,
  runKeys,
  leases,
  outbox,
} as const;

/** Every statement that a port's writes may name, by that name. The ports' own lists are compared with it by a test. */
export const tableByStatement: ReadonlyMap<string, Table> = new Map([
  ["approvals.put", approvals],
  ["approvalKeys.put", approvalKeys],
  ["approvalAudit.append", approvalAudit],
  ["log.append", log],
  ["snapshots.put", snapshots],
  ["runs.put", runs],
  ["runKeys.put", runKeys],
  ["leases.put", leases],
  ["outbox.put", outbox],
]);

/** A table's columns as a row has them, for a select. */
export function selected(table: Table): string {
  return ["key", "rowVersion", "attempt", ...Object.keys(table.columns)].join(", ");
}

/** A selected row as ports give it back. */
export function rowOf(table: Table, raw: RawRow): Row {
  const values: Record<string, Cell> = {};
  for (const name of Object.keys(table.columns)) values[name] = raw[name] as Cell;
  return {
    key: String(raw["key"]),
    version: Number(raw["rowVersion"]),
    attempt: String(raw["attempt"]),
    values,
  };
}
