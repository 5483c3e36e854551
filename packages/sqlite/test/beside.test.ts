// What others do to a file while it is written: a reader that takes its time, a backup, a rewriting of it.
import { statSync } from "node:fs";
import { backup, DatabaseSync } from "node:sqlite";

import { describe, expect, it } from "vitest";

import { openSqlite, type SqliteStore } from "../src/index.ts";
import { place } from "./place.ts";
import { put, scope } from "./record-writes.ts";

const sealed = "s".repeat(1_000);

async function committed(store: SqliteStore, from: number, count: number): Promise<void> {
  for (let at = from; at < from + count; at += 1)
    await store.commit(`c-${at}`, [put(`r-${at}`, 0, { values: { sealed } })]);
}

describe("a file that others use while it is written", () => {
  it("STORE-03 R095 is written on beside a long reader, and its log grows no more once that has ended", async () => {
    const path = place()();
    const store = openSqlite(path);
    const log = (): number => statSync(`${path}-wal`).size;
    await committed(store, 0, 400);
    const alone = log();
    const reader = new DatabaseSync(path, { readOnly: true });
    reader.exec("BEGIN");
    const seen = () => Number(reader.prepare("SELECT count(*) AS n FROM approvals").get()!["n"]);
    expect(seen()).toBe(400);
    await committed(store, 400, 400);
    expect(seen()).toBe(400); // a reader's own moment, which keeps the log from being begun anew
    const beside = log();
    expect(beside).toBeGreaterThan(alone);
    reader.exec("COMMIT");
    await committed(store, 800, 800);
    expect(log()).toBeLessThan(beside * 1.2);
    const rewriting = new DatabaseSync(path);
    rewriting.exec("VACUUM");
    rewriting.close();
    await committed(store, 1_600, 1);
    expect(seen()).toBe(1_601);
    reader.close();
    store.close();
  });

  it("STORE-12 R091 is backed up while it is written, and the copy opens with all that stood when it began", async () => {
    const at = place();
    const store = openSqlite(at());
    await committed(store, 0, 200);
    const handle = new DatabaseSync(at());
    const writing = committed(store, 200, 200);
    await backup(handle, at("copy.db"), { rate: 5 });
    await writing;
    handle.close();
    const copy = openSqlite(at("copy.db"));
    for (let number = 0; number < 200; number += 1)
      expect((await copy.approvals.get(scope, `r-${number}`))?.version).toBe(1);
    const rows = await copy.approvals.list(scope, {}, { order: "oldest", limit: 500 });
    for (const { key } of rows) expect(await store.approvals.get(scope, key)).toBeDefined();
    expect(await copy.commit("on", [put("new", 0)])).toMatchObject({ status: "done" });
    copy.close();
    store.close();
  });
});
