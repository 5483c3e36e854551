import type { Cell } from "@holdpoint/approvals";
import type { RunFilter, RunOrder, RunPage, RunRegistry, RunStatus } from "@holdpoint/workflows";

import type { PostgresHome } from "./home.ts";
import { homeOn, type PostgresOptions } from "./homes.ts";
import { readPage, type KeysetPage } from "./keyset-page.ts";
import { indexedCharacters } from "./migrations.ts";
import type { PostgresPool } from "./pool.ts";
import { rowOf, selected, tables } from "./tables.ts";

/**
 * The run registry alone, on a pool of the caller's own, which stays the caller's to end. Ports on the same pool and schema
 * commit together.
 *
 * @example
 * const runs = await postgresRunRegistry(new Pool({ connectionString }));
 *
 * @throws PostgresStoreError `schema-foreign`, `schema-newer`, `database-encoding`, `option-invalid`, `store-unavailable`
 */
export async function postgresRunRegistry(
  pool: PostgresPool,
  options?: PostgresOptions,
): Promise<RunRegistry> {
  return runsOn(await homeOn(pool, options));
}

/** The statements that read, by what they are for; their query plans are tested by these names. */
export const runReads = {
  get: `SELECT ${selected(tables.runs)} FROM {runs} WHERE scope = :scope AND key = :runId`,
  find: `SELECT ${selected(tables.runKeys)} FROM {run_keys} WHERE scope = :scope AND key = :key`,
  due: `SELECT ${selected(tables.runs)} FROM {runs}
    WHERE scope = :scope AND ${equal("session")} AND due_at <= :until::bigint
      AND (due_at, key) > (:afterValue::bigint, :afterId) ORDER BY due_at, key LIMIT :limit`,
} as const;

export function runsOn(home: PostgresHome): RunRegistry {
  return {
    home,
    durable: true,
    now: () => home.now(),
    commit: (attemptId, writes) => home.commit(attemptId, writes),
    async get(scope, runId) {
      const raw = await home.row(runReads.get, { scope, runId });
      return raw && rowOf(tables.runs, raw);
    },
    async find(scope, definition, key) {
      const raw = await home.row(runReads.find, { scope, key: `${definition}/${key}` });
      return raw && rowOf(tables.runKeys, raw);
    },
    list: (scope, filter, page) => readPage(home, runPage(scope, filter, page)),
    async due(scope, session, until, { after = first, limit }) {
      const place = { afterValue: after.value, afterId: after.id };
      const rows = await home.rows(runReads.due, { scope, session, until, ...place, limit });
      return rows.map((raw) => rowOf(tables.runs, raw));
    },
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

const orders: Readonly<Record<RunOrder, Pick<KeysetPage, "place" | "descending">>> = {
  oldest: { place: "created_at", descending: false },
  newest: { place: "created_at", descending: true },
  stalest: { place: "updated_at", descending: false },
  latest: { place: "updated_at", descending: true },
};

/** How a list of runs is read. */
export function runPage(scope: string, filter: RunFilter, page: RunPage): KeysetPage {
  const { status, definition, session } = filter;
  const conditions: string[] = [];
  const binds: Record<string, Cell> = {};
  if (definition !== undefined) {
    conditions.push(equal("definition"));
    binds["definition"] = definition;
  }
  if (session !== undefined) {
    conditions.push(equal("session"));
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

// The index holds the beginning; most other rows are told by it.
function equal(name: "definition" | "session"): string {
  return `left(${name}, ${indexedCharacters}) = left(:${name}, ${indexedCharacters}) AND ${name} = :${name}`;
}
