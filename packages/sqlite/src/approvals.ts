import type { ApprovalStore, StoredChange } from "@holdpoint/approvals";

import { approvalPage } from "./approval-list.ts";
import { ChangeFeed, lastPosition } from "./change-feed.ts";
import type { SqliteHandle } from "./handle.ts";
import type { SqliteHome } from "./home.ts";
import { homeOn, type SqliteOptions } from "./homes.ts";
import { readPage } from "./keyset-page.ts";
import { rowOf, selected, tables } from "./tables.ts";

/**
 * Approvals alone, on a handle of the caller's own, which stays the caller's to close. Ports on the same handle commit
 * together.
 *
 * @example
 * const store = sqliteApprovalStore(new DatabaseSync("approvals.db"));
 *
 * @throws SqliteStoreError `file-foreign`, `file-damaged`, `schema-newer`, `file-locked`, `option-invalid`, `store-unavailable`
 */
export function sqliteApprovalStore(handle: SqliteHandle, options?: SqliteOptions): ApprovalStore {
  return approvalsOn(homeOn(handle, options));
}

const [approvalColumns, keyColumns, auditColumns] = [
  selected(tables.approvals),
  selected(tables.approvalKeys),
  selected(tables.approvalAudit),
];

/** The statements that read, by what they are for; their query plans are tested by these names. */
export const approvalReads = {
  get: `SELECT ${approvalColumns} FROM approvals WHERE scope = :scope AND key = :id`,
  find: `SELECT ${keyColumns} FROM approvalKeys WHERE scope = :scope AND key = :requestKey`,
  // An id may hold a slash, so the entries of `a` are not all keys that begin with `a/`.
  history: `SELECT ${auditColumns} FROM approvalAudit
    WHERE scope = :scope AND key > :after AND key < :end AND instr(substr(key, :start), '/') = 0
    ORDER BY key LIMIT :limit`,
  changes: `SELECT position, ${auditColumns} FROM approvalAudit
    WHERE scope = :scope AND position > :after ORDER BY position LIMIT :limit`,
} as const;

export function approvalsOn(home: SqliteHome): ApprovalStore {
  const feed = new ChangeFeed(home);
  return {
    home,
    durable: home.durable,
    now: () => home.now(),
    commit: (attemptId, writes) => home.commit(attemptId, writes),
    get: (scope, id) =>
      home.read((statements) => {
        const raw = statements.row(approvalReads.get, { scope, id });
        return raw && rowOf(tables.approvals, raw);
      }),
    find: (scope, requestKey) =>
      home.read((statements) => {
        const raw = statements.row(approvalReads.find, { scope, requestKey });
        return raw && rowOf(tables.approvalKeys, raw);
      }),
    list: (scope, filter, page) =>
      home.read((statements) => readPage(statements, approvalPage(scope, filter, page))),
    history: (scope, id, after, limit) =>
      home.read((statements) =>
        statements
          .rows(approvalReads.history, { scope, limit, ...entriesOf(id, after) })
          .map((raw) => rowOf(tables.approvalAudit, raw)),
      ),
    changes: (scope, after, limit) =>
      home.read((statements) =>
        statements
          .rows(approvalReads.changes, { scope, after, limit })
          .map((raw): StoredChange => ({
            position: Number(raw["position"]),
            row: rowOf(tables.approvalAudit, raw),
          })),
      ),
    lastChange: (scope) => home.read((statements) => lastPosition(statements, scope)),
    wait: (scope, after, signal) => feed.wait(scope, after, signal),
  };
}

/** The range of the keys of a record's audit entries past a number: `<id>/<8 digits>`. */
function entriesOf(id: string, after: number) {
  return {
    after: `${id}/${String(after).padStart(8, "0")}`,
    end: `${id}/:`, // the character past the digits
    start: id.length + 2,
  };
}
