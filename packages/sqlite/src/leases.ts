import type { LeaseStore } from "@holdpoint/workflows";

import type { SqliteHandle } from "./handle.ts";
import type { SqliteHome } from "./home.ts";
import { homeOn, type SqliteOptions } from "./homes.ts";
import { rowOf, selected, tables } from "./tables.ts";

/**
 * Leases alone, on a handle of the caller's own, which stays the caller's to close. They fence what is written on the same
 * handle, and in the same file.
 *
 * @example
 * const leases = sqliteLeaseStore(new DatabaseSync("runs.db"));
 *
 * @throws SqliteStoreError `file-foreign`, `file-damaged`, `schema-newer`, `file-locked`, `option-invalid`, `store-unavailable`
 */
export function sqliteLeaseStore(handle: SqliteHandle, options?: SqliteOptions): LeaseStore {
  return leasesOn(homeOn(handle, options));
}

/** The statements that read, by what they are for; their query plans are tested by these names. */
export const leaseReads = {
  get: `SELECT ${selected(tables.leases)} FROM leases WHERE scope = :scope AND key = :name`,
  list: `SELECT ${selected(tables.leases)} FROM leases
    WHERE scope = :scope AND key > :after ORDER BY key LIMIT :limit`,
} as const;

export function leasesOn(home: SqliteHome): LeaseStore {
  return {
    home,
    now: () => home.now(),
    commit: (attemptId, writes) => home.commit(attemptId, writes),
    get: (scope, name) =>
      home.read((statements) => {
        const raw = statements.row(leaseReads.get, { scope, name });
        return raw && rowOf(tables.leases, raw);
      }),
    list: (scope, { after = "", limit }) =>
      home.read((statements) =>
        statements
          .rows(leaseReads.list, { scope, after, limit })
          .map((raw) => rowOf(tables.leases, raw)),
      ),
  };
}
