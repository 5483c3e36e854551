import type { ApprovalStore, Committer, RowRemover } from "@holdpoint/approvals";
import type { RunLog } from "@holdpoint/flow";
import type { LeaseStore, OutboxStore, RunRegistry } from "@holdpoint/workflows";
import { Pool } from "pg";

import { approvalsOn } from "./approvals.ts";
import { PostgresStoreError } from "./errors.ts";
import type { PostgresHome } from "./home.ts";
import { homeOfOwn, homeOn, type PostgresOptions } from "./homes.ts";
import { leasesOn } from "./leases.ts";
import { limits } from "./limits.ts";
import { logOn } from "./log.ts";
import { outboxOn } from "./outbox.ts";
import type { PostgresPool } from "./pool.ts";
import { runsOn } from "./runs.ts";

/** Every port on one schema: they have one `home`, so what they write commits together. */
export interface PostgresStore extends Committer {
  readonly durable: boolean;
  readonly approvals: ApprovalStore;
  readonly log: RunLog;
  readonly runs: RunRegistry;
  readonly leases: LeaseStore;
  readonly outbox: OutboxStore;
  /** Takes rows out of it; for `Retention` of the workflows. */
  readonly removal: RowRemover;
  /** Ends it and wakes who waits; a pool that was made for it is ended, a caller's is not. */
  close(): Promise<void>;
}

/**
 * Opens all stores in one schema of a Postgres database, made where there is none; safe for any number of processes, each with
 * a store of its own. `database` is a URL, for which a pool of ten connections is made, or a `Pool` of `pg` of your own.
 *
 * @example
 * const store = await openPostgres("postgres://desk@db.example/desk");
 * const approvals = new DeferredApproval(store.approvals, { keyring });
 * const runner = new FlowRunner({ approvals, log: store.log, keyring });
 *
 * @throws PostgresStoreError `schema-foreign`, `schema-newer`, `database-encoding`, `option-invalid`; `store-unavailable` where
 *   the database can't be reached, or this role may not make the schema
 */
export async function openPostgres(
  database: string | PostgresPool,
  options: PostgresOptions = {},
): Promise<PostgresStore> {
  const home =
    typeof database === "string"
      ? await homeAt(database, options)
      : await homeOn(database, options);
  return {
    home,
    durable: true,
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

async function homeAt(url: string, options: PostgresOptions): Promise<PostgresHome> {
  if (!/^postgres(ql)?:/.test(url) || !URL.canParse(url)) {
    // Said without the URL, which may hold a password.
    throw new PostgresStoreError("option-invalid", "the URL is none of a Postgres database");
  }
  const pool = new Pool({
    connectionString: url,
    max: limits.connectionsDefault,
    connectionTimeoutMillis: limits.connectMs,
    application_name: "holdpoint",
    keepAlive: true,
    allowExitOnIdle: true, // what nobody uses keeps no process alive
  });
  pool.on("error", () => {}); // of a connection that is not on loan: the pool has closed it, and makes another
  return homeOfOwn(pool, options, () => pool.end());
}
