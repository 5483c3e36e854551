/** A whole store, with something around each call of its driver: a file, or a schema of a server. */
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";

import { openPostgres, type PostgresStore } from "@holdpoint/postgres";
import { openSqlite, type SqliteStore } from "@holdpoint/sqlite";
import { struckHandle, type Strike } from "@holdpoint/testing";
import { Pool } from "pg";

import type { Place } from "./places.ts";

interface House {
  readonly store: SqliteStore | PostgresStore;
  /** What holds one row for each run that is left. */
  readonly tables: readonly string[];
  readonly count: (table: string) => Promise<number>;
  /** What a store that was opened looks like. */
  readonly state: () => Promise<string>;
  readonly close: () => Promise<void>;
}

export function housed({ folder, postgres }: Place, strike: Strike): Promise<House> {
  return postgres === undefined
    ? Promise.resolve(onFile(join(folder, "house.db"), strike))
    : onServer(postgres, strike);
}

function onFile(path: string, strike: Strike): House {
  const real = new DatabaseSync(path);
  const store = openSqlite(struckHandle(real, strike));
  const number = (sql: string): number => Number(real.prepare(sql).get()?.["n"]);
  return {
    store,
    tables: ["approvals", "approvalKeys", "runs", "runKeys"],
    count: async (table) => number(`SELECT count(*) AS n FROM ${table}`),
    state: async () => {
      const check = real.prepare("PRAGMA integrity_check").get();
      return JSON.stringify({ ...check, n: number("SELECT count(*) AS n FROM sqlite_schema") });
    },
    close: async () => {
      store.close();
      real.close();
    },
  };
}

async function onServer(
  { url, schema }: NonNullable<Place["postgres"]>,
  strike: Strike,
): Promise<House> {
  const pool = new Pool({ connectionString: url, max: 2 });
  pool.on("error", () => {}); // the statement that runs meets it
  const struck = {
    connect: async () => {
      const client = await pool.connect();
      return {
        query: async (query: { readonly text: string; readonly values: unknown[] }) => {
          const sql = /^\s*BEGIN/.test(query.text) ? "BEGIN IMMEDIATE" : query.text;
          strike.before(sql, []);
          const result = await client.query(query);
          strike.after(sql);
          return result;
        },
        release: (broken?: Error) => client.release(broken),
        on: client.on.bind(client),
        removeListener: client.removeListener.bind(client),
      };
    },
  };
  const store = await openPostgres(struck, { schema });
  const number = async (sql: string): Promise<number> =>
    Number((await pool.query<{ n: string }>(sql)).rows[0]?.n);
  return {
    store,
    tables: ["approvals", "approval_keys", "runs", "run_keys"],
    count: (table) => number(`SELECT count(*) AS n FROM ${schema}.${table}`),
    state: async () => {
      const objects = `SELECT count(*) AS n FROM pg_class WHERE relnamespace = '${schema}'::regnamespace`;
      const version = await number(`SELECT version AS n FROM ${schema}.schema_version`);
      return JSON.stringify({ version, objects: await number(objects) });
    },
    close: async () => {
      await store.close();
      await pool.end();
    },
  };
}
