import type { LogRow, RunLog } from "@holdpoint/flow";

import type { PostgresHome } from "./home.ts";
import { homeOn, type PostgresOptions } from "./homes.ts";
import type { PostgresPool } from "./pool.ts";
import { integerOf, rowOf, selected, tables, type RawRow } from "./tables.ts";

/**
 * Run logs alone, on a pool of the caller's own, which stays the caller's to end. Ports on the same pool and schema commit
 * together.
 *
 * @example
 * const log = await postgresRunLog(new Pool({ connectionString }));
 *
 * @throws PostgresStoreError `schema-foreign`, `schema-newer`, `database-encoding`, `option-invalid`, `store-unavailable`
 */
export async function postgresRunLog(
  pool: PostgresPool,
  options?: PostgresOptions,
): Promise<RunLog> {
  return logOn(await homeOn(pool, options));
}

/** The statements that read, by what they are for; their query plans are tested by these names. */
export const logReads = {
  // A run id may hold a slash: the range finds, the column decides.
  read: `SELECT revision, text FROM {log}
    WHERE scope = :scope AND key > :after AND key < :end AND run = :run ORDER BY key LIMIT :limit`,
  head: `SELECT revision FROM {log}
    WHERE scope = :scope AND key > :after AND key < :end AND run = :run ORDER BY key DESC LIMIT 1`,
  snapshot: `SELECT ${selected(tables.snapshots)} FROM {snapshots} WHERE scope = :scope AND key = :run`,
  tail: `SELECT row_version AS version, revision, text FROM {snapshots} WHERE scope = :scope AND key = :run
    UNION ALL (SELECT NULL, revision, text FROM {log}
      WHERE scope = :scope AND key < :end AND run = :run AND key > coalesce((
        SELECT concat(:run::text, '/', lpad((revision - 1)::text, 12, '0')) FROM {snapshots}
        WHERE scope = :scope AND key = :run), :after)
      ORDER BY key LIMIT :limit)`,
} as const;

export function logOn(home: PostgresHome): RunLog {
  return {
    home,
    durable: true,
    now: () => home.now(),
    commit: (attemptId, writes) => home.commit(attemptId, writes),
    async read(scope, runId, after, limit) {
      const rows = await home.rows(logReads.read, { scope, limit, ...entriesOf(runId, after) });
      return rows.map(entryOf);
    },
    async head(scope, runId) {
      const last = await home.row(logReads.head, { scope, ...entriesOf(runId, 0) });
      return integerOf(last?.["revision"] ?? 0);
    },
    async snapshot(scope, run) {
      const raw = await home.row(logReads.snapshot, { scope, run });
      if (raw === undefined) return undefined;
      const { version, values } = rowOf(tables.snapshots, raw);
      return { version, revision: integerOf(values["revision"]), text: String(values["text"]) };
    },
    async tail(scope, runId, limit) {
      const rows = await home.rows(logReads.tail, { scope, limit, ...entriesOf(runId, 0) });
      const [snapshot] = rows.filter(isSnapshot);
      return {
        snapshot: snapshot && { version: integerOf(snapshot["version"]), ...entryOf(snapshot) },
        rows: rows.filter((raw) => !isSnapshot(raw)).map(entryOf),
      };
    },
  };
}

function isSnapshot({ version }: RawRow): boolean {
  return version !== null;
}

function entryOf(raw: RawRow): LogRow {
  return { revision: integerOf(raw["revision"]), text: String(raw["text"]) };
}

/** The range of the keys of a run's entries past a revision: `<run>/<12 digits>`. */
function entriesOf(run: string, after: number) {
  return {
    run,
    after: `${run}/${String(after).padStart(12, "0")}`,
    end: `${run}/:`, // the character past the digits
  };
}
