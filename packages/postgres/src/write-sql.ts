/**
 * The SQL of writes.
 *
 * W1 A write is one statement: the expected version, the newest epoch of its fence and the store's time are in it, so nothing
 *    can come between a check and what it allows (STORE-06, STORE-11, STORE-15).
 * W2 The lease of a fence stays share-locked until the commit stands: no new owner comes between. Without the lock, a write that
 *    waits for a row would be judged by the epoch of before its wait.
 * W3 The time is read twice: before the row is waited for, so that a late write changes nothing, and after it (`ok`), so that
 *    waiting makes nothing younger.
 * W4 Writes run one after another, each only where the one before it did something: rows are locked in one order by everybody.
 * W5 Audit entries take their positions when their scope's feed is locked (see `migrations.ts`): those of a list together, since a
 *    statement can change the feed once.
 * W6 Texts depend on the shape of a list, never on what is in it (STORE-08).
 */

import type { CheckedWrite } from "./checked-writes.ts";
import type { Binds } from "./statements.ts";
import { selected, sqlName, tables, type Table } from "./tables.ts";

/** A row's place, which two writes of a list may share. */
export function placeOf({ table, scope, key }: CheckedWrite): string {
  return [table.name, scope, key].join("\n");
}

const tableOrder: readonly Table[] = [
  tables.leases,
  tables.approvals,
  tables.approvalKeys,
  tables.runs,
  tables.runKeys,
  tables.outbox,
  tables.snapshots,
  tables.log,
  tables.approvalAudit, // last: a scope's feed is locked for as short as can be
];

/** Whether writes are fenced by a lease that another of the list puts: then each is judged by what those before it left. */
export function arePutUnderFences(writes: readonly CheckedWrite[]): boolean {
  if (writes.length < 2) return false;
  const put = writes.filter(({ table }) => table === tables.leases);
  return put.some((lease) =>
    writes.some(
      (other) => other !== lease && other.scope === lease.scope && other.fence?.name === lease.key,
    ),
  );
}

/** W4: the order in which everybody locks rows. Writes of one row keep theirs. */
export function inLockOrder<T extends { readonly write: CheckedWrite }>(writes: readonly T[]): T[] {
  if (arePutUnderFences(writes.map(({ write }) => write))) return [...writes];
  return writes.toSorted(
    ({ write: a }, { write: b }) =>
      tableOrder.indexOf(a.table) - tableOrder.indexOf(b.table) ||
      compared(a.scope, b.scope) ||
      (a.table === tables.approvalAudit ? 0 : compared(a.key, b.key)),
  );
}

function compared(a: string, b: string): number {
  return a === b ? 0 : a < b ? -1 : 1;
}

/** Where an audit entry's position comes from: the feed that write `of` advances by `by`, and so many before its end. */
interface Feed {
  readonly of: number;
  readonly by: number;
  readonly back: number;
}

/** W5: the feeds of the audit entries among writes that are in lock order. */
export function feedsOf(writes: readonly CheckedWrite[]): readonly (Feed | undefined)[] {
  return writes
    .map(({ table, scope }) => {
      if (table !== tables.approvalAudit) return undefined;
      const isSame = (other: CheckedWrite): boolean =>
        other.table === table && other.scope === scope;
      const by = writes.filter(isSame).length;
      return { of: writes.findIndex(isSame), by, back: 0 };
    })
    .map((feed, at) => feed && { ...feed, back: feed.of + feed.by - 1 - at });
}

/** W2: where the lease of each write's fence is locked: a lease once, by the first write under it. */
export function fencesOf(writes: readonly CheckedWrite[]): readonly (number | undefined)[] {
  const first = new Map<string, number>();
  return writes.map(({ table, scope, fence }, at) => {
    if (fence === undefined) return undefined;
    const lease = [scope, fence.name, table === tables.leases ? "put" : ""].join("\n");
    if (!first.has(lease)) first.set(lease, at);
    return first.get(lease);
  });
}

/** Whether a log entry goes along with the one before it, in one expression. */
export function canJoin(one: CheckedWrite, next: CheckedWrite): boolean {
  if (one.table !== tables.log || next.table !== tables.log || one.scope !== next.scope)
    return false;
  if (one.fence?.name !== next.fence?.name || one.fence?.epoch !== next.fence?.epoch) return false;
  return [one, next].every(({ before, from }) => before === null && from === null);
}

/** How a part stands among the others of its statement. */
interface Among {
  readonly at: number;
  /** The part that has to have done something before (W4). */
  readonly after?: string;
  /** Which part locks the lease of its fence; by default itself. */
  readonly fence?: number | undefined;
}

/**
 * The expressions that append several log entries under one guard: `a<at>` has a row for each that was, `w<at>` is there where all
 * were.
 */
export function appendsSql(
  head: CheckedWrite,
  { at, after, fence = at }: Among,
): readonly string[] {
  const { sql, guards } = guardsOf(head, { at, fence, ...(after !== undefined && { after }) });
  const of = (name: string, type: string): string => `:${name}Of${at}::${type}[]`;
  return [
    ...sql,
    `a${at} AS (
      INSERT INTO {log} (scope, key, row_version, attempt, run, revision, text)
      SELECT :scope${at}::text, entry.key, 1, :attempt::text, entry.run, entry.revision, entry.text
      FROM unnest(${of("key", "text")}, ${of("run", "text")}, ${of("revision", "bigint")}, ${of("text", "text")})
        AS entry (key, run, revision, text)
      WHERE ${guards.join(" AND ")}
      ON CONFLICT (scope, key) DO NOTHING RETURNING true AS ok)`,
    `w${at} AS (SELECT true AS ok FROM a${at} HAVING count(*) = cardinality(${of("key", "text")}))`,
  ];
}

