import { readFileSync } from "node:fs";

import { isApprovalError } from "@holdpoint/approvals";
import { expect, it } from "vitest";

import { openSqlite, type SqliteStore } from "../src/index.ts";
import { driverError, watchedHandle } from "./broken-handle.ts";
import { place } from "./place.ts";
import { append, entry, move, put, scope } from "./record-writes.ts";

const rows = [
  { table: "approvals", key: "a" },
  { table: "approvalAudit", key: append("a", 1).key },
  { table: "log", key: entry(1, "one").key },
  { table: "runs", key: "run-1" },
];
const standing = { table: "runs", key: "run-1", version: 1 };

async function filled(store: SqliteStore): Promise<SqliteStore> {
  await store.commit("fill", [
    put("a", 0),
    append("a", 1),
    entry(1, "one"),
    move("run-1", 0),
    put("b", 0),
    append("b", 1),
    entry(1, "other", "run-10"),
    move("run-10", 0),
  ]);
  return store;
}

/** How much is kept of what was filled in, and of the others'. */
async function kept({ approvals, log, runs }: SqliteStore) {
  const records = await approvals.list(scope, {}, { order: "oldest", limit: 10 });
  const changes = await approvals.changes(scope, 0, 10);
  const found = await runs.list(scope, {}, { order: "oldest", limit: 10 });
  const heads = await Promise.all(["run-1", "run-10"].map((run) => log.head(scope, run)));
  return [records.length, changes.length, found.length, ...heads];
}

const all = [2, 2, 2, 1, 1];
const others = [1, 1, 1, 0, 1];

it("STORE-09 takes rows out, all of them, no others, and again without harm", async () => {
  const store = await filled(openSqlite(place()()));
  expect(await store.removal.remove({ scope, rows, standing })).toBe(true);
  expect(await kept(store)).toEqual(others);
  expect(await store.removal.remove({ scope, rows, standing })).toBe(true);
  expect(await store.removal.remove({ scope: "other", rows })).toBe(true);
  expect(await kept(store)).toEqual(others);
  store.close();
});

it("STORE-09 takes nothing out once what has to stand has moved on", async () => {
  const store = await filled(openSqlite(place()()));
  await store.commit("moves", [move("run-1", 1)]);
  expect(await store.removal.remove({ scope, rows, standing })).toBe(false);
  expect(await kept(store)).toEqual(all);
  store.close();
});

it("STORE-09 STORE-08 refuses tables, keys and numbers that it does not know", async () => {
  const store = await filled(openSqlite(place()()));
  const wrong = [
    { scope, rows: [{ table: "leases; DROP TABLE log", key: "a" }] },
    { scope, rows: [{ table: "sqlite_schema", key: "a" }] },
    { scope, rows: [{ table: "log", key: "' OR 1=1 --" }] },
    { scope: "", rows },
    { scope, rows: Array.from({ length: 1_001 }, () => rows[0]!) },
    { scope, rows, standing: { ...standing, table: "constructor" } },
  ];
  for (const removal of wrong) {
    const refused = await store.removal.remove(removal).catch((error: unknown) => error);
    expect(isApprovalError(refused, "write-invalid")).toBe(true);
  }
  expect(await kept(store)).toEqual(all);
  store.close();
});

it("STORE-07 STORE-09 that fails at any call of the driver has taken out all or nothing, and works again", async () => {
  for (let number = 1; ; number += 1) {
    const path = place()();
    const handle = watchedHandle(path);
    const store = await filled(openSqlite(handle));
    handle.reset((call) =>
      call.number === number
        ? { when: number % 2 === 0 ? "after" : "instead", error: driverError(10, "disk I/O error") }
        : undefined,
    );
    const outcome = await store.removal.remove({ scope, rows, standing }).catch((e: unknown) => e);
    const calls = handle.calls.length;
    handle.reset();
    expect([all, others]).toContainEqual(await kept(store));
    if (outcome === true) break; // there was no such call
    expect(isApprovalError(outcome, "store-unavailable")).toBe(true);
    expect(await store.removal.remove({ scope, rows, standing })).toBe(true);
    expect(await kept(store)).toEqual(others);
    expect(calls).toBeGreaterThanOrEqual(number);
    handle.end();
  }
});

it("STORE-09 leaves no text of what was taken out in the file, once it is rewritten", async () => {
  const path = place()();
  const handle = watchedHandle(path);
  const store = openSqlite(handle);
  await store.commit("fill", [
    entry(1, "a secret of somebody who wants to be forgotten"),
    move("run-1", 0),
  ]);
  await store.removal.remove({ scope, rows: [{ table: "log", key: entry(1, "one").key }] });
  handle.exec("VACUUM");
  handle.exec("PRAGMA wal_checkpoint(TRUNCATE)");
  handle.end();
  expect(readFileSync(path, "latin1")).not.toContain("wants to be forgotten");
});
