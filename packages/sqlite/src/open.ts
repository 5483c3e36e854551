import type { ApprovalStore, Committer, RowRemover } from "@holdpoint/approvals";
import type { RunLog } from "@holdpoint/flow";
import type { LeaseStore, OutboxStore, RunRegistry } from "@holdpoint/workflows";

import { approvalsOn } from "./approvals.ts";
import type { SqliteHandle } from "./handle.ts";
import { homeOf, type SqliteOptions } from "./homes.ts";
import { leasesOn } from "./leases.ts";
import { logOn } from "./log.ts";
import { outboxOn } from "./outbox.ts";
import { runsOn } from "./runs.ts";

/** Every port on one file: they have one `home`, so what they write commits together. */
export interface SqliteStore extends Committer {
  /** Whether it outlives the process: not where the database is in memory. */
  readonly durable: boolean;
  readonly approvals: ApprovalStore;
  readonly log: RunLog;
  readonly runs: RunRegistry;
  readonly leases: LeaseStore;
  readonly outbox: OutboxStore;
  /** Takes rows out of it; for `Retention` of the workflows. */
  readonly removal: RowRemover;
  /** Ends it and wakes who waits; a file that was opened by its path is closed, a caller's handle is not. */
  close(): void;
}

/**
 * Opens all stores on one SQLite file, made where there is none; safe for several processes on one machine, each with a
 * store of its own. `file` is a path, or an open `DatabaseSync` that this package may set up; `:memory:` is a store that
 * ends with itself, for tests.
 *
 * Opening blocks while another process makes or migrates the very file, 5 s at most; nothing else here blocks for longer
 * than a statement and 25 ms.
 *
 * @example
 * const store = openSqlite("desk.db");
 * const approvals = new DeferredApproval(store.approvals, { keyring });
 * const runner = new FlowRunner({ approvals, log: store.log, keyring });
 *
 * @throws SqliteStoreError `directory-missing`, `file-not-regular`, `file-not-writable`, `file-foreign`, `file-damaged`,
 *   `schema-newer`, `file-locked`, `option-invalid`; `store-unavailable` where the disk fails
 */
export function openSqlite(file: string | SqliteHandle, options: SqliteOptions = {}): SqliteStore {
  const home = homeOf(file, options);
  return {
    home,
    durable: home.durable,
    approvals: approvalsOn(home),
    log: logOn(home),
    runs: runsOn(home),
    leases: leasesOn(home),
    outbox: outboxOn(home),
    removal: home,
    now: () => home.now(),
    commit: (attemptId, writes) => home.commit(attemptId, writes),
    close: () => home.close(),
  };
}
