import { isApprovalError, systemClock, type Clock } from "@holdpoint/approvals";
import { describe, expect, it } from "vitest";

import { openSqlite, SqliteStoreError } from "../src/index.ts";
import { driverError, watchedHandle, type Fault } from "./broken-handle.ts";
import { place } from "./place.ts";
import { append, put, scope } from "./record-writes.ts";

const disk = driverError(10, "disk I/O error");
const full = driverError(13, "database or disk is full");

function watched() {
  const path = place()();
  const handle = watchedHandle(path);
  return { path, handle, store: openSqlite(handle) };
}

const failAt =
  (number: number, when: "instead" | "after", error = disk): Fault =>
  (call) =>
    call.number === number ? { when, error } : undefined;

const failCommit =
  (when: "instead" | "after", error = disk): Fault =>
  ({ sql }) =>
    sql === "COMMIT" ? { when, error } : undefined;

/** What is in the file, read by another connection. */
async function standing(path: string): Promise<unknown[]> {
  const store = openSqlite(path);
  const rows = await store.approvals.list(scope, {}, { order: "oldest", limit: 100 });
  const changes = await store.approvals.changes(scope, 0, 100);
  store.close();
  return [rows.map(({ key, version }) => `${key} ${version}`), changes.map(({ row }) => row.key)];
}

const writes = [put("a", 1), append("a", 2), put("b", 0), append("b", 1)];
const before = [["a 1"], [append("a", 1).key]];
const after = [["a 2", "b 1"], [append("a", 1), append("a", 2), append("b", 1)].map((w) => w.key)];

describe("a commit", () => {
  it("STORE-07 STORE-14 is one immediate transaction of nothing but statements", async () => {
    const { handle, store } = watched();
    await store.commit("one", [put("a", 0)]);
    handle.reset();
    await store.commit("two", writes);
    const verbs = handle.calls.map(({ sql }) => sql.split(/\s/).slice(0, 2).join(" "));
    expect(verbs).toEqual([
      "BEGIN IMMEDIATE",
      "UPDATE approvals",
      "INSERT INTO",
      "INSERT INTO",
      "INSERT INTO",
      "COMMIT",
    ]);
    handle.end();
  });

  // Its six calls of the driver, as the test above has them. What a full disk refuses was not written, so that never fails
  // after the fact.
  const faults = [1, 2, 3, 4, 5, 6].flatMap((number) => [
    { number, when: "instead", error: disk } as const,
    { number, when: "after", error: disk } as const,
    { number, when: "instead", error: full } as const,
  ]);

  it.each(faults)(
    "STORE-07 STORE-11 that fails at call $number, $when of it, by $error.message, is told of as it is and can be repeated",
    async ({ number, when, error }) => {
      const { path, handle, store } = watched();
      await store.commit("one", [put("a", 0), append("a", 1)]);
      handle.reset(failAt(number, when, error));
      const outcome: unknown = await store.commit("two", writes).catch((thrown) => thrown);
      const isUnknown = number === 6 && error === disk;
      expect(isApprovalError(outcome, "store-unavailable")).toBe(!isUnknown);
      expect(outcome).toMatchObject(
        isUnknown
          ? { status: "unknown", cause: error }
          : { code: "store-unavailable", cause: error },
      );
      const stands = isUnknown && when === "after";
      expect(await standing(path)).toEqual(stands ? after : before);
      handle.reset();
      expect(await store.commit("two", writes)).toEqual({ status: "done", repeated: stands });
      expect(await standing(path)).toEqual(after);
      handle.end();
    },
  );

  it.each([1, 2, 3, 4, 5, 6])(
    "STORE-11 that meets a lock at call %i is tried again as a whole, under the same attempt",
    async (number) => {
      const { path, handle, store } = watched();
      await store.commit("one", [put("a", 0), append("a", 1)]);
      handle.reset(failAt(number, "instead", driverError(5, "database is locked")));
      expect(await store.commit("two", writes)).toEqual({ status: "done", repeated: false });
      expect(await standing(path)).toEqual(after);
      handle.end();
    },
  );

  it.each([
    ["instead", false],
    ["after", true],
  ] as const)(
    "STORE-07 is unknown where COMMIT failed %s of it, and its attempt learns the truth",
    async (when, stands) => {
      const { path, handle, store } = watched();
      await store.commit("one", [put("a", 0), append("a", 1)]);
      handle.reset(failCommit(when));
      const outcome = await store.commit("two", writes);
      expect(outcome).toEqual({ status: "unknown", cause: disk });
      handle.reset();
      expect(await standing(path)).toEqual(stands ? after : before);
      expect(await store.commit("two", writes)).toEqual({ status: "done", repeated: stands });
      const others = await store.commit("three", writes);
      expect(others).toMatchObject({ status: "refused", write: 0 });
      handle.end();
    },
  );

  it("STORE-07 is certainly not done on a full disk, and is done once there is room", async () => {
    const path = place()();
    const store = openSqlite(path);
    await store.commit("one", [put("a", 0)]);
    store.close();
    const handle = watchedHandle(path);
    const small = openSqlite(handle);
    handle.exec("PRAGMA max_page_count = 1");
    const big = put("a", 1, { values: { sealed: "x".repeat(1_000_000) } });
    const refused = small.commit("two", [big]);
    await expect(refused).rejects.toMatchObject({ code: "store-unavailable", reason: "full" });
    expect((await small.approvals.get(scope, "a"))?.version).toBe(1);
    handle.exec("PRAGMA max_page_count = 1000000");
    expect(await small.commit("two", [big])).toEqual({ status: "done", repeated: false });
    handle.end();
  });

  it("STORE-07 gives the handle up where even the rollback fails", async () => {
    const { handle, store } = watched();
    await store.commit("one", [put("a", 0)]);
    handle.reset(({ sql }) =>
      sql === "ROLLBACK" || sql.startsWith("UPDATE") ? { when: "instead", error: disk } : undefined,
    );
    const stop = store.approvals.wait(scope, 99, new AbortController().signal);
    const failed = store.commit("two", [put("a", 1)]);
    await expect(failed).rejects.toMatchObject({ code: "store-unavailable", reason: "io" });
    await stop;
    const next = store.commit("three", [put("b", 0)]);
    await expect(next).rejects.toMatchObject({ code: "store-unavailable", reason: "closed" });
    handle.end();
  });

  it("STORE-07 is unknown where COMMIT failed and even the rollback does", async () => {
    const { handle, store } = watched();
    handle.reset(({ sql }) =>
      sql === "ROLLBACK" || sql === "COMMIT" ? { when: "instead", error: disk } : undefined,
    );
    expect(await store.commit("one", [put("a", 0)])).toEqual({ status: "unknown", cause: disk });
    await expect(store.commit("one", [put("a", 0)])).rejects.toMatchObject({ reason: "closed" });
    handle.end();
  });

  it("STORE-14 is refused on a handle whose owner is inside a transaction", async () => {
    const { handle, store } = watched();
    handle.exec("BEGIN");
    const refused = store.commit("one", [put("a", 0)]);
    await expect(refused).rejects.toMatchObject({
      code: "store-unavailable",
      reason: "in-transaction",
    });
    handle.exec("ROLLBACK");
    expect((await store.commit("one", [put("a", 0)])).status).toBe("done");
    handle.end();
  });

  it("STORE-14 wakes nobody before COMMIT returned", async () => {
    const { handle, store } = watched();
    const order: string[] = [];
    const waiting = store.approvals.wait(scope, 0, new AbortController().signal);
    const woken = waiting.then(() => order.push("woken"));
    await store.approvals.lastChange(scope);
    handle.reset(({ sql }) => {
      const [verb = ""] = sql.split(/\s/);
      if (verb !== "PRAGMA") order.push(verb); // that is the look for other connections' commits
      return undefined;
    });
    await store.commit("one", [append("a", 1)]);
    await woken;
    expect(order).toEqual(["BEGIN", "INSERT", "COMMIT", "SELECT", "woken"]);
    handle.end();
  });
});