export function appendsBinds(
  attemptId: string,
  writes: readonly CheckedWrite[],
  at: number,
): Binds {
  const [{ scope, fence } = { scope: "", fence: undefined }] = writes;
  const column = (name: string): string[] => writes.map(({ values }) => String(values[name]));
  return {
    attempt: attemptId,
    [`scope${at}`]: scope,
    [`fence${at}`]: fence?.name ?? null,
    [`fencedBelow${at}`]: fence?.epoch ?? null,
    [`keyOf${at}`]: writes.map(({ key }) => key),
    [`runOf${at}`]: column("run"),
    [`revisionOf${at}`]: column("revision"),
    [`textOf${at}`]: column("text"),
  };
}

/** What a write is guarded by, and the expression that locks its fence's lease, where that is its own. */
function guardsOf({ table, fence }: CheckedWrite, { at, after, fence: by = at }: Among) {
  const guards = after === undefined ? [] : [`(SELECT ok FROM ${after})`];
  const sql: string[] = [];
  if (fence !== undefined) {
    // W2. An owner's own renewals must not each hold a share of what both are about to write.
    const lock = table === tables.leases ? "UPDATE" : "SHARE";
    if (by === at) {
      sql.push(`f${at} AS MATERIALIZED (
      SELECT epoch FROM {leases} WHERE scope = :scope${at} AND key = :fence${at} FOR ${lock})`);
    }
    guards.push(`NOT EXISTS (SELECT 1 FROM f${by} WHERE epoch > :fencedBelow${at}::bigint)`);
  }
  return { sql, guards };
}

/** The expressions of a WITH that apply a write: the last of them, `w<at>`, has one row where it did, and its `ok` (W3). */
export function writeSql(
  write: CheckedWrite,
  { feed, ...among }: Among & { readonly feed: Feed | undefined },
): readonly string[] {
  const { at } = among;
  const { table, before, from: notBefore } = write;
  const columns = Object.keys(table.columns);
  const { sql, guards } = guardsOf(write, among);
  const inTime = before === null ? "true" : `{now} < :before${at}::bigint`;
  guards.push(inTime);
  if (notBefore !== null) guards.push(`{now} >= :from${at}::bigint`);
  const where = guards.join(" AND ");
  const name = sqlName(table.name);
  if (!isInsert(write)) {
    const sets = columns.map((column) => `${sqlName(column)} = ${bind(table, column, at)}`);
    sql.push(`w${at} AS (
      UPDATE {${name}} SET row_version = row_version + 1, attempt = :attempt, ${sets.join(", ")}
      WHERE scope = :scope${at} AND key = :key${at} AND row_version = :expect${at}::bigint
        AND ${where} RETURNING ${inTime} AS ok)`);
    return sql;
  }
  const into = ["scope", "key", "row_version", "attempt", ...columns.map(sqlName)];
  const values = [`:scope${at}::text`, `:key${at}::text`, "1", ":attempt::text"];
  values.push(...columns.map((column) => bind(table, column, at)));
  let from = "";
  if (feed !== undefined) {
    // W5
    if (feed.of === at) {
      sql.push(`p${at} AS (
      INSERT INTO {approval_feeds} AS feeds (scope, last_position)
      SELECT :scope${at}::text, ${feed.by} WHERE ${where}
      ON CONFLICT (scope) DO UPDATE SET last_position = feeds.last_position + ${feed.by}
      RETURNING last_position)`);
    }
    into.push("position");
    values.push(`last_position - ${feed.back}`);
    from = ` FROM p${feed.of}`;
  }
  sql.push(`w${at} AS (
      INSERT INTO {${name}} (${into.join(", ")})
      SELECT ${values.join(", ")}${from} WHERE ${where}
      ON CONFLICT (scope, key) DO NOTHING RETURNING ${inTime} AS ok)`);
  return sql;
}

/** What tells the text of one write from another's. */
export function shapeOf(write: CheckedWrite, feed: Feed | undefined): string {
  const { table, before, from, fence } = write;
  return [
    feed === undefined ? "" : `${feed.of}-${feed.by}-`,
    table.name,
    isInsert(write) ? "+" : "=",
    before === null ? "" : "b",
    from === null ? "" : "n",
    fence === undefined ? "" : "f",
  ].join("");
}

export function bindsOf(attemptId: string, write: CheckedWrite, at: number): Binds {
  const { scope, key, expect, before, from, fence, values } = write;
  const binds: Record<string, string | number | null> = {
    attempt: attemptId,
    [`scope${at}`]: scope,
    [`key${at}`]: key,
    [`expect${at}`]: expect === "any" ? 0 : expect,
    [`before${at}`]: before,
    [`from${at}`]: from,
    [`fence${at}`]: fence?.name ?? null,
    [`fencedBelow${at}`]: fence?.epoch ?? null,
  };
  for (const [name, cell] of Object.entries(values)) binds[`${name}Of${at}`] = cell;
  return binds;
}

/** The select of the row that a write is about. */
export function standingSql(table: Table): string {
  return `SELECT ${selected(table)} FROM {${sqlName(table.name)}} WHERE scope = :scope AND key = :key`;
}

function isInsert({ expect }: CheckedWrite): boolean {
  return expect === 0 || expect === "any";
}

function bind(table: Table, column: string, at: number): string {
  const type = table.columns[column]?.startsWith("text") ? "text" : "bigint";
  return `:${column}Of${at}::${type}`;
}
