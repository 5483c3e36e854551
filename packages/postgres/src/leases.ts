import type { LeaseStore } from "@holdpoint/workflows";

import type { PostgresHome } from "./home.ts";
import { homeOn, type PostgresOptions } from "./homes.ts";
import type { PostgresPool } from "./pool.ts";
import { rowOf, selected, tables } from "./tables.ts";

/**
 * Leases alone, on a pool of the caller's own, which stays the caller's to end. They fence what is written in the same schema,
 * by whatever store.
 *
 * @example
 * const leases = await postgresLeaseStore(new Pool({ connectionString }));
 *
 * @throws PostgresStoreError `schema-foreign`, `schema-newer`, `database-encoding`, `option-invalid`, `store-unavailable`
 */
export async function postgresLeaseStore(
  pool: PostgresPool,
  options?: PostgresOptions,
): Promise<LeaseStore> {
  return leasesOn(await homeOn(pool, options));
}

/** The statements that read, by what they are for; their query plans are tested by these names. */
export const leaseReads = {
  get: `SELECT ${selected(tables.leases)} FROM {leases} WHERE scope = :scope AND key = :name`,
  list: `SELECT ${selected(tables.leases)} FROM {leases}
    WHERE scope = :scope AND key > :after ORDER BY key LIMIT :limit`,
} as const;

export function leasesOn(home: PostgresHome): LeaseStore {
  return {
    home,
    now: () => home.now(),
    commit: (attemptId, writes) => home.commit(attemptId, writes),
    async get(scope, name) {
      const raw = await home.row(leaseReads.get, { scope, name });
      return raw && rowOf(tables.leases, raw);
    },
    async list(scope, { after = "", limit }) {
      const rows = await home.rows(leaseReads.list, { scope, after, limit });
      return rows.map((raw) => rowOf(tables.leases, raw));
    },
  };
}
