import type { CommitOutcome, Write } from "@holdpoint/approvals";
import { describe, expect, it } from "vitest";

import { openSqlite } from "../src/index.ts";
import { limits } from "../src/limits.ts";
import { driverError, watchedHandle, type Fault } from "./broken-handle.ts";
import { place } from "./place.ts";
import { append, entry, put, scope } from "./record-writes.ts";

const disk = driverError(10, "disk I/O error");
const full = driverError(13, "database or disk is full");

function watched() {
  const path = place()();
  const handle = watchedHandle(path);
  return { path, handle, store: openSqlite(handle) };
}

const verbsOf = (calls: readonly { readonly sql: string }[]): string[] =>
  calls.map(({ sql }) => sql.split(/\s/)[0]!);

/** What is in the file, read by another connection. */
async function standing(path: string): Promise<Record<string, number>> {
  const store = openSqlite(path);
  const rows = await store.approvals.list(scope, {}, { order: "oldest", limit: 100 });
  store.close();
  return Object.fromEntries(rows.map(({ key, version }) => [key, version]));
}

describe("commits that are asked for together", () => {
  it("STORE-14 share a transaction and its sync, and one alone has neither savepoint nor wait", async () => {
    const { path, handle, store } = watched();
    handle.reset();
    const asked = ["a", "b", "c"].map((id) => store.commit(`put-${id}`, [put(id, 0)]));
    const done = { status: "done", repeated: false };
    expect(await Promise.all(asked)).toEqual([done, done, done]);
    const apart = ["SAVEPOINT", "INSERT", "RELEASE"];
    expect(verbsOf(handle.calls)).toEqual(["BEGIN", ...apart, ...apart, ...apart, "COMMIT"]);
    expect(await standing(path)).toEqual({ a: 1, b: 1, c: 1 });
    handle.reset();
    await store.commit("put-d", [put("d", 0)]);
    expect(verbsOf(handle.calls)).toEqual(["BEGIN", "INSERT", "COMMIT"]);
    handle.end();
  });

  it("STORE-11 are judged one after another, and a refused one leaves nothing and refuses no other", async () => {
    const { path, handle, store } = watched();
    const outcomes = await Promise.all([
      store.commit("first", [put("a", 0)]),
      store.commit("late", [put("b", 0), put("a", 0)]), // its second write is refused: its first goes too
      store.commit("next", [put("a", 1)]),
      store.commit("first", [put("a", 0), put("c", 0)]), // made already: nothing more is
      store.commit("nothing", [put("a", "any")]),
    ]);
    expect(outcomes).toMatchObject([
      { status: "done", repeated: false },
      { status: "refused", write: 1, refusal: { because: "version", stands: { version: 1 } } },
      { status: "done", repeated: false },
      { status: "refused", write: 0, refusal: { because: "version", stands: { version: 2 } } },
      { status: "done", repeated: false },
    ]);
    expect(await standing(path)).toEqual({ a: 2 });
    handle.end();
  });

  it("STORE-11 keep nothing where each is refused, and hold no lock on", async () => {
    const { path, handle, store } = watched();
    await store.commit("first", [put("a", 0)]);
    handle.reset();
    const again = ["x", "y"].map((attempt) => store.commit(attempt, [put("a", 0)]));
    for (const outcome of await Promise.all(again)) expect(outcome.status).toBe("refused");
    expect(verbsOf(handle.calls).at(-1)).toBe("ROLLBACK");
    const other = openSqlite(path);
    expect((await other.commit("other", [put("b", 0)])).status).toBe("done");
    other.close();
    handle.end();
  });

  it("STORE-03 are so many at most in one transaction, so that the thread is free in between", async () => {
    const { handle, store } = watched();
    handle.reset();
    const count = limits.commitsTogetherMax * 2 + 1;
    const asked = Array.from({ length: count }, (_, at) =>
      store.commit(`a-${at}`, [put(`r-${at}`, 0)]),
    );
    await Promise.all(asked);
    const verbs = verbsOf(handle.calls);
    expect(verbs.filter((verb) => verb === "COMMIT").length).toBe(3);
    expect(verbs.filter((verb) => verb === "SAVEPOINT").length).toBe(count - 1);
    handle.end();
  });

  it("STORE-07 fail for no neighbour: a write that the schema refuses is refused by itself", async () => {
    const { path, handle, store } = watched();
    const wrong: Write = { ...entry(2, "x"), key: "run-1/000000000003" }; // a key of another revision
    const asked = [
      store.commit("a", [put("a", 0)]),
      store.commit("wrong", [put("b", 0), wrong]),
      store.commit("c", [put("c", 0)]),
    ];
    const [a, refused, c] = await Promise.allSettled(asked);
    expect([a, c]).toMatchObject([{ value: { repeated: false } }, { value: { repeated: false } }]);
    expect(refused).toMatchObject({ reason: { code: "write-invalid" } });
    expect(await standing(path)).toEqual({ a: 1, c: 1 });
    handle.end();
  });

  it("APR-27 wake who waits where one of them appended an audit entry, and read nothing for it otherwise", async () => {
    const { handle, store } = watched();
    const waiting = store.approvals.wait(scope, 0, new AbortController().signal);
    await store.approvals.lastChange(scope);
    handle.reset();
    await Promise.all([store.commit("a", [put("a", 0)]), store.commit("b", [entry(1, "x")])]);
    expect(verbsOf(handle.calls).filter((verb) => verb === "SELECT")).toEqual([]);
    await Promise.all([store.commit("c", [put("c", 0)]), store.commit("d", [append("d", 1)])]);
    await waiting;
    handle.end();
  });
});

