/** Runs that wait in a schema of a server: one is made as any other is, and its rows are copied under other names. */
import { openPostgres } from "@holdpoint/postgres";
import { Workflows } from "@holdpoint/workflows";
import { Pool } from "pg";

import { keyring, orders } from "./orders.ts";

/** What a copy is called after, by the run's and the approval's own ids. Seals are copied as they are: nobody opens those rows. */
const copied: Readonly<Record<string, readonly string[]>> = {
  approvals: ["key", "run_id", "request_key"],
  approval_keys: ["key", "id"],
  approval_audit: ["key"],
  log: ["key", "run"],
  runs: ["key"],
};

export interface FilledSchema {
  readonly desk: Workflows<readonly [typeof orders]>;
  /** Milliseconds of the first page of 50 waiting runs. */
  readonly page: () => Promise<number>;
  readonly close: () => Promise<void>;
}

export async function filledSchema(url: string, waiting: number): Promise<FilledSchema> {
  const schema = `waiting_${waiting}`;
  const pool = new Pool({ connectionString: url, max: 10 });
  const store = await openPostgres(pool, { schema });
  const desk = new Workflows({ store, definitions: [orders] as const, keyring });
  const { runId } = await desk.start("orders", { order: "copied" });
  const { waitsFor } = await desk.settled(runId);
  for (const [table, columns] of Object.entries(copied))
    await copy(pool, { schema, table, columns, ids: [runId, waitsFor[0]!.id], waiting });
  await pool.query("ANALYZE");
  return {
    desk,
    page: async () => {
      const began = performance.now();
      const page = { order: "oldest", limit: 50 } as const;
      await store.runs.list("default", { status: "interrupted" }, page);
      return performance.now() - began;
    },
    close: async () => {
      await store.close();
      await pool.query(`DROP SCHEMA ${schema} CASCADE`);
      await pool.end();
    },
  };
}

async function copy(
  pool: Pool,
  {
    schema,
    table,
    columns,
    ids,
    waiting,
  }: {
    readonly schema: string;
    readonly table: string;
    readonly columns: readonly string[];
    readonly ids: readonly string[];
    readonly waiting: number;
  },
): Promise<void> {
  const { rows } = await pool.query<{ name: string }>(
    `SELECT column_name AS name FROM information_schema.columns
     WHERE table_schema = $1 AND table_name = $2 AND is_generated = 'NEVER'`,
    [schema, table],
  );
  const names = rows.map(({ name }) => name);
  const [run = "", approval = ""] = ids;
  const values = names.map((name) => {
    if (name === "position") return "position + n * 1000";
    if (!columns.includes(name)) return name;
    const named = `replace(replace(${name}, '${run}', '${run}.' || n), '${approval}', '${approval}.' || n)`;
    return `CASE WHEN ${named} = ${name} THEN ${name} || '.' || n ELSE ${named} END`;
  });
  await pool.query(
    `INSERT INTO ${schema}.${table} (${names.join(", ")})
     SELECT ${values.join(", ")} FROM ${schema}.${table}, generate_series(1, ${waiting}) AS n`,
  );
}
