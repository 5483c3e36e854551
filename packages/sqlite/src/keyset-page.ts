/**
 * Pages of rows in an order, each read along one index.
 *
 * K1 The index begins with scope and status, then the place, then the key: a page starts where the one before it ended, and
 *    rows of another status cost nothing. Without a status wanted it is one page of each, merged.
 * K2 Texts depend on which members a filter has, never on what they are (STORE-08).
 * K3 The index is named: without statistics SQLite might read and sort a whole scope to save a filter.
 */

import type { Cell, Row } from "@holdpoint/approvals";

import type { Binds } from "./handle.ts";
import type { PreparedStatements } from "./prepared.ts";
import { rowOf, selected, type Table } from "./tables.ts";

/** What to read. Names and conditions are constants of this package; cells are in `binds`. */
export interface KeysetPage {
  readonly table: Table;
  readonly index: string;
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

export function readPage(statements: PreparedStatements, page: KeysetPage): readonly Row[] {
  const sql = pageSql(page);
  const found = page.statuses.flatMap((status) =>
    statements.rows(sql, pageBinds(page, status)).map((raw) => ({
      place: Number(raw["place"]),
      row: rowOf(page.table, raw),
    })),
  );
  if (page.statuses.length > 1) {
    const sign = page.descending ? -1 : 1;
    found.sort((a, b) => sign * (a.place - b.place || (a.row.key < b.row.key ? -1 : 1)));
  }
  return found.slice(0, page.limit).map(({ row }) => row);
}

// K2, K3
export function pageSql(page: KeysetPage): string {
  const { table, index, statusColumn, place, descending, conditions, after } = page;
  const [past, direction] = descending ? ["<", "DESC"] : [">", "ASC"];
  const where = ["scope = :scope", `${statusColumn} = :wanted`, ...conditions];
  if (after !== undefined) where.push(`(${place}, key) ${past} (:afterValue, :afterId)`);
  return `SELECT ${selected(table)}, ${place} AS place
    FROM ${table.name} INDEXED BY ${index}
    WHERE ${where.join(" AND ")}
    ORDER BY ${place} ${direction}, key ${direction} LIMIT :limit`;
}

function pageBinds({ scope, after, binds, limit }: KeysetPage, wanted: string): Binds {
  const all: Record<string, Cell> = { ...binds, scope, wanted, limit };
  if (after !== undefined) Object.assign(all, { afterValue: after.value, afterId: after.id });
  return all;
}