describe("commits that fail together", () => {
  const attempts = ["a", "b", "c"];
  const ask = async (store: ReturnType<typeof openSqlite>): Promise<unknown[]> => {
    const asked = attempts.map((id) => store.commit(`put-${id}`, [put(id, 0), append(id, 1)]));
    return (await Promise.allSettled(asked)).map((settled) =>
      settled.status === "fulfilled" ? settled.value : settled.reason,
    );
  };
  const faultsAt =
    (number: number, when: "instead" | "after", error: Error): Fault =>
    (call) =>
      call.number === number ? { when, error } : undefined;

  /** Whether an answer says no more of a row than what is in the file. */
  const saidOf = (told: unknown, version: number | undefined): boolean => {
    const { status, code } = told as Partial<CommitOutcome> & { readonly code?: string };
    if (status === "done") return version === 1;
    return status === "unknown" || (code === "store-unavailable" && version === undefined);
  };

  // BEGIN, four calls for each, COMMIT; and those that a try by itself takes.
  const calls = Array.from({ length: 16 }, (_, at) => at + 1);
  const faults = calls.flatMap((number) => [
    { number, when: "instead", error: disk } as const,
    { number, when: "after", error: disk } as const,
    { number, when: "instead", error: full } as const,
    { number, when: "instead", error: driverError(5, "database is locked") } as const,
  ]);

  it.each(faults)(
    "STORE-07 STORE-11 at call $number, $when of it, by $error.message, are each told of as it is, and can each be repeated",
    async ({ number, when, error }) => {
      const { path, handle, store } = watched();
      handle.reset(faultsAt(number, when, error));
      const told = await ask(store);
      const stands = await standing(path);
      for (const [at, id] of attempts.entries()) {
        expect(saidOf(told[at], stands[id])).toBe(true);
      }
      handle.reset();
      for (const [at, outcome] of (await ask(store)).entries()) {
        expect(outcome).toEqual({ status: "done", repeated: stands[attempts[at]!] === 1 });
      }
      expect(await standing(path)).toEqual({ a: 1, b: 1, c: 1 });
      handle.end();
    },
  );

  it("STORE-07 are all unknown where their COMMIT failed, also what was refused by what they left", async () => {
    const { handle, store } = watched();
    handle.reset(({ sql }) => (sql === "COMMIT" ? { when: "instead", error: disk } : undefined));
    const outcomes = await Promise.all([
      store.commit("one", [put("a", 0)]),
      store.commit("two", [put("a", 0)]),
    ]);
    const unknown = { status: "unknown", cause: disk };
    expect(outcomes).toEqual([unknown, unknown]);
    handle.reset();
    expect(await store.commit("two", [put("a", 0)])).toEqual({ status: "done", repeated: false });
    handle.end();
  });
});
