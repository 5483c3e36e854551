import { copyFileSync, mkdirSync, readFileSync, truncateSync, writeFileSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";

import { describe, expect, it } from "vitest";

import { isSqliteError, openSqlite, sqliteApprovalStore, sqliteRunLog } from "../src/index.ts";
import { limits } from "../src/limits.ts";
import { movedClock, place } from "./place.ts";
import { append, put, scope } from "./record-writes.ts";

const pragma = (handle: DatabaseSync, name: string): unknown =>
  Object.values(handle.prepare(`PRAGMA ${name}`).get() ?? {})[0];

describe("an opened file", () => {
  it("STORE-03 STORE-14 R024 R092 is set up at every opening, also of a handle that was set otherwise", () => {
    const path = place()();
    openSqlite(path).close();
    for (let round = 1; round <= 2; round += 1) {
      const handle = new DatabaseSync(path, { enableForeignKeyConstraints: false, timeout: 9_000 });
      handle.exec("PRAGMA synchronous = OFF; PRAGMA trusted_schema = ON");
      openSqlite(handle);
      expect(pragma(handle, "journal_mode")).toBe("wal");
      expect(pragma(handle, "synchronous")).toBe(2);
      expect(pragma(handle, "foreign_keys")).toBe(1);
      expect(pragma(handle, "trusted_schema")).toBe(0);
      expect(pragma(handle, "busy_timeout")).toBe(limits.busyTimeoutMs);
      expect(limits.busyTimeoutMs).toBeLessThanOrEqual(50);
      handle.close();
    }
  });

  it("STORE-05 is one home for every port on a handle, and commits them together", async () => {
    const handle = new DatabaseSync(place()());
    const approvals = sqliteApprovalStore(handle);
    const log = sqliteRunLog(handle);
    const store = openSqlite(handle);
    expect(new Set([approvals.home, log.home, store.home, store.runs.home]).size).toBe(1);
    expect(openSqlite(":memory:").home).not.toBe(store.home);
    const entry = {
      statement: "log.append",
      scope,
      key: "run-1/000000000001",
      expect: 0,
      values: { run: "run-1", revision: 1, text: "sealed" },
    };
    const refused = await log.commit("one", [entry, put("a", 1)]);
    expect(refused).toMatchObject({ status: "refused", write: 1 });
    expect(await log.head(scope, "run-1")).toBe(0);
    expect((await log.commit("two", [entry, put("a", 0)])).status).toBe("done");
    expect(await log.head(scope, "run-1")).toBe(1);
    expect((await approvals.get(scope, "a"))?.version).toBe(1);
    store.close();
    expect(handle.isOpen).toBe(true);
    handle.close();
  });

  it("STORE-15 tells the time of the clock that was passed in, and keeps one clock a handle", async () => {
    const clock = movedClock(5_000);
    const handle = new DatabaseSync(":memory:");
    const store = openSqlite(handle, { clock });
    clock.move(7);
    expect(await Promise.all([store.now(), store.approvals.now(), store.log.now()])).toEqual([
      5_007, 5_007, 5_007,
    ]);
    expect(() => sqliteRunLog(handle, { clock: movedClock() })).toThrow(
      expect.objectContaining({ code: "option-invalid" }),
    );
    expect(sqliteRunLog(handle).home).toBe(store.home);
    const machine = await openSqlite(":memory:").now();
    expect(Math.abs(machine - Date.now())).toBeLessThan(5_000);
  });

  it("STORE-12 says whether it outlives the process", () => {
    expect(openSqlite(":memory:").durable).toBe(false);
    const store = openSqlite(place()());
    expect([store.durable, store.approvals.durable, store.log.durable]).toEqual([true, true, true]);
    store.close();
  });
});

describe("a path that is no store", () => {
  const cases: readonly (readonly [string, string, (path: string) => string])[] = [
    [
      "text",
      "file-foreign",
      (path) => (writeFileSync(path, "a text, no database".repeat(99)), path),
    ],
    ["one byte", "file-foreign", (path) => (writeFileSync(path, "x"), path)],
    ["a folder", "file-not-regular", (path) => (mkdirSync(path), path)],
    ["in no folder", "directory-missing", (path) => `${path}/in/no.db`],
    ["in a file", "directory-missing", (path) => (writeFileSync(path, ""), `${path}/in.db`)],
    [
      "another program's database",
      "file-foreign",
      (path) => {
        const handle = new DatabaseSync(path);
        handle.exec("CREATE TABLE orders (id TEXT); INSERT INTO orders VALUES ('A-17')");
        handle.close();
        return path;
      },
    ],
    [
      "an empty database with another program's mark",
      "file-foreign",
      (path) => {
        const handle = new DatabaseSync(path);
        handle.exec("PRAGMA application_id = 77; PRAGMA user_version = 3");
        handle.close();
        return path;
      },
    ],
  ];

  it.each(cases)("STORE-07 R081 is refused by name and left as it was: %s", (_, code, make) => {
    const path = make(place()());
    const bytes = () => {
      try {
        return readFileSync(path);
      } catch {
        return undefined;
      }
    };
    const before = bytes();
    const open = () => openSqlite(path);
    expect(open).toThrow(expect.objectContaining({ code, path }));
    expect(open).toThrow(path);
    expect(bytes()).toEqual(before);
  });

  it("STORE-07 R081 is refused where it is cut off in the middle", async () => {
    const path = place()();
    const store = openSqlite(path);
    for (let number = 0; number < 50; number += 1) {
      await store.commit(`a-${number}`, [put(`r-${number}`, 0), append(`r-${number}`, 1)]);
    }
    store.close();
    truncateSync(path, 4096 + 100);
    const code = (work: () => unknown): unknown => {
      try {
        work();
      } catch (error) {
        return isSqliteError(error) && error.code;
      }
      return "opened";
    };
    expect(code(() => openSqlite(path))).toBe("file-damaged");
  });

  it("STORE-07 is taken where it is empty, or a copy made while nobody wrote", async () => {
    const at = place();
    writeFileSync(at("empty.db"), "");
    const store = openSqlite(at("empty.db"));
    await store.commit("one", [put("a", 0)]);
    store.close();
    copyFileSync(at("empty.db"), at("copy.db"));
    const copy = openSqlite(at("copy.db"));
    expect((await copy.approvals.get(scope, "a"))?.version).toBe(1);
    copy.close();
  });

  it("STORE-07 is read but not written through a read-only handle", async () => {
    const path = place()();
    const store = openSqlite(path);
    await store.commit("one", [put("a", 0)]);
    const handle = new DatabaseSync(path, { readOnly: true });
    const reader = openSqlite(handle);
    expect((await reader.approvals.get(scope, "a"))?.version).toBe(1);
    await expect(reader.commit("two", [put("a", 1)])).rejects.toMatchObject({
      code: "store-unavailable",
      reason: "read-only",
    });
    handle.close();
    store.close();
  });

  it.each([
    ["an empty path", () => openSqlite("")],
    ["a wait of no number", () => openSqlite(":memory:", { lockWaitMs: Number.NaN })],
    [
      "a handle inside a transaction",
      () => {
        const handle = new DatabaseSync(":memory:");
        handle.exec("BEGIN");
        return openSqlite(handle);
      },
    ],
  ])("STORE-07 is refused as an option: %s", (_, open) => {
    expect(open).toThrow(expect.objectContaining({ code: "option-invalid" }));
  });
});
