import { createHash } from "node:crypto";

import { Pool } from "pg";
import { afterAll, afterEach, expect, inject } from "vitest";

import type {} from "../../../scripts/postgres/global-setup.ts";
import { openPostgres, type PostgresOptions, type PostgresStore } from "../src/index.ts";

export const url = inject("postgresUrl");

/** A pool of the test file's own, to look behind a store. */
export const behind = new Pool({ connectionString: url, max: 4 });
behind.on("error", () => {}); // tests end connections

let made = 0;
const schemas: string[] = [];

/** The name of a schema of a test's own, which is not there yet; gone when the test ends. */
export function place(): string {
  const file = createHash("sha256")
    .update(expect.getState().testPath ?? "")
    .digest("hex");
  made += 1;
  const schema = `t${process.pid}_${file.slice(0, 10)}_${made}`;
  schemas.push(schema);
  return schema;
}

/** Ends the server's process of a connection, and waits until it is gone. */
export async function terminate(backend: number): Promise<void> {
  await behind.query("SELECT pg_terminate_backend($1, 5000)", [backend]);
}

const stores: PostgresStore[] = [];

/** A store in a schema, with a pool of its own; closed when the test ends. */
export async function opened(
  schema: string,
  options: PostgresOptions = {},
): Promise<PostgresStore> {
  const store = await openPostgres(url, { schema, ...options });
  stores.push(store);
  return store;
}

/**
 * A clock of the database that stands until it is moved: SQL for a store's `nowSql`. It is read as a clock is, at its moment, not
 * as of the beginning of the statement.
 */
export async function movedClock(schema: string, start = 1_000_000) {
  const clock = `${schema}_clock`;
  await behind.query(`CREATE TABLE ${clock} AS SELECT ${start}::bigint AS now;
    CREATE FUNCTION ${clock}_now() RETURNS bigint VOLATILE LANGUAGE plpgsql AS
      'BEGIN RETURN (SELECT ${clock}.now FROM public.${clock}); END'`);
  clocks.push(clock);
  return {
    nowSql: `public.${clock}_now()`,
    set: (to: number) => behind.query(`UPDATE ${clock} SET now = $1`, [to]),
    move: (ms: number) => behind.query(`UPDATE ${clock} SET now = now + $1`, [ms]),
  };
}

const clocks: string[] = [];

/** Makes an epoch the newest of a lease. */
export async function setEpoch(schema: string, name: string, epoch: number): Promise<void> {
  await behind.query(
    `INSERT INTO ${schema}.leases (scope, key, row_version, attempt, epoch, owner, until)
     VALUES ('acme', $1, 1, 'test', $2, 'somebody', 2000000)
     ON CONFLICT (scope, key) DO UPDATE SET epoch = excluded.epoch`,
    [name, epoch],
  );
}

afterEach(async () => {
  await Promise.all(stores.splice(0).map((store) => store.close()));
  for (const schema of schemas.splice(0)) {
    await behind.query(`DROP SCHEMA IF EXISTS ${schema} CASCADE`);
  }
  for (const clock of clocks.splice(0)) {
    await behind.query(`DROP TABLE ${clock}; DROP FUNCTION ${clock}_now()`);
  }
});

afterAll(() => behind.end());
