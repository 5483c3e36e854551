import { DatabaseSync } from "node:sqlite";

import { isApprovalError, systemClock, type Clock } from "@holdpoint/approvals";
import { describe, expect, it } from "vitest";

import { openSqlite } from "../src/index.ts";
import { limits } from "../src/limits.ts";
import { driverError, watchedHandle } from "./broken-handle.ts";
import { movedClock, place } from "./place.ts";
import { put, scope } from "./record-writes.ts";

/** Another program that holds the file's write lock until it is let go. */
function holding(path: string) {
  const handle = new DatabaseSync(path);
  handle.exec("BEGIN IMMEDIATE");
  return () => {
    handle.exec("ROLLBACK");
    handle.close();
  };
}

/** A real clock that writes down its pauses, and does something at the n-th. */
function pausesOf(at: number, work: () => void): Clock & { readonly pauses: number[] } {
  const pauses: number[] = [];
  return {
    ...systemClock,
    pauses,
    timer(delayMs, fire) {
      pauses.push(delayMs);
      if (pauses.length === at) work();
      return systemClock.timer(delayMs, fire);
    },
  };
}

describe("a file that another program holds", () => {
  it("STORE-03 R082 is waited for between short tries, while the event loop goes on", async () => {
    const path = place()();
    const setUp = openSqlite(path);
    const release = holding(path);
    const clock = pausesOf(6, () => release());
    const store = openSqlite(path, { clock });
    let turns = 0;
    const heart = setInterval(() => void (turns += 1), 1);
    const outcome = await store.commit("one", [put("a", 0)]);
    clearInterval(heart);
    expect(outcome).toEqual({ status: "done", repeated: false });
    expect(clock.pauses).toHaveLength(6);
    for (const [at, pause] of clock.pauses.entries()) {
      const most = Math.min(limits.pauseMsFirst * 2 ** at, limits.pauseMsMax);
      expect(pause).toBeGreaterThanOrEqual(most / 2);
      expect(pause).toBeLessThanOrEqual(most);
    }
    expect(turns).toBeGreaterThanOrEqual(3);
    store.close();
    setUp.close();
  });

  it("STORE-03 is waited for by pauses that differ from one connection to the next", async () => {
    const path = place()();
    const setUp = openSqlite(path);
    const release = holding(path);
    let left = 8;
    const clocks = Array.from({ length: 8 }, () =>
      pausesOf(6, () => void ((left -= 1) || release())),
    );
    const stores = clocks.map((clock) => openSqlite(path, { clock }));
    await Promise.all(stores.map((store, at) => store.commit(`c-${at}`, [put(`r-${at}`, 0)])));
    const sixth = new Set(clocks.map(({ pauses }) => pauses[5]));
    expect(sixth.size).toBeGreaterThan(1);
    for (const store of [...stores, setUp]) store.close();
  });

  it("STORE-03 STORE-07 R082 is unavailable after the set time, and works once it is free", async () => {
    const path = place()();
    const store = openSqlite(path, { lockWaitMs: 60 });
    const release = holding(path);
    const error: unknown = await store.commit("one", [put("a", 0)]).catch((thrown) => thrown);
    expect(error).toMatchObject({ code: "store-unavailable", reason: "busy" });
    expect(isApprovalError(error, "store-unavailable")).toBe(true);
    expect(await store.approvals.get(scope, "a")).toBeUndefined(); // a writer keeps no reader out
    release();
    expect((await store.commit("one", [put("a", 0)])).status).toBe("done");
    store.close();
  });

  it("STORE-07 is waited for no longer once the store is closed", async () => {
    const path = place()();
    const store = openSqlite(path);
    const release = holding(path);
    const committing = store.commit("one", [put("a", 0)]);
    store.close();
    await expect(committing).rejects.toMatchObject({ code: "store-unavailable", reason: "closed" });
    release();
  });

  it("STORE-15 makes no write younger: its limit is judged when the lock is held", async () => {
    const path = place()();
    const clock = movedClock(1_000);
    const store = openSqlite(path, { clock });
    const release = holding(path);
    const committing = store.commit("one", [put("a", 0, { before: 1_500 })]);
    clock.move(500);
    release();
    expect(await committing).toMatchObject({
      status: "refused",
      refusal: { because: "late", now: 1_500 },
    });
    store.close();
  });

  it("STORE-03 is written after the transactions of a program that reads first", async () => {
    const path = place()();
    const store = openSqlite(path);
    await store.commit("one", [put("a", 0)]);
    // What a deferred transaction runs into: it has read, another has written, and it fails at once.
    const deferred = new DatabaseSync(path, { timeout: 5_000 });
    deferred.exec("BEGIN");
    deferred.prepare("SELECT * FROM approvals").all();
    await store.commit("two", [put("a", 1)]);
    expect(() => deferred.exec("UPDATE approvals SET rowVersion = rowVersion + 1")).toThrow(
      "locked",
    );
    deferred.close();
    expect((await store.approvals.get(scope, "a"))?.version).toBe(2);
    store.close();
  });
});

describe("a new file that others open too", () => {
  // Two that read it and both want it alone are refused at once, whatever the timeout: SQLite sees that neither can wait.
  const busyAt = (tries: number) => {
    const handle = watchedHandle(place()());
    let left = tries;
    handle.reset(({ sql }) => {
      const isRefused = sql.includes("journal_mode") && (left -= 1) >= 0;
      return isRefused ? { when: "instead", error: driverError(5, "locked") } : undefined;
    });
    return handle;
  };

  it("STORE-03 is tried again, and opened", async () => {
    const handle = busyAt(3);
    const store = openSqlite(handle);
    expect((await store.commit("one", [put("a", 0)])).status).toBe("done");
    handle.end();
  });

  it("STORE-07 is refused as locked where that never ends", () => {
    const handle = busyAt(Infinity);
    expect(() => openSqlite(handle)).toThrow(expect.objectContaining({ code: "file-locked" }));
    expect(handle.calls.length).toBeLessThan(100);
    handle.end();
  });
});
