import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";

import type { Committer, ApprovalStore } from "@holdpoint/approvals";
import type { RunLog } from "@holdpoint/flow";
import { openPostgres } from "@holdpoint/postgres";
import { openSqlite } from "@holdpoint/sqlite";
import { Pool } from "pg";

/** What the floor writes by hand: rows of a log, and one record that is put, and put again. */
export interface Rows {
  readonly log: readonly (readonly [run: string, rev: number, text: string])[];
  readonly record?: readonly [id: string, text: string];
}

/** One kind of store under measure: ours, and its tables by hand on the same settings. */
export interface Bed {
  readonly name: string;
  readonly store: Committer & { readonly approvals: ApprovalStore; readonly log: RunLog };
  /** One commit. */
  commit(rows: Rows): void | Promise<void>;
  read(run: string): readonly string[] | Promise<readonly string[]>;
  /** Bytes that were written so far, by whoever writes for it. */
  written(): number | Promise<number>;
  close(): Promise<void>;
}

/** Both files in WAL mode with `synchronous=FULL`. */
export function sqliteBed(within = tmpdir()): Promise<Bed> {
  const folder = mkdtempSync(join(within, "holdpoint-bench-"));
  const store = openSqlite(join(folder, "own.db"));
  const hand = new DatabaseSync(join(folder, "hand.db"));
  hand.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL");
  hand.exec("CREATE TABLE log (run TEXT, rev INTEGER, text TEXT, PRIMARY KEY (run, rev))");
  hand.exec("CREATE TABLE records (id TEXT PRIMARY KEY, text TEXT)");
  const append = hand.prepare("INSERT INTO log VALUES (?, ?, ?)");
  const put = hand.prepare("INSERT OR REPLACE INTO records VALUES (?, ?)");
  const all = hand.prepare("SELECT text FROM log WHERE run = ? ORDER BY rev");
  return Promise.resolve({
    name: "SQLite, WAL with synchronous=FULL",
    store,
    commit({ log, record }) {
      hand.exec("BEGIN IMMEDIATE");
      for (const row of log) append.run(...row);
      if (record !== undefined) put.run(...record);
      hand.exec("COMMIT");
    },
    read: (run) => all.all(run).map((row) => String(row["text"])),
    // All that this process hands to the system; nothing else of it writes meanwhile.
    written: () => Number(/wchar: (\d+)/.exec(readFileSync("/proc/self/io", "utf8"))?.[1]),
    async close() {
      hand.close();
      store.close();
      rmSync(folder, { recursive: true });
      return Promise.resolve();
    },
  });
}

/** A database of a server that syncs; each commit is one statement. */
export async function postgresBed(url: string): Promise<Bed> {
  const store = await openPostgres(url, { schema: "own" });
  const hand = new Pool({ connectionString: url });
  await hand.query(
    "CREATE TABLE IF NOT EXISTS log (run text, rev int, text text, PRIMARY KEY (run, rev))",
  );
  await hand.query("CREATE TABLE IF NOT EXISTS records (id text PRIMARY KEY, text text)");
  const append =
    "INSERT INTO log SELECT * FROM unnest($1::text[], $2::int[], $3::text[]) AS e(run, rev, text)";
  const put = "INSERT INTO records VALUES ($4, $5) ON CONFLICT (id) DO UPDATE SET text = $5";
  return {
    name: "Postgres, a server that syncs",
    store,
    async commit({ log, record }) {
      const columns = [0, 1, 2].map((column) => log.map((row) => row[column]));
      await (record === undefined
        ? hand.query({ name: "append", text: append, values: columns })
        : hand.query({
            name: "both",
            text: `WITH put AS (${put}) ${append}`,
            values: [...columns, ...record],
          }));
    },
    async read(run) {
      const text = "SELECT text FROM log WHERE run = $1 ORDER BY rev";
      const { rows } = await hand.query<{ text: string }>({ name: "read", text, values: [run] });
      return rows.map((row) => row.text);
    },
    async written() {
      const { rows } = await hand.query<{ bytes: string }>(
        "SELECT pg_current_wal_insert_lsn() - '0/0'::pg_lsn AS bytes",
      );
      return Number(rows[0]!.bytes);
    },
    async close() {
      await store.close();
      await hand.end();
    },
  };
}
