import type { LogRow, RunLog } from "@holdpoint/flow";

import type { SqliteHandle } from "./handle.ts";
import type { SqliteHome } from "./home.ts";
import { homeOn, type SqliteOptions } from "./homes.ts";
import { selected, tables } from "./tables.ts";

/**
 * Run logs alone, on a handle of the caller's own, which stays the caller's to close. Ports on the same handle commit
 * together.
 *
 * @example
 * const log = sqliteRunLog(new DatabaseSync("runs.db"));
 *
 * @throws SqliteStoreError `file-foreign`, `file-damaged`, `schema-newer`, `file-locked`, `option-invalid`, `store-unavailable`
 */
export function sqliteRunLog(handle: SqliteHandle, options?: SqliteOptions): RunLog {
  return logOn(homeOn(handle, options));
}

/** The statements that read, by what they are for; their query plans are tested by these names. */
export const logReads = {
  // A run id may hold a slash: the range finds, the column decides.
  read: `SELECT revision, text FROM log
    WHERE scope = :scope AND key > :after AND key < :end AND run = :run ORDER BY key LIMIT :limit`,
  head: `SELECT revision FROM log
    WHERE scope = :scope AND key > :after AND key < :end AND run = :run ORDER BY key DESC LIMIT 1`,
  snapshot: `SELECT ${selected(tables.snapshots)} FROM snapshots WHERE scope = :scope AND key = :run`,
} as const;

export function logOn(home: SqliteHome): RunLog {
  return {
    home,
    durable: home.durable,
    now: () => home.now(),
    commit: (attemptId, writes) => home.commit(attemptId, writes),
    read: (scope, runId, after, limit) =>
      home.read((statements) =>
        statements
          .rows(logReads.read, { scope, limit, ...entriesOf(runId, after) })
          .map((raw): LogRow => ({ revision: Number(raw["revision"]), text: String(raw["text"]) })),
      ),
    head: (scope, runId) =>
      home.read((statements) => {
        const last = statements.row(logReads.head, { scope, ...entriesOf(runId, 0) });
        return Number(last?.["revision"] ?? 0);
      }),
    snapshot: (scope, run) =>
      home.read((statements) => {
        const raw = statements.row(logReads.snapshot, { scope, run });
        return (
          raw && {
            version: Number(raw["rowVersion"]),
            revision: Number(raw["revision"]),
            text: String(raw["text"]),
          }
        );
      }),
  };
}

/** The range of the keys of a run's entries past a revision: `<run>/<12 digits>`. */
function entriesOf(run: string, after: number) {
  return {
    run,
    after: `${run}/${String(after).padStart(12, "0")}`,
    end: `${run}/:`, // the character past the digits
  };
}
