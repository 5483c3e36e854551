import type { Pool } from "pg";

import { scope } from "./record-writes.ts";

/**
 * Has so many runs wait, each with a pending record, its audit entry and a log entry. Runs and records are of a thousand
 * characters, as real ones are; what is beside them is of `beside`.
 */
export async function fill(
  pool: Pool,
  schema: string,
  count: number,
  beside = 1_000,
): Promise<void> {
  const text = "repeat('x', 1000)";
  const short = `repeat('x', ${beside})`;
  await pool.query(`
    INSERT INTO ${schema}.approvals
      (scope, key, row_version, attempt, state, tool, run_id, request_key, requested_at, sealed)
      SELECT '${scope}', 'r-' || n, 1, 'fill', 'pending', 'pay', 'run-' || n, 'key-of-r-' || n, n, ${text}
      FROM generate_series(0, ${count - 1}) AS n;
    INSERT INTO ${schema}.approval_audit (position, scope, key, row_version, attempt, sealed)
      SELECT n + 1, '${scope}', 'r-' || n || '/00000001', 1, 'fill', ${short}
      FROM generate_series(0, ${count - 1}) AS n;
    INSERT INTO ${schema}.approval_feeds VALUES ('${scope}', ${count});
    INSERT INTO ${schema}.log (scope, key, row_version, attempt, run, revision, text)
      SELECT '${scope}', 'run-' || n || '/000000000001', 1, 'fill', 'run-' || n, 1, ${short}
      FROM generate_series(0, ${count - 1}) AS n;
    INSERT INTO ${schema}.runs
      (scope, key, row_version, attempt, definition, version, status, created_at, updated_at, sealed)
      SELECT '${scope}', 'run-' || n, 1, 'fill', 'refund', '1', 'interrupted', n, n, ${text}
      FROM generate_series(0, ${count - 1}) AS n;
    INSERT INTO ${schema}.approval_keys (scope, key, row_version, attempt, id, asked)
      SELECT '${scope}', 'key-of-r-' || n, 1, 'fill', 'r-' || n, 1
      FROM generate_series(0, ${count - 1}) AS n;
    INSERT INTO ${schema}.run_keys (scope, key, row_version, attempt, run_id)
      SELECT '${scope}', 'refund/' || n, 1, 'fill', 'run-' || n
      FROM generate_series(0, ${count - 1}) AS n;
    INSERT INTO ${schema}.snapshots (scope, key, row_version, attempt, revision, text)
      SELECT '${scope}', 'run-' || n, 1, 'fill', 1, ${short}
      FROM generate_series(0, ${count - 1}) AS n;
    INSERT INTO ${schema}.outbox
      (scope, key, row_version, attempt, state, due_at, tries, sealed)
      SELECT '${scope}', 'o-' || n, 1, 'fill', 'waiting', n, 0, ${short}
      FROM generate_series(0, ${count - 1}) AS n;
    INSERT INTO ${schema}.leases (scope, key, row_version, attempt, epoch, owner, until)
      SELECT '${scope}', 'session-' || n, 1, 'fill', 1, 'somebody', 1 FROM generate_series(0, ${count - 1}) AS n`);
}
