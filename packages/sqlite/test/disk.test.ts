import { chmodSync, readdirSync, readFileSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";

import { describe, expect, it } from "vitest";

import { openSqlite } from "../src/index.ts";
import { place } from "./place.ts";
import { append, put, scope } from "./record-writes.ts";

/** Does what a user may do who owns nothing here: root may write everywhere. */
function asStranger<T>(work: () => T): T {
  if (process.geteuid?.() !== 0) return work();
  process.seteuid?.(65_534);
  try {
    return work();
  } finally {
    process.seteuid?.(0);
  }
}

function refusalOf(path: string): unknown {
  try {
    asStranger(() => openSqlite(path)).close();
    return undefined;
  } catch (error) {
    return error;
  }
}

describe("a folder that may not be written", () => {
  it("STORE-07 R081 is refused by name, with a file in it and without, and nothing is left in it", async () => {
    const path = place();
    const store = openSqlite(path());
    await store.commit("one", [put("a", 0)]);
    store.close();
    chmodSync(path(), 0o444);
    chmodSync(path("."), 0o555);
    const [before, bytes] = [readdirSync(path(".")), readFileSync(path())];
    try {
      expect(refusalOf(path())).toMatchObject({ code: "file-not-writable", path: path() });
      // Who asks the system first whether it may is told no; else SQLite says that it can't open it.
      const made = refusalOf(path("new.db"));
      expect(made).toMatchObject({
        code: expect.stringMatching(/^(file-not-writable|store-unavailable)$/),
      });
      expect(String(made)).toContain(path("new.db"));
      expect(readdirSync(path("."))).toEqual(before);
      expect(readFileSync(path())).toEqual(bytes);
    } finally {
      chmodSync(path("."), 0o755);
    }
    chmodSync(path(), 0o644);
    const again = openSqlite(path());
    expect((await again.approvals.get(scope, "a"))?.version).toBe(1);
    again.close();
  });
});

describe("a file that can't grow", () => {
  it("STORE-07 R080 is full by name, keeps nothing of what did not fit, and takes it once there is room", async () => {
    const handle = new DatabaseSync(place()());
    const store = openSqlite(handle);
    await store.commit("one", [put("a", 0), append("a", 1)]);
    const { page_count: pages } = handle.prepare("PRAGMA page_count").get() as {
      page_count: number;
    };
    handle.exec(`PRAGMA max_page_count = ${pages}`);
    const large = { ...put("b", 0).values, sealed: "x".repeat(100_000) };
    const writes = [put("a", 1), append("a", 2), { ...put("b", 0), values: large }];
    const error: unknown = await store.commit("two", writes).catch((thrown) => thrown);
    expect(error).toMatchObject({ code: "store-unavailable", reason: "full" });
    expect((await store.approvals.get(scope, "a"))?.version).toBe(1);
    expect(await store.approvals.get(scope, "b")).toBeUndefined();
    expect(await store.approvals.history(scope, "a", 0, 10)).toHaveLength(1);
    handle.exec(`PRAGMA max_page_count = ${pages + 1_000}`);
    expect(await store.commit("two", writes)).toEqual({ status: "done", repeated: false });
    expect((await store.approvals.get(scope, "b"))?.values["sealed"]).toBe(large.sealed);
    handle.close();
  });
});
