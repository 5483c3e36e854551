// What happens rarely: a driver that throws what it never should, a lock met while reading, ports on a handle by themselves.
import { DatabaseSync } from "node:sqlite";

import { isApprovalError, systemClock, type Clock } from "@holdpoint/approvals";
import { describe, expect, it } from "vitest";

import {
  isSqliteError,
  openSqlite,
  sqliteLeaseStore,
  sqliteOutbox,
  SqliteStoreError,
} from "../src/index.ts";
import { limits } from "../src/limits.ts";
import { PreparedStatements } from "../src/prepared.ts";
import { isBusy, reasonOf, resultCodeOf, unavailable } from "../src/unavailable.ts";
import { driverError, watchedHandle } from "./broken-handle.ts";
import { movedClock, place } from "./place.ts";
import { append, entry, put, scope } from "./record-writes.ts";

const busy = driverError(5, "database is locked");

describe("an error", () => {
  it("STORE-07 is named by SQLite's code, whatever was thrown", () => {
    for (const thrown of [undefined, null, "a text", 5, {}, new Error("no code")]) {
      expect([resultCodeOf(thrown), isBusy(thrown), reasonOf(thrown)]).toEqual([
        undefined,
        false,
        "other",
      ]);
      expect(unavailable(thrown, "reading")).toMatchObject({
        code: "store-unavailable",
        message: "reading failed: other",
        cause: thrown,
      });
    }
    expect(reasonOf(driverError(9, "interrupted"))).toBe("other");
    expect(reasonOf(driverError(522, "short read"))).toBe("io");
    expect(reasonOf(Object.assign(new Error("closed"), { code: "ERR_INVALID_STATE" }))).toBe(
      "closed",
    );
  });

  it("STORE-07 of this package stays as it is, and a constraint is the writer's mistake", () => {
    const own = new SqliteStoreError("file-locked", "held");
    expect(unavailable(own, "reading")).toBe(own);
    const refused = driverError(275, "CHECK constraint failed: state");
    expect(unavailable(refused, "a commit")).toMatchObject({
      code: "write-invalid",
      message: "the schema refuses a write: CHECK constraint failed: state",
      cause: refused,
    });
    expect(unavailable({ errcode: 19 }, "a commit")).toMatchObject({
      code: "write-invalid",
      message: "the schema refuses a write: a constraint",
    });
  });

  it("STORE-07 is known by its mark, and nothing else is", () => {
    const own = new SqliteStoreError("file-locked", "held");
    expect([isSqliteError(own), isSqliteError(own, "file-locked")]).toEqual([true, true]);
    for (const other of [undefined, null, "file-locked", {}, new Error("file-locked")]) {
      expect([isSqliteError(other), isSqliteError(own, "write-invalid")]).toEqual([false, false]);
    }
  });

  it("STORE-03 of a bind names the first line of its statement", () => {
    const statements = new PreparedStatements(new DatabaseSync(":memory:"));
    expect(() => statements.row("\n  SELECT :n\n  AS n", { n: 0.5 })).toThrow(
      /^:n can't be bound in: SELECT :n$/,
    );
  });
});

describe("a list of writes", () => {
  it("STORE-02 may hold as many as in every store, and not one more", async () => {
    const store = openSqlite(":memory:");
    const writes = Array.from({ length: limits.writesMax + 1 }, (_, at) => entry(at + 1, "x"));
    await expect(store.commit("one", writes)).rejects.toMatchObject({
      code: "write-invalid",
      message: expect.stringContaining("a list of 10001 writes") as string,
    });
    expect(await store.log.head(scope, "run-1")).toBe(0);
    expect((await store.commit("two", writes.slice(1))).status).toBe("done");
    store.close();
  });

  it("STORE-11 APR-26 that expected nothing is known as the attempt's own when it is repeated", async () => {
    const store = openSqlite(":memory:");
    expect(await store.commit("one", [put("a", "any")])).toEqual({
      status: "done",
      repeated: false,
    });
    expect(await store.commit("one", [put("a", "any")])).toEqual({
      status: "done",
      repeated: true,
    });
    await store.commit("two", [put("a", 1)]);
    await store.commit("one", [put("a", "any"), put("b", 0)]);
    // The row has moved on since: this is a list of its own, which finds the row there and lets it be.
    const rows = await store.approvals.list(scope, {}, { order: "oldest", limit: 9 });
    expect(rows.map(({ key, version }) => `${key} ${version}`)).toEqual(["a 2", "b 1"]);
    store.close();
  });
});