describe("a read", () => {
  it("STORE-07 that fails is the port's unavailable, with its cause, and works afterwards", async () => {
    const { handle, store } = watched();
    await store.commit("one", [put("a", 0), append("a", 1)]);
    const { approvals, log, runs } = store;
    const page = { order: "oldest", limit: 10 } as const;
    const reads: readonly (() => Promise<unknown>)[] = [
      () => approvals.get(scope, "a"),
      () => approvals.find(scope, "key"),
      () => approvals.list(scope, {}, page),
      () => approvals.history(scope, "a", 0, 10),
      () => approvals.changes(scope, 0, 10),
      () => approvals.lastChange(scope),
      () => approvals.wait(scope, 0, new AbortController().signal),
      () => log.read(scope, "run", 0, 10),
      () => log.head(scope, "run"),
      () => runs.get(scope, "run"),
      () => runs.find(scope, "refund", "key"),
      () => runs.list(scope, {}, page),
    ];
    for (const read of reads) {
      handle.reset(() => ({ when: "instead", error: disk }));
      const error = await read().catch((thrown: unknown) => thrown);
      expect(isApprovalError(error, "store-unavailable")).toBe(true);
      expect(error).toMatchObject({ reason: "io", cause: disk });
      handle.reset();
      await expect(read()).resolves.not.toBeInstanceOf(SqliteStoreError);
    }
    handle.end();
  });

  // Without polls: what is shown is not that the next one would wake.
  const clock: Clock = { ...systemClock, timer: () => () => undefined };

  it("STORE-07 wakes whoever waits where it can't be known any more what for", async () => {
    const handle = watchedHandle(place()());
    const store = openSqlite(handle, { clock });
    const waiting = store.approvals.wait(scope, 99, new AbortController().signal);
    await store.approvals.lastChange(scope);
    handle.reset(({ sql }) =>
      sql.includes("SELECT position") ? { when: "instead", error: disk } : undefined,
    );
    await store.commit("one", [append("a", 1)]);
    await expect(waiting).resolves.toBeUndefined();
    handle.end();
  });

  it("STORE-07 after the end is unavailable, and whoever waited is woken", async () => {
    const store = openSqlite(place()(), { clock });
    const waiting = store.approvals.wait(scope, 0, new AbortController().signal);
    await store.approvals.lastChange(scope);
    store.close();
    store.close();
    await waiting;
    for (const late of [
      () => store.approvals.get(scope, "a"),
      () => store.commit("one", [put("a", 0)]),
      () => store.approvals.wait(scope, 0, new AbortController().signal),
    ]) {
      await expect(late()).rejects.toMatchObject({ code: "store-unavailable", reason: "closed" });
    }
  });
});
