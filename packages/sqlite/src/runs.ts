import type { Cell } from "@holdpoint/approvals";
import type { RunFilter, RunOrder, RunPage, RunRegistry, RunStatus } from "@holdpoint/workflows";

import type { SqliteHandle } from "./handle.ts";
import type { SqliteHome } from "./home.ts";
import { homeOn, type SqliteOptions } from "./homes.ts";
import { readPage, type KeysetPage } from "./keyset-page.ts";
import { rowOf, selected, tables } from "./tables.ts";

/**
 * The run registry alone, on a handle of the caller's own, which stays the caller's to close. Ports on the same handle
 * commit together.
 *
 * @example
 * const runs = sqliteRunRegistry(new DatabaseSync("runs.db"));
 *
 * @throws SqliteStoreError `file-foreign`, `file-damaged`, `schema-newer`, `file-locked`, `option-invalid`, `store-unavailable`
 */
export function sqliteRunRegistry(handle: SqliteHandle, options?: SqliteOptions): RunRegistry {
  return runsOn(homeOn(handle, options));
}

/** The statements that read, by what they are for; their query plans are tested by these names. */
export const runReads = {
  get: `SELECT ${selected(tables.runs)} FROM runs WHERE scope = :scope AND key = :runId`,
  find: `SELECT ${selected(tables.runKeys)} FROM runKeys WHERE scope = :scope AND key = :key`,
  due: `SELECT ${selected(tables.runs)} FROM runs INDEXED BY runsDue
    WHERE scope = :scope AND session = :session AND dueAt <= :until AND (dueAt, key) > (:afterValue, :afterId)
    ORDER BY dueAt, key LIMIT :limit`,
} as const;

export function runsOn(home: SqliteHome): RunRegistry {
  return {
    home,
    durable: home.durable,
    now: () => home.now(),
    commit: (attemptId, writes) => home.commit(attemptId, writes),
    get: (scope, runId) =>
      home.read((statements) => {
        const raw = statements.row(runReads.get, { scope, runId });
        return raw && rowOf(tables.runs, raw);
      }),
    find: (scope, definition, key) =>
      home.read((statements) => {
        const raw = statements.row(runReads.find, { scope, key: `${definition}/${key}` });
        return raw && rowOf(tables.runKeys, raw);
      }),
    list: (scope, filter, page) =>
      home.read((statements) => readPage(statements, runPage(scope, filter, page))),
    due: (scope, session, until, { after = first, limit }) =>
      home.read((statements) =>
        statements
          .rows(runReads.due, {
            scope,
            session,
            until,
            afterValue: after.value,
            afterId: after.id,
            limit,
          })
          .map((raw) => rowOf(tables.runs, raw)),
      ),
  };
}

/** Before every row: no time is negative. */
const first = { value: -1, id: "" } as const;

const statuses: readonly RunStatus[] = [
  "pending",
  "running",
  "interrupted",
  "completed",
  "failed",
  "cancelled",
];

const orders: Readonly<Record<RunOrder, Pick<KeysetPage, "index" | "place" | "descending">>> = {
  oldest: { index: "runsByAge", place: "createdAt", descending: false },
  newest: { index: "runsByAge", place: "createdAt", descending: true },
  stalest: { index: "runsByMove", place: "updatedAt", descending: false },
  latest: { index: "runsByMove", place: "updatedAt", descending: true },
};

/** How a list of runs is read. */
export function runPage(scope: string, filter: RunFilter, page: RunPage): KeysetPage {
  const { status, definition, session } = filter;
  const conditions: string[] = [];
  const binds: Record<string, Cell> = {};
  if (definition !== undefined) {
    conditions.push("definition = :definition");
    binds["definition"] = definition;
  }
  if (session !== undefined) {
    conditions.push("session = :session");
    binds["session"] = session;
  }
  return {
    ...orders[page.order],
    table: tables.runs,
    statusColumn: "status",
    statuses: status === undefined ? statuses : [status],
    conditions,
    binds,
    scope,
    after: page.after,
    limit: page.limit,
  };
}
