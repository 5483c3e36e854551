import { Pool } from "pg";

import type { Bare, Row } from "./floor.ts";

const sql = {
  commit: `WITH l AS (INSERT INTO log SELECT * FROM unnest($1::text[], $2::int[], $3::text[])),
    n AS (INSERT INTO audit SELECT * FROM unnest($4::text[], $5::text[])),
    a AS (INSERT INTO approvals SELECT * FROM unnest($6::text[], $7::text[], $8::bigint[], $9::text[])
      ON CONFLICT (id) DO UPDATE SET status = excluded.status, time = excluded.time, sealed = excluded.sealed)
    INSERT INTO runs SELECT * FROM unnest($10::text[], $11::text[], $12::bigint[], $13::text[])
      ON CONFLICT (id) DO UPDATE SET status = excluded.status, time = excluded.time, sealed = excluded.sealed`,
  page: "SELECT sealed FROM runs WHERE status = 'waiting' ORDER BY time, id LIMIT $1",
  entries: "SELECT sealed FROM log WHERE run = $1 ORDER BY at",
  approval: "SELECT sealed FROM approvals WHERE id = $1",
  runsOf: "SELECT id, sealed FROM runs WHERE status = $1",
} as const;

/** By hand on Postgres: a list of writes is one statement. */
export async function barePostgres(url: string, schema: string): Promise<Bare> {
  const pool = new Pool({ connectionString: url, options: `-c search_path=${schema}` });
  await pool.query(`CREATE SCHEMA ${schema};
    CREATE TABLE log (run text COLLATE "C", at int, sealed text, PRIMARY KEY (run, at));
    CREATE TABLE audit (id text COLLATE "C" PRIMARY KEY, sealed text);
    CREATE TABLE approvals (id text COLLATE "C" PRIMARY KEY, status text, time bigint, sealed text);
    CREATE TABLE runs (id text COLLATE "C" PRIMARY KEY, status text, time bigint, sealed text);
    CREATE INDEX by_time ON runs (status, time, id)`);
  const ask = async (name: keyof typeof sql, values: unknown[]) => {
    const { rows } = await pool.query<{ id: string; sealed: string }>({
      name,
      text: sql[name],
      values,
    });
    return rows;
  };
  const sealedOf = (rows: readonly { readonly sealed: string }[]) =>
    rows.map(({ sealed }) => sealed);
  const columns = (rows: readonly Row[] = []) => [
    rows.map(({ id }) => id),
    rows.map(({ status }) => status),
    rows.map(({ time }) => time),
    rows.map(({ sealed }) => sealed),
  ];
  return {
    async commit({ log = [], audit = [], approvals, runs }) {
      await ask("commit", [
        log.map(({ run }) => run),
        log.map(({ at }) => at),
        log.map(({ sealed }) => sealed),
        audit.map(({ id }) => id),
        audit.map(({ sealed }) => sealed),
        ...columns(approvals),
        ...columns(runs),
      ]);
    },
    page: async (limit) => sealedOf(await ask("page", [limit])),
    entries: async (run) => sealedOf(await ask("entries", [run])),
    approval: async (id) => sealedOf(await ask("approval", [id]))[0]!,
    runsOf: (status) => ask("runsOf", [status]),
    close: () => pool.end(),
  };
}
