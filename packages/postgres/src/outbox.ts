import type { OutboxStore } from "@holdpoint/workflows";

import type { PostgresHome } from "./home.ts";
import { homeOn, type PostgresOptions } from "./homes.ts";
import type { PostgresPool } from "./pool.ts";
import { rowOf, selected, tables } from "./tables.ts";

/**
 * The outbox alone, on a pool of the caller's own, which stays the caller's to end: what it holds commits with what is written
 * in the same schema of that pool.
 *
 * @example
 * const outbox = await postgresOutbox(new Pool({ connectionString }));
 *
 * @throws PostgresStoreError `schema-foreign`, `schema-newer`, `database-encoding`, `option-invalid`, `store-unavailable`
 */
export async function postgresOutbox(
  pool: PostgresPool,
  options?: PostgresOptions,
): Promise<OutboxStore> {
  return outboxOn(await homeOn(pool, options));
}

/** The statement that reads; its query plan is tested by this name. */
export const outboxReads = {
  due: `SELECT ${selected(tables.outbox)} FROM {outbox}
    WHERE scope = :scope AND state = 'waiting' AND due_at <= :now::bigint ORDER BY due_at, key LIMIT :limit`,
} as const;

export function outboxOn(home: PostgresHome): OutboxStore {
  return {
    home,
    now: () => home.now(),
    commit: (attemptId, writes) => home.commit(attemptId, writes),
    async due(scope, now, limit) {
      const rows = await home.rows(outboxReads.due, { scope, now, limit });
      return rows.map((raw) => rowOf(tables.outbox, raw));
    },
  };
}