describe("a lock of another process", () => {
  /** A handle on which the first so many calls of a kind are refused. */
  function locked(kind: string, times: number, lockWaitMs?: number) {
    const handle = watchedHandle(place()());
    const pauses: number[] = [];
    const clock: Clock = {
      ...systemClock,
      monotonic: () => pauses.reduce((sum, ms) => sum + ms, 0),
      timer(ms, fire) {
        pauses.push(ms);
        queueMicrotask(fire);
        return () => undefined;
      },
    };
    const store = openSqlite(handle, { clock, ...(lockWaitMs !== undefined && { lockWaitMs }) });
    let left = times;
    const meet = (): void =>
      handle.reset(({ sql }) =>
        sql.startsWith(kind) && left-- > 0 ? { when: "instead", error: busy } : undefined,
      );
    return { handle, store, pauses, meet };
  }

  it("STORE-03 that is met while reading is waited for", async () => {
    const { handle, store, pauses, meet } = locked("SELECT key", 3);
    await store.commit("one", [put("a", 0)]);
    meet();
    expect(await store.approvals.get(scope, "a")).toMatchObject({ version: 1 });
    expect(pauses).toHaveLength(3);
    handle.end();
  });

  it("STORE-03 STORE-09 that is met while rows are taken out is waited for, and nothing is taken out twice", async () => {
    const { handle, store, pauses, meet } = locked("DELETE", 2);
    await store.commit("one", [put("a", 0), append("a", 1)]);
    meet();
    const rows = [{ table: "approvals", key: "a" }];
    expect(await store.removal.remove({ scope, rows })).toBe(true);
    expect(pauses).toHaveLength(2);
    expect(await store.approvals.get(scope, "a")).toBeUndefined();
    expect(await store.approvals.lastChange(scope)).toBe(1);
    handle.end();
  });

  it("STORE-03 that does not end is told of after the time that the owner allows, by its reason", async () => {
    const { handle, store, meet } = locked("SELECT key", Infinity, 50);
    meet();
    const error: unknown = await store.approvals.get(scope, "a").catch((thrown) => thrown);
    expect(isApprovalError(error, "store-unavailable")).toBe(true);
    expect(error).toMatchObject({ reason: "busy", cause: busy });
    handle.end();
  });
});

describe("a commit that fails", () => {
  it("STORE-07 STORE-11 is unknown where it can't even be rolled back, though its error alone would say that nothing was done", async () => {
    const handle = watchedHandle(place()());
    const store = openSqlite(handle);
    const full = driverError(13, "database or disk is full");
    const disk = driverError(10, "disk I/O error");
    handle.reset(({ sql }) => {
      if (sql === "COMMIT") return { when: "instead", error: full };
      return sql === "ROLLBACK" ? { when: "instead", error: disk } : undefined;
    });
    expect(await store.commit("one", [put("a", 0)])).toEqual({ status: "unknown", cause: full });
    handle.reset();
    await expect(store.commit("one", [put("a", 0)])).rejects.toMatchObject({ reason: "closed" });
    handle.end();
  });
});

describe("a migration", () => {
  it("STORE-01 STORE-07 whose commit SQLite has ended by itself is told of by its cause", () => {
    const path = place()();
    const handle = watchedHandle(path);
    const disk = driverError(10, "disk I/O error");
    handle.reset(({ sql }) => (sql === "COMMIT" ? { when: "after", error: disk } : undefined));
    expect(() => openSqlite(handle)).toThrow(
      expect.objectContaining({ code: "store-unavailable", reason: "io", cause: disk }),
    );
    expect(handle.calls.map(({ sql }) => sql)).not.toContain("ROLLBACK");
    handle.end();
    const store = openSqlite(path);
    store.close();
  });
});

describe("a port by itself", () => {
  it("STORE-01 STORE-15 keeps leases on a handle of its caller's, in one home with the others", async () => {
    const handle = new DatabaseSync(":memory:");
    const clock = movedClock(77);
    const leases = sqliteLeaseStore(handle, { clock });
    const values = { epoch: 1, owner: "me", until: 99 };
    const lease = { statement: "leases.put", scope, key: "s", expect: 0, values };
    expect((await leases.commit("one", [lease])).status).toBe("done");
    expect([await leases.now(), (await leases.get(scope, "s"))?.values]).toEqual([77, values]);
    expect(await leases.get(scope, "other")).toBeUndefined();
    expect((await leases.list(scope, { limit: 9 })).map(({ key }) => key)).toEqual(["s"]);
    expect(sqliteOutbox(handle).home).toBe(leases.home);
  });

  it("STORE-01 STORE-15 keeps what is to be told on a handle of its caller's", async () => {
    const outbox = sqliteOutbox(new DatabaseSync(":memory:"), { clock: movedClock(77) });
    const values = { state: "waiting", dueAt: 5, tries: 0, sealed: "sealed" };
    const told = { statement: "outbox.put", scope, key: "d", expect: "any", values } as const;
    await outbox.commit("one", [told]);
    expect(await outbox.now()).toBe(77);
    expect(await outbox.due(scope, 4, 9)).toEqual([]);
    expect((await outbox.due(scope, 5, 9)).map(({ key }) => key)).toEqual(["d"]);
  });
});

describe("whoever waits for changes", () => {
  it("STORE-03 APR-27 of a scope that nobody waited for when another process's commit was seen sleeps on", async () => {
    const path = place()();
    const due: (() => void)[] = [];
    const clock: Clock = {
      ...systemClock,
      timer: (_ms, fire) => {
        due.push(fire);
        return () => undefined;
      },
    };
    const store = openSqlite(path, { clock });
    const other = openSqlite(path);
    const forever = new AbortController().signal;
    const woken: string[] = [];
    const first = store.approvals.wait("first", 0, forever).then(() => woken.push("first"));
    await store.approvals.lastChange("first");
    await other.commit("one", [{ ...append("a", 1), scope: "first" }]);
    due.shift()!(); // it looks, and before it has read the second begins to wait
    const second = store.approvals.wait("second", 0, forever).then(() => woken.push("second"));
    await first;
    await store.approvals.lastChange("second");
    expect(woken).toEqual(["first"]);
    await store.commit("two", [{ ...append("b", 1), scope: "second" }]);
    await second;
    expect(woken).toEqual(["first", "second"]);
    store.close();
    other.close();
  });
});
