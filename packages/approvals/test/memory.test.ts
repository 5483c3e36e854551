// Rows in memory, for any port; what the contract does not reach.
import { getEventListeners } from "node:events";

import { describe, expect, it } from "vitest";

import {
  auditKey,
  memoryApprovalStore,
  memoryHome,
  statements,
  systemClock,
  tableOf,
  type AppliedWrite,
  type Write,
} from "../src/index.ts";
import { handClock } from "./world.ts";

const scope = "acme";
const put = (table: string, key: string, expect_: Write["expect"] = 0, at = scope): Write => ({
  statement: `${table}.put`,
  scope: at,
  key,
  expect: expect_,
  values: { n: 1 },
});

describe("a home in memory", () => {
  it("APR-29 keeps rows of any port, by table, scope and key, and commits them together", async () => {
    const home = memoryHome({ clock: handClock(7) });
    const writes = [put("log", "run-1/1"), put("runs", "run-1"), put("log", "run-1/1", 0, "other")];
    await home.commit("one", writes);
    expect(home.row("log", scope, "run-1/1")).toEqual({
      key: "run-1/1",
      version: 1,
      attempt: "one",
      values: { n: 1 },
    });
    expect(home.scopes("log")).toEqual([scope, "other"]);
    expect(home.scopes("nothing")).toEqual([]);
    expect([home.rows("nothing", scope), home.rows("log", "nobody")]).toEqual([[], []]);
    expect([home.row("runs", scope, "run-2"), home.row("x", scope, "y")]).toEqual([
      undefined,
      undefined,
    ]);
    expect([await home.now(), home.home === home]).toEqual([7, true]);
    expect((await home.commit("two", [put("log", "run-1/2"), put("runs", "run-1")])).status).toBe(
      "refused",
    );
    expect(home.row("log", scope, "run-1/2")).toBeUndefined();
  });

  it("APR-29 reads ranges of keys in order: by prefix, past a key, up to a limit", async () => {
    const home = memoryHome();
    const keys = ["b/2", "a/1", "b/10", "b/1", "c/1", "b"];
    await home.commit(
      "one",
      keys.map((key) => put("log", key)),
    );
    const read = (range?: Parameters<typeof home.rows>[2]) =>
      home.rows("log", scope, range).map((row) => row.key);
    expect(read()).toEqual(["a/1", "b", "b/1", "b/10", "b/2", "c/1"]);
    expect(read({ prefix: "b/" })).toEqual(["b/1", "b/10", "b/2"]);
    expect(read({ prefix: "b/", after: "b/1" })).toEqual(["b/10", "b/2"]);
    expect(read({ prefix: "b/", after: "b/11" })).toEqual(["b/2"]);
    expect(read({ prefix: "b/", after: "a/9" })).toEqual(["b/1", "b/10", "b/2"]);
    expect(read({ prefix: "b/", limit: 2 })).toEqual(["b/1", "b/10"]);
    expect(read({ after: "b/2" })).toEqual(["c/1"]);
    expect(read({ prefix: "d" })).toEqual([]);
    expect(read({ prefix: "b" })).toEqual(["b", "b/1", "b/10", "b/2"]);
    await home.commit("two", [put("log", "b/1", 1), put("log", "a/1", 1)]);
    expect(read()).toEqual(["a/1", "b", "b/1", "b/10", "b/2", "c/1"]);
  });

  it("APR-27 tells watchers what each commit set, and no longer when they left", async () => {
    const home = memoryHome();
    const seen: (readonly AppliedWrite[])[] = [];
    const leave = home.watch((applied) => seen.push(applied));
    await home.commit("one", [put("runs", "a")]);
    await home.commit("one", [put("runs", "a")]);
    await home.commit("two", [put("runs", "a")]);
    await home.commit("three", [put("runs", "a", 1)]);
    leave();
    await home.commit("four", [put("runs", "a", 2)]);
    expect(seen).toMatchObject([
      [{ table: "runs", scope, row: { key: "a", version: 1 }, previous: undefined }],
      [{ row: { version: 2, attempt: "three" }, previous: { version: 1, attempt: "one" } }],
    ]);
  });

  it("APR-29 fences by the newest epoch of a lease", async () => {
    const home = memoryHome();
    const taken = { epoch: 3, owner: "somebody", until: 0 };
    await home.commit("zero", [{ ...put("leases", "session"), values: taken }]);
    const fenced = (epoch: number) => ({ ...put("runs", "a"), fence: { name: "session", epoch } });
    expect((await home.commit("one", [fenced(2)])).status).toBe("refused");
    expect((await home.commit("two", [fenced(3)])).status).toBe("done");
  });

  it("APR-29 hands out rows that nobody can change", async () => {
    const home = memoryHome();
    await home.commit("one", [put("runs", "a")]);
    const row = home.row("runs", scope, "a")!;
    expect([Object.isFrozen(row), Object.isFrozen(row.values)]).toEqual([true, true]);
  });

  it("APR-29 refuses a list past 10,000 writes, and takes one of that length", async () => {
    const many = Array.from({ length: 10_001 }, (_, at) => put("log", `k${at}`));
    await expect(memoryHome().commit("one", many)).rejects.toMatchObject({ code: "write-invalid" });
    expect((await memoryHome().commit("one", many.slice(1))).status).toBe("done");
    expect(tableOf("log.append")).toBe("log");
  });

  it("APR-26 takes a list for a repetition once one row of it is the attempt's, and adds nothing", async () => {
    const home = memoryHome();
    await home.commit("one", [put("runs", "a")]);
    const more = await home.commit("one", [
      put("runs", "b"),
      put("runs", "a"),
      put("runs", "c", 5),
    ]);
    expect(more).toEqual({ status: "done", repeated: true });
    expect(home.row("runs", scope, "b")).toBeUndefined();
    const apart = await home.commit("one", [put("runs", "b")]);
    expect(apart).toEqual({ status: "done", repeated: false });
  });

  it("APR-26 repeats a write under any version as done where this attempt made the row", async () => {
    const home = memoryHome();
    await home.commit("one", [put("keys", "a", "any")]);
    const again = await home.commit("one", [put("keys", "a", "any")]);
    expect(again).toEqual({ status: "done", repeated: true });
    const other = await home.commit("two", [put("keys", "a", "any")]);
    expect(other).toEqual({ status: "done", repeated: false });
  });

  it("APR-13 reads the machine's clock where none is given", async () => {
    const before = systemClock.now();
    const now = await memoryHome().now();
    expect(now >= before && now <= systemClock.now()).toBe(true);
  });
});

