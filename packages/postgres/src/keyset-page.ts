/**
 * Pages of rows in an order, each read along one index.
 *
 * K1 The index begins with scope and status, then the place, then the key: a page starts where the one before it ended, and
 *    rows of another status cost nothing. Without a status wanted it is one page of each, merged, in one statement: they see
 *    one state of the rows.
 * K2 Texts depend on which members a filter has, never on what they are (STORE-08).
 * K3 Only as many rows of each are read as the page has, so that reading along the index is the cheapest whatever the planner
 *    believes of the table.
 */

import type { Cell, Row } from "@holdpoint/approvals";

import type { PostgresHome } from "./home.ts";
import type { Binds } from "./statements.ts";
import { rowOf, selected, sqlName, type Table } from "./tables.ts";

/** What to read. Names and conditions are constants of this package; cells are in `binds`. */
export interface KeysetPage {
  readonly table: Table;
  readonly statusColumn: string;
  readonly statuses: readonly string[];
  /** The column that orders. */
  readonly place: string;
  readonly descending: boolean;
  readonly conditions: readonly string[];
  readonly binds: Binds;
  readonly scope: string;
  readonly after: { readonly value: number; readonly id: string } | undefined;
  readonly limit: number;
}

export async function readPage(home: PostgresHome, page: KeysetPage): Promise<readonly Row[]> {
  const rows = await home.rows(pageSql(page), pageBinds(page));
  return rows.map((raw) => rowOf(page.table, raw));
}

// K1, K2
export function pageSql(page: KeysetPage): string {
  const { table, statusColumn, statuses, place, descending, conditions, after } = page;
  const [past, direction] = descending ? ["<", "DESC"] : [">", "ASC"];
  const parts = statuses.map((_, at) => {
    const where = ["scope = :scope", `${statusColumn} = :status${at}`, ...conditions];
    if (after !== undefined) where.push(`(${place}, key) ${past} (:afterValue, :afterId)`);
    return `(SELECT ${selected(table)}, ${place} AS place
      FROM {${sqlName(table.name)}} AS listed WHERE ${where.join(" AND ")}
      ORDER BY listed.${place} ${direction}, listed.key ${direction} LIMIT :limit)`; // K3
  });
  if (parts.length === 1) return parts.join("");
  return `${parts.join("\n    UNION ALL\n    ")}
    ORDER BY place ${direction}, key ${direction} LIMIT :limit`;
}

export function pageBinds({ scope, after, binds, limit, statuses }: KeysetPage): Binds {
  const all: Record<string, Cell | readonly string[]> = { ...binds, scope, limit };
  for (const [at, status] of statuses.entries()) all[`status${at}`] = status;
  if (after !== undefined) Object.assign(all, { afterValue: after.value, afterId: after.id });
  return all;
}
