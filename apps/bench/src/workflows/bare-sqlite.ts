import { DatabaseSync } from "node:sqlite";

import type { Bare, Row } from "./floor.ts";

/** By hand on SQLite, as durable as ours: WAL, each commit synced. */
export function bareSqlite(file: string): Bare {
  const db = new DatabaseSync(file);
  db.exec(`PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;
    CREATE TABLE log (run TEXT, at INTEGER, sealed TEXT, PRIMARY KEY (run, at)) WITHOUT ROWID;
    CREATE TABLE audit (id TEXT PRIMARY KEY, sealed TEXT);
    CREATE TABLE approvals (id TEXT PRIMARY KEY, status TEXT, time INTEGER, sealed TEXT);
    CREATE TABLE runs (id TEXT PRIMARY KEY, status TEXT, time INTEGER, sealed TEXT);
    CREATE INDEX by_time ON runs (status, time, id)`);
  const put = (table: string) =>
    db.prepare(`INSERT INTO ${table} VALUES (?, ?, ?, ?) ON CONFLICT (id) DO UPDATE
      SET status = excluded.status, time = excluded.time, sealed = excluded.sealed`);
  const [begin, end] = [db.prepare("BEGIN IMMEDIATE"), db.prepare("COMMIT")];
  const append = db.prepare("INSERT INTO log VALUES (?, ?, ?)");
  const note = db.prepare("INSERT INTO audit VALUES (?, ?)");
  const puts = { approvals: put("approvals"), runs: put("runs") };
  const page = db.prepare(
    "SELECT sealed FROM runs WHERE status = 'waiting' ORDER BY time, id LIMIT ?",
  );
  const entries = db.prepare("SELECT sealed FROM log WHERE run = ? ORDER BY at");
  const approval = db.prepare("SELECT sealed FROM approvals WHERE id = ?");
  const runsOf = db.prepare("SELECT id, sealed FROM runs WHERE status = ?");
  const sealedOf = (rows: readonly Record<string, unknown>[]): readonly string[] =>
    rows.map(({ sealed }) => String(sealed));
  const all = (table: "approvals" | "runs", rows: readonly Row[] = []): void => {
    for (const { id, status, time, sealed } of rows) puts[table].run(id, status, time, sealed);
  };
  return {
    async commit({ log = [], approvals, audit = [], runs }) {
      begin.run();
      for (const { run, at, sealed } of log) append.run(run, at, sealed);
      for (const { id, sealed } of audit) note.run(id, sealed);
      all("approvals", approvals);
      all("runs", runs);
      end.run();
    },
    page: async (limit) => sealedOf(page.all(limit)),
    entries: async (run) => sealedOf(entries.all(run)),
    approval: async (id) => sealedOf(approval.all(id))[0]!,
    runsOf: async (status) =>
      runsOf.all(status).map(({ id, sealed }) => ({ id: String(id), sealed: String(sealed) })),
    close: async () => db.close(),
  };
}