describe("a store on a home", () => {
  it("APR-24 counts the same changes as any other store on it, whenever it was made", async () => {
    const home = memoryHome();
    const entry = (id: string): Write => ({
      statement: statements.appendAudit,
      scope,
      key: auditKey(id, 1),
      expect: 0,
      values: { sealed: id },
    });
    const row: Write = {
      statement: statements.putRecord,
      scope,
      key: "b",
      expect: 0,
      values: { state: "pending", requestedAt: 1, expiresAt: null },
    };
    await home.commit("before", [entry("b"), row]);
    const early = memoryApprovalStore(home);
    await early.commit("after", [entry("a")]);
    const late = memoryApprovalStore(home);
    const keys = async (store: typeof early) =>
      (await store.changes(scope, 0, 9)).map((change) => [change.position, change.row.key]);
    expect(await keys(late)).toEqual([
      [1, auditKey("b", 1)],
      [2, auditKey("a", 1)],
    ]);
    expect(await keys(early)).toEqual(await keys(late));
    expect(
      await late.list(scope, { state: "pending" }, { order: "oldest", limit: 9 }),
    ).toHaveLength(1);
    expect(late.home).toBe(early.home);
  });

  it("APR-27 leaves nothing on a signal that outlives the waiting", async () => {
    const store = memoryApprovalStore();
    const { signal } = new AbortController();
    const waiting = store.wait(scope, 0, signal);
    expect(getEventListeners(signal, "abort")).toHaveLength(1);
    await store.commit("one", [
      { statement: statements.appendAudit, scope, key: auditKey("a", 1), expect: 0, values: {} },
    ]);
    await waiting;
    expect(getEventListeners(signal, "abort")).toHaveLength(0);
  });
});
