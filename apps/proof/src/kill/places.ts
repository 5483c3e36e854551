/**
 * Where runs are kept, in a process that may die: files, a schema of a server, or both. Each way of keeping them can be killed
 * inside a commit: a file after the last statement of it, before `COMMIT`; a server while it has the statement that commits,
 * and nobody has its answer (whether it stands then is the server's to say), or, in a transaction, before `COMMIT`.
 */
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";

import type { ApprovalStore, Clock } from "@holdpoint/approvals";
import type { RunLog } from "@holdpoint/flow";
import { openPostgres, type PostgresClient, type PostgresPool } from "@holdpoint/postgres";
import { openSqlite } from "@holdpoint/sqlite";
import { struckHandle, type Strike } from "@holdpoint/testing";
import type { LeaseStore, OutboxStore, RunRegistry } from "@holdpoint/workflows";
import { Pool } from "pg";

import type { Dying } from "./dying.ts";

/** One file, three files, one schema, or approvals in a file and the rest in a schema. */
export type Layout = "sqlite" | "sqlite-apart" | "postgres" | "mixed";

export interface Place {
  readonly folder: string;
  readonly layout: Layout;
  /** Where there is a server in it. */
  readonly postgres?: { readonly url: string; readonly schema: string };
}

export interface Stores {
  readonly approvals: ApprovalStore;
  readonly log: RunLog;
  readonly runs: RunRegistry;
  readonly leases: LeaseStore;
  readonly outbox: OutboxStore;
  /** Moves every store's time on. */
  readonly advance: (ms: number) => Promise<void>;
  readonly close: () => Promise<void>;
}

/** `ms`: how far the stores' time is ahead of the machine's. */
export async function openedAt(place: Place, dying: Dying, ms: number): Promise<Stores> {
  const ahead = { ms };
  const file = (name: string) => openedFile(join(place.folder, name), dying, ahead);
  const server = place.postgres && (await openedSchema(place.postgres, dying, ms));
  const [approvals, log, runs] = {
    sqlite: () => threeOf(file("all.db")),
    "sqlite-apart": () => ["approvals.db", "log.db", "runs.db"].map(file),
    postgres: () => [server, server, server],
    mixed: () => [file("approvals.db"), server, server],
  }[place.layout]();
  if (approvals === undefined || log === undefined || runs === undefined)
    throw new Error(`there is no server for ${place.layout}`);
  return {
    approvals: approvals.approvals,
    log: log.log,
    runs: runs.runs,
    leases: runs.leases,
    outbox: runs.outbox,
    advance: async (by) => {
      ahead.ms += by;
      await server?.advance(by);
    },
    close: async () => {
      await Promise.all([...new Set([approvals, log, runs])].map((each) => each.close()));
    },
  };
}

function threeOf<T>(one: T): readonly T[] {
  return [one, one, one];
}

function openedFile(path: string, dying: Dying, ahead: { readonly ms: number }) {
  let isInside = false;
  const strike: Strike = {
    before: (sql, binds) => {
      if (sql.startsWith("BEGIN")) isInside = false;
      isInside ||= dying.isInside(binds);
      if (sql === "COMMIT" && isInside) dying.die();
      dying.strike.before(sql, binds);
    },
    after: (sql) => dying.strike.after(sql),
  };
  const clock: Clock = { ...real, now: () => Date.now() + ahead.ms };
  const handle = new DatabaseSync(path);
  const store = openSqlite(struckHandle(handle, strike), { clock });
  return {
    ...store,
    close: async (): Promise<void> => {
      store.close();
      handle.close();
    },
  };
}

const real: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  timer(delayMs, fire) {
    const handle = setTimeout(fire, delayMs);
    return () => clearTimeout(handle);
  },
};

async function openedSchema(
  { url, schema }: NonNullable<Place["postgres"]>,
  dying: Dying,
  ms: number,
) {
  const pool = new Pool({ connectionString: url, max: 4 });
  pool.on("error", () => {}); // the statement that runs meets it
  await pool.query(`UPDATE ${clockOf(schema)} SET ms = $1`, [ms]);
  const store = await openPostgres(dyingPool(pool, dying), {
    schema,
    nowSql: `${clockOf(schema)}_now()`,
  });
  return {
    ...store,
    advance: (by: number) => pool.query(`UPDATE ${clockOf(schema)} SET ms = ms + $1`, [by]),
    close: async () => {
      await store.close();
      await pool.end();
    },
  };
}

function clockOf(schema: string): string {
  return `public.${schema}_clock`;
}

/** SQL that makes the clock of a schema that is not there yet. */
export function clockSql(schema: string): string {
  return `CREATE TABLE ${clockOf(schema)} AS SELECT 0::bigint AS ms;
    CREATE FUNCTION ${clockOf(schema)}_now() RETURNS bigint VOLATILE LANGUAGE plpgsql AS
      'BEGIN RETURN (SELECT floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint + ms
                     FROM ${clockOf(schema)}); END'`;
}

/** SQL that takes a schema away with its clock. */
export function droppedSql(schema: string): string {
  return `DROP SCHEMA IF EXISTS ${schema} CASCADE; DROP TABLE ${clockOf(schema)};
    DROP FUNCTION ${clockOf(schema)}_now()`;
}

function dyingPool(pool: Pool, dying: Dying): PostgresPool {
  return {
    options: { max: 4 },
    async connect(): Promise<PostgresClient> {
      const client = await pool.connect();
      return {
        query(query) {
          const { inside } = dying;
          if (inside === undefined) return client.query(query);
          if (/^\s*BEGIN/.test(query.text)) inside.begun = true;
          if (inside.begun && query.text === "COMMIT") dying.die();
          if (inside.begun) return client.query(query);
          void client.query(query); // sent, and its answer is heard by nobody
          setImmediate(() => dying.die());
          return new Promise(() => {});
        },
        release: (broken) => client.release(broken),
        on: client.on.bind(client),
        removeListener: client.removeListener.bind(client),
      };
    },
  };
}
