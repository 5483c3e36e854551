import type { ApprovalStore, Row, StoredChange } from "@holdpoint/approvals";

import { approvalPage } from "./approval-list.ts";
import { ChangeFeed, lastPosition } from "./change-feed.ts";
import type { PostgresHome } from "./home.ts";
import { homeOn, type PostgresOptions } from "./homes.ts";
import { readPage } from "./keyset-page.ts";
import type { PostgresPool } from "./pool.ts";
import { integerOf, rowOf, selected, tables, type RawRow, type Table } from "./tables.ts";

/**
 * Approvals alone, on a pool of the caller's own, which stays the caller's to end. Ports on the same pool and schema commit
 * together.
 *
 * @example
 * const store = await postgresApprovalStore(new Pool({ connectionString }));
 *
 * @throws PostgresStoreError `schema-foreign`, `schema-newer`, `database-encoding`, `option-invalid`, `store-unavailable`
 */
export async function postgresApprovalStore(
  pool: PostgresPool,
  options?: PostgresOptions,
): Promise<ApprovalStore> {
  return approvalsOn(await homeOn(pool, options));
}

const [approvalColumns, keyColumns, auditColumns] = [
  selected(tables.approvals),
  selected(tables.approvalKeys),
  selected(tables.approvalAudit),
];

/** The statements that read, by what they are for; their query plans are tested by these names. */
export const approvalReads = {
  get: `SELECT ${approvalColumns} FROM {approvals} WHERE scope = :scope AND key = :id`,
  find: `SELECT ${keyColumns} FROM {approval_keys} WHERE scope = :scope AND key = :requestKey`,
  getNow: `SELECT {now} AS now, found.* FROM (SELECT) AS one LEFT JOIN LATERAL (
      SELECT ${approvalColumns} FROM {approvals} WHERE scope = :scope AND key = :id
    ) AS found ON true`,
  findNow: `SELECT {now} AS now, place, found.* FROM unnest(:requestKeys::text[]) WITH ORDINALITY AS wanted (name, place)
    LEFT JOIN LATERAL (
      SELECT ${keyColumns} FROM {approval_keys} WHERE scope = :scope AND key = wanted.name LIMIT 1
    ) AS found ON true`,
  // An id may hold a slash, so the entries of `a` are not all keys that begin with `a/`.
  history: `SELECT ${auditColumns} FROM {approval_audit}
    WHERE scope = :scope AND key > :after AND key < :end AND strpos(substr(key, :start), '/') = 0
    ORDER BY key LIMIT :limit`,
  changes: `SELECT position, ${auditColumns} FROM {approval_audit}
    WHERE scope = :scope AND position > :after ORDER BY position LIMIT :limit`,
} as const;

export function approvalsOn(home: PostgresHome): ApprovalStore {
  const feed = new ChangeFeed(home);
  return {
    home,
    durable: true,
    now: () => home.now(),
    commit: (attemptId, writes) => home.commit(attemptId, writes),
    async get(scope, id) {
      const raw = await home.row(approvalReads.get, { scope, id });
      return raw && rowOf(tables.approvals, raw);
    },
    async find(scope, requestKey) {
      const raw = await home.row(approvalReads.find, { scope, requestKey });
      return raw && rowOf(tables.approvalKeys, raw);
    },
    async getNow(scope, id) {
      const raw = (await home.row(approvalReads.getNow, { scope, id })) ?? {};
      return { found: foundOf(tables.approvals, raw), now: integerOf(raw["now"]) };
    },
    async findNow(scope, requestKeys) {
      const rows = await home.rows(approvalReads.findNow, { scope, requestKeys });
      const inPlace = rows.toSorted((a, b) => integerOf(a["place"]) - integerOf(b["place"]));
      const found = inPlace.map((raw) => foundOf(tables.approvalKeys, raw));
      return { found, now: integerOf(rows[0]?.["now"]) };
    },
    list: (scope, filter, page) => readPage(home, approvalPage(scope, filter, page)),
    async history(scope, id, after, limit) {
      const binds = { scope, limit, ...entriesOf(id, after) };
      const rows = await home.rows(approvalReads.history, binds);
      return rows.map((raw) => rowOf(tables.approvalAudit, raw));
    },
    async changes(scope, after, limit) {
      const rows = await home.rows(approvalReads.changes, { scope, after, limit });
      return rows.map((raw): StoredChange => ({
        position: integerOf(raw["position"]),
        row: rowOf(tables.approvalAudit, raw),
      }));
    },
    lastChange: (scope) => lastPosition(home, scope),
    wait: (scope, after, signal) => feed.wait(scope, after, signal),
  };
}

/** What stands beside the time, if anything does. */
function foundOf(table: Table, raw: RawRow): Row | undefined {
  return raw["key"] === null ? undefined : rowOf(table, raw);
}

/** The range of the keys of a record's audit entries past a number: `<id>/<8 digits>`. */
function entriesOf(id: string, after: number) {
  return {
    after: `${id}/${String(after).padStart(8, "0")}`,
    end: `${id}/:`, // the character past the digits
    start: id.length + 2,
  };
}
