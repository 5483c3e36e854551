/**
 * A list of writes as one statement, which is its own transaction: one way to the server and back, whatever its length.
 *
 * T1 It answers `applied` or leaves nothing: where the first write did nothing, none after it ran; where a later one did nothing,
 *    the statement fails and is taken back. Who refused what is found out in a transaction, write by write (`judging.ts`).
 * T2 The commit is on the disk before it is answered, also where the database's default is not to wait for that (STORE-14).
 */

import type { CheckedWrite } from "./checked-writes.ts";
import type { PostgresQuery } from "./pool.ts";
import type { Session } from "./sessions.ts";
import type { Statements } from "./statements.ts";
import { limits } from "./limits.ts";
import type { RawRow } from "./tables.ts";
import { stateOf } from "./unavailable.ts";
import {
  appendsBinds,
  appendsSql,
  arePutUnderFences,
  bindsOf,
  canJoin,
  feedsOf,
  fencesOf,
  inLockOrder,
  placeOf,
  shapeOf,
  writeSql,
} from "./write-sql.ts";

/** Writes that one expression of the statement applies. */
type Part = readonly [CheckedWrite, ...CheckedWrite[]];

/** Whether a list can be one statement: its parts see one state of the rows, so none may build on another. */
export function isOneStatement(writes: readonly CheckedWrite[]): boolean {
  return (
    writes.length <= limits.statementWritesMax &&
    new Set(writes.map(placeOf)).size === writes.length &&
    !arePutUnderFences(writes)
  );
}

/** The statement of a list, which waits for a lock for `lockMs` at most. */
export function oneStatement(
  statements: Statements,
  attemptId: string,
  writes: readonly CheckedWrite[],
  lockMs: number,
): PostgresQuery {
  const parts = partsOf(writes);
  const binds = parts.map((part, at) =>
    part.length === 1 ? bindsOf(attemptId, part[0], at) : appendsBinds(attemptId, part, at),
  );
  return statements.query(commitSql(parts), Object.assign({ lockMs: `${lockMs}` }, ...binds));
}

/** The writes in lock order; log entries that stand next to each other under one fence are one part. */
function partsOf(writes: readonly CheckedWrite[]): readonly Part[] {
  const parts: [CheckedWrite, ...CheckedWrite[]][] = [];
  for (const { write } of inLockOrder(writes.map((each) => ({ write: each })))) {
    const last = parts.at(-1);
    if (last !== undefined && canJoin(last[0], write)) last.push(write);
    else parts.push([write]);
  }
  return parts;
}

/** Runs it. Rejects with the driver's error where it failed for another reason than a write that did nothing. */
export async function isApplied(session: Session, commit: PostgresQuery): Promise<boolean> {
  try {
    const { rows } = await session.run(commit);
    return (rows[0] as RawRow | undefined)?.["applied"] === true;
  } catch (error) {
    if (isRefusal(error)) return false;
    throw error;
  }
}

const sqlByShape = new Map<string, string>();

function commitSql(parts: readonly Part[]): string {
  const heads = parts.map(([head]) => head);
  const feeds = feedsOf(heads);
  const fences = fencesOf(heads);
  const shape = parts
    .map(({ length }, at) => {
      const joined = length === 1 ? "" : "*";
      return `${shapeOf(heads[at]!, feeds[at])}${fences[at] ?? ""}${joined}`;
    })
    .join(" ");
  let sql = sqlByShape.get(shape);
  if (sql === undefined) sqlByShape.set(shape, (sql = makeSql(parts, feeds, fences)));
  return sql;
}

const refusal =
  "holdpoint asks again: a write of this commit does not apply, so none of it is kept";

function makeSql(
  parts: readonly Part[],
  feeds: ReturnType<typeof feedsOf>,
  fences: ReturnType<typeof fencesOf>,
): string {
  const ctes = parts.flatMap(([head, ...more], at) => {
    const how = { at, after: at === 0 ? "s" : `w${at - 1}`, fence: fences[at] };
    return more.length === 0 ? writeSql(head, { ...how, feed: feeds[at] }) : appendsSql(head, how);
  });
  // T1: also where some entries of the first part stood already, and some not.
  const first = parts[0]!.length === 1 ? "w0" : "a0";
  // T2. `set_config` is read, or it would not be called; `concat`, or the cast would fail before it is reached.
  return `WITH s AS MATERIALIZED (
      SELECT concat(set_config('lock_timeout', :lockMs, true), set_config('synchronous_commit',
        CASE current_setting('synchronous_commit') WHEN 'off' THEN 'on'
        ELSE current_setting('synchronous_commit') END, true)) <> '' AS ok),
    ${ctes.join(",\n    ")}
    SELECT CASE WHEN (SELECT ok FROM w${parts.length - 1}) THEN true
      WHEN NOT EXISTS (SELECT 1 FROM ${first}) THEN false
      ELSE concat('${refusal}', (SELECT count(*) FROM ${first}))::boolean END AS applied`;
}

const invalidText = "22P02";

// T1
function isRefusal(error: unknown): boolean {
  return (
    stateOf(error) === invalidText && error instanceof Error && error.message.includes(refusal)
  );
}
