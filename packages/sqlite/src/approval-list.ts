import type {
  ApprovalFilter,
  ApprovalOrder,
  ApprovalPage,
  ApprovalState,
  Cell,
  Row,
} from "@holdpoint/approvals";

import { noExpiry } from "./migrations.ts";
import type { PreparedStatements } from "./prepared.ts";
import { rowOf, selected, tables } from "./tables.ts";

const states: readonly ApprovalState[] = ["pending", "decided", "consumed"];

/** A page of one state: its text, and what it is given. */
export interface ListStatement {
  readonly sql: string;
  readonly binds: Readonly<Record<string, Cell>>;
}

/** Rows that match, in order, past a place. Without a state wanted it is one page of each, merged. */
export function listApprovals(
  statements: PreparedStatements,
  scope: string,
  filter: ApprovalFilter,
  page: ApprovalPage,
): readonly Row[] {
  const wanted = filter.state === undefined ? states : [filter.state];
  const found = wanted.flatMap((state) => {
    const { sql, binds } = listStatement(scope, state, filter, page);
    return statements.rows(sql, binds).map((raw) => ({
      place: Number(raw["place"]),
      row: rowOf(tables.approvals, raw),
    }));
  });
  if (wanted.length > 1) {
    const sign = page.order === "newest" ? -1 : 1;
    found.sort((a, b) => sign * (a.place - b.place || (a.row.key < b.row.key ? -1 : 1)));
  }
  return found.slice(0, page.limit).map(({ row }) => row);
}

const indexes: Readonly<Record<ApprovalOrder, string>> = {
  oldest: "approvalsByAge",
  newest: "approvalsByAge",
  expiring: "approvalsByExpiry",
};

/**
 * Its text depends on which members a filter has, never on what they are (STORE-08). The index is named: without statistics
 * SQLite might sort a scope to save a filter.
 */
export function listStatement(
  scope: string,
  state: ApprovalState,
  filter: ApprovalFilter,
  { order, after, limit }: ApprovalPage,
): ListStatement {
  const place = order === "expiring" ? "expiryPlace" : "requestedAt";
  const [past, direction] = order === "newest" ? ["<", "DESC"] : [">", "ASC"];
  const conditions = ["scope = :scope", "state = :state"];
  const binds: Record<string, Cell> = { scope, state, limit };
  if (after !== undefined) {
    conditions.push(`(${place}, key) ${past} (:place, :id)`);
    Object.assign(binds, { place: after.value, id: after.id });
  }
  for (const [name, condition] of restrictions) {
    const wanted = filter[name];
    if (wanted === undefined) continue;
    conditions.push(condition);
    binds[name] = wanted;
  }
  const index = filter.runId === undefined ? indexes[order] : "approvalsByRun";
  return {
    sql: `SELECT ${selected(tables.approvals)}, ${place} AS place
    FROM approvals INDEXED BY ${index}
    WHERE ${conditions.join(" AND ")}
    ORDER BY ${place} ${direction}, key ${direction} LIMIT :limit`,
    binds,
  };
}

const restrictions = [
  ["tool", "tool = :tool"],
  ["runId", "runId = :runId"],
  ["requestedBefore", "requestedAt < :requestedBefore"],
  // A row without an expiry is before no time.
  ["expiresBefore", `expiryPlace < min(:expiresBefore, ${noExpiry})`],
] as const;
