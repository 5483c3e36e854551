/**
 * What becomes of a list of writes inside a transaction.
 *
 * J1 A write is one statement: the expected version, the newest epoch of its fence and the store's time are in its WHERE, so
 *    nothing can come between a check and what it allows (STORE-06, STORE-11, STORE-15). Reads only say why nothing changed.
 * J2 A write is judged against what the writes before it in the list left.
 * J3 Refusals name the first refused write, and of its reasons the first of version, fence, time.
 * J4 A row at the version that a write makes, made by this attempt, is this write's own: it stands already (APR-26). Once one
 *    of a list is, the whole list was applied before, since all or none were: what could be applied now is taken back.
 */

import type { Refusal, Row } from "@holdpoint/approvals";

import type { Binds } from "./handle.ts";
import type { CheckedWrite } from "./checked-writes.ts";
import type { PreparedStatements } from "./prepared.ts";
import { rowOf, selected, tables, type Table } from "./tables.ts";

/** `repeated` and `refused`: whatever changed a row is taken back by the caller. */
export type Judged =
  | { readonly status: "applicable"; readonly applied: number }
  | { readonly status: "repeated" }
  | { readonly status: "refused"; readonly write: number; readonly refusal: Refusal };

/** Applies what can be, one statement a write, and says what the transaction has to become. */
export function judge(
  statements: PreparedStatements,
  attemptId: string,
  writes: readonly CheckedWrite[],
  now: number,
): Judged {
  let applied = 0;
  let refused: (Judged & { readonly status: "refused" }) | undefined;
  for (const [at, write] of writes.entries()) {
    if (statements.change(statementOf(write), bindsOf(attemptId, write, now)) === 1) {
      applied += 1;
    } else {
      const stands = standing(statements, write);
      if (isOwn(attemptId, write, stands)) return { status: "repeated" }; // J4
      if (write.expect !== "any" || stands === undefined) {
        refused ??= {
          status: "refused",
          write: at,
          refusal: refusalOf(statements, write, stands, now),
        };
      }
    }
  }
  return refused ?? { status: "applicable", applied };
}

/** The statements of a table: one that reads a row, and those that write one, by which checks they hold. */
interface TableSql {
  readonly select: string;
  readonly writes: Map<number, string>;
}

const sqlByTable = new Map<Table, TableSql>();

// STORE-08: texts are made of this package's own table descriptions, once for each shape of a write.
function sqlOf(table: Table): TableSql {
  let sql = sqlByTable.get(table);
  if (sql === undefined) {
    const select = `SELECT ${selected(table)} FROM ${table.name} WHERE scope = :scope AND key = :key`;
    sqlByTable.set(table, (sql = { select, writes: new Map() }));
  }
  return sql;
}

function statementOf(write: CheckedWrite): string {
  const { writes } = sqlOf(write.table);
  const { before, from, fence } = write;
  const shape =
    (isInsert(write) ? 1 : 0) +
    (before === null ? 0 : 2) +
    (from === null ? 0 : 4) +
    (fence === undefined ? 0 : 8);
  let sql = writes.get(shape);
  if (sql === undefined) writes.set(shape, (sql = makeSql(write)));
  return sql;
}

// J1
function makeSql(write: CheckedWrite): string {
  const { name: table, columns: described } = write.table;
  const columns = Object.keys(described);
  const guards = guardsOf(write);
  if (isInsert(write)) {
    return `INSERT INTO ${table} (scope, key, rowVersion, attempt, ${columns.join(", ")})
    SELECT :scope, :key, 1, :attempt, ${columns.map((name) => `:${name}`).join(", ")}
    WHERE ${guards.length === 0 ? "true" : guards.join(" AND ")}
    ON CONFLICT (scope, key) DO NOTHING`;
  }
  const here = ["scope = :scope", "key = :key", "rowVersion = :expect", ...guards];
  return `UPDATE ${table}
    SET rowVersion = rowVersion + 1, attempt = :attempt, ${columns.map((name) => `${name} = :${name}`).join(", ")}
    WHERE ${here.join(" AND ")}`;
}

function guardsOf({ before, from, fence }: CheckedWrite): readonly string[] {
  const guards: string[] = [];
  if (before !== null) guards.push(":now < :before");
  if (from !== null) guards.push(":now >= :from");
  if (fence !== undefined) {
    guards.push(`NOT EXISTS (SELECT 1 FROM leases AS held
      WHERE held.scope = :scope AND held.key = :fence AND held.epoch > :fencedBelow)`);
  }
  return guards;
}

function isInsert({ expect }: CheckedWrite): boolean {
  return expect === 0 || expect === "any";
}

function bindsOf(attemptId: string, write: CheckedWrite, now: number): Binds {
  const { scope, key, expect, before, from, fence, values } = write;
  return {
    ...values,
    scope,
    key,
    attempt: attemptId,
    expect: expect === "any" ? 0 : expect,
    now,
    before,
    from,
    fence: fence?.name ?? null,
    fencedBelow: fence?.epoch ?? null,
  };
}

function standing(
  statements: PreparedStatements,
  { table, scope, key }: CheckedWrite,
): Row | undefined {
  const raw = statements.row(sqlOf(table).select, { scope, key });
  return raw === undefined ? undefined : rowOf(table, raw);
}

// J4
function isOwn(attemptId: string, { expect }: CheckedWrite, stands: Row | undefined): boolean {
  if (stands?.attempt !== attemptId) return false;
  return stands.version === (expect === "any" ? 1 : expect + 1);
}

// J3
function refusalOf(
  statements: PreparedStatements,
  { scope, expect, before, fence }: CheckedWrite,
  stands: Row | undefined,
  now: number,
): Refusal {
  if (expect !== "any" && (stands?.version ?? 0) !== expect) return { because: "version", stands };
  if (fence !== undefined) {
    const epoch = epochOf(statements, scope, fence.name);
    if (epoch > fence.epoch) return { because: "fenced", epoch };
  }
  return { because: before !== null && now >= before ? "late" : "early", now };
}

/** The newest epoch of a lease; 0 where there is none. */
function epochOf(statements: PreparedStatements, scope: string, key: string): number {
  const lease = statements.row(sqlOf(tables.leases).select, { scope, key });
  return Number(lease?.["epoch"] ?? 0);
}
