import type { OutboxStore } from "@holdpoint/workflows";

import type { SqliteHandle } from "./handle.ts";
import type { SqliteHome } from "./home.ts";
import { homeOn, type SqliteOptions } from "./homes.ts";
import { rowOf, selected, tables } from "./tables.ts";

/**
 * The outbox alone, on a handle of the caller's own, which stays the caller's to close: what it holds commits with what is
 * written on the same handle.
 *
 * @example
 * const outbox = sqliteOutbox(new DatabaseSync("runs.db"));
 *
 * @throws SqliteStoreError `file-foreign`, `file-damaged`, `schema-newer`, `file-locked`, `option-invalid`, `store-unavailable`
 */
export function sqliteOutbox(handle: SqliteHandle, options?: SqliteOptions): OutboxStore {
  return outboxOn(homeOn(handle, options));
}

/** The statement that reads; its query plan is tested by this name. */
export const outboxReads = {
  due: `SELECT ${selected(tables.outbox)} FROM outbox
    WHERE scope = :scope AND state = 'waiting' AND dueAt <= :now ORDER BY dueAt, key LIMIT :limit`,
} as const;

export function outboxOn(home: SqliteHome): OutboxStore {
  return {
    home,
    now: () => home.now(),
    commit: (attemptId, writes) => home.commit(attemptId, writes),
    due: (scope, now, limit) =>
      home.read((statements) =>
        statements
          .rows(outboxReads.due, { scope, now, limit })
          .map((raw) => rowOf(tables.outbox, raw)),
      ),
  };
}
