import type { PoolClient } from "pg";
import { describe, expect, it } from "vitest";

import { openPostgres } from "../src/index.ts";
import { behind, movedClock, opened, place, setEpoch, url } from "./place.ts";
import { append, put, scope } from "./record-writes.ts";
import { watchedPool } from "./watched-pool.ts";

/** Another program's transaction that has run `sql` and is not at its end. */
async function holding(sql: string): Promise<PoolClient> {
  const client = await behind.connect();
  await client.query(`BEGIN; ${sql}`);
  return client;
}

async function ends(client: PoolClient, how: "COMMIT" | "ROLLBACK"): Promise<void> {
  await client.query(how);
  client.release();
}

/** Resolves once a connection waits for a lock that `holder` has. */
async function isWaitedFor(holder: PoolClient): Promise<void> {
  const pid: unknown = Reflect.get(holder, "processID");
  const sql =
    "SELECT count(*)::int AS waiting FROM pg_stat_activity WHERE $1 = ANY (pg_blocking_pids(pid))";
  for (;;) {
    const { rows } = await behind.query<{ waiting: number }>(sql, [pid]);
    if ((rows[0]?.waiting ?? 0) > 0) return;
  }
}

const touch = (schema: string): string =>
  `UPDATE ${schema}.approvals SET attempt = 'other' WHERE key = 'a'`;

/** As one statement, and as a transaction: two versions of one row. */
const forms = [
  { form: "statement", more: [append("a", 2)] },
  { form: "transaction", more: [append("a", 2), put("b", 0), put("b", 1)] },
] as const;

describe.each(forms)(
  "a commit, as a $form, of a row that another program has locked",
  ({ more }) => {
    it("STORE-11 is done once the other took its own back", async () => {
      const schema = place();
      const store = await opened(schema);
      await store.commit("one", [put("a", 0)]);
      const holder = await holding(touch(schema));
      const committing = store.commit("two", [put("a", 1), ...more]);
      await isWaitedFor(holder);
      await ends(holder, "ROLLBACK");
      expect(await committing).toEqual({ status: "done", repeated: false });
    });

    it("STORE-11 is refused by what stands once the other has committed", async () => {
      const schema = place();
      const store = await opened(schema);
      await store.commit("one", [put("a", 0)]);
      const holder = await holding(
        `${touch(schema)}; UPDATE ${schema}.approvals SET row_version = 2`,
      );
      const committing = store.commit("two", [put("a", 1), ...more]);
      await isWaitedFor(holder);
      await ends(holder, "COMMIT");
      expect(await committing).toMatchObject({
        status: "refused",
        write: 0,
        refusal: { because: "version", stands: { version: 2, attempt: "other" } },
      });
      expect(await store.approvals.changes(scope, 0, 10)).toEqual([]);
    });

    it("STORE-07 is busy after the set time, and works once it is free", async () => {
      const schema = place();
      const store = await opened(schema, { statementMs: 2_000 });
      await store.commit("one", [put("a", 0)]);
      const holder = await holding(touch(schema));
      await expect(store.commit("two", [put("a", 1), ...more])).rejects.toMatchObject({
        code: "store-unavailable",
        reason: "busy",
      });
      expect((await store.approvals.get(scope, "a"))?.version).toBe(1); // a writer keeps no reader out
      await ends(holder, "ROLLBACK");
      expect((await store.commit("two", [put("a", 1), ...more])).status).toBe("done");
    });

    it("STORE-15 gets no younger by waiting: its limit is judged when the row is locked", async () => {
      const schema = place();
      const clock = await movedClock(schema, 1_000);
      const store = await opened(schema, { nowSql: clock.nowSql });
      await store.commit("one", [put("a", 0)]);
      const holder = await holding(touch(schema));
      const committing = store.commit("two", [put("a", 1, { before: 1_500 }), ...more]);
      await isWaitedFor(holder);
      await clock.set(1_500);
      await ends(holder, "ROLLBACK");
      expect(await committing).toMatchObject({
        status: "refused",
        write: 0,
        refusal: { because: "late", now: 1_500 },
      });
      expect((await store.approvals.get(scope, "a"))?.version).toBe(1);
      expect(await store.approvals.changes(scope, 0, 10)).toEqual([]);
    });

    it("STORE-06 keeps its lease while it waits: no new owner comes between", async () => {
      const schema = place();
      const store = await opened(schema);
      await setEpoch(schema, "desk", 1);
      await store.commit("one", [put("a", 0)]);
      const holder = await holding(touch(schema));
      const fence = { name: "desk", epoch: 1 };
      const committing = store.commit("two", [put("a", 1, { fence }), ...more]);
      await isWaitedFor(holder);
      const takeover = `UPDATE ${schema}.leases SET epoch = 2 WHERE key = 'desk'`;
      await expect(
        behind.query(`BEGIN; SET LOCAL lock_timeout = 50; ${takeover}`),
      ).rejects.toMatchObject({
        code: "55P03",
      });
      await ends(holder, "ROLLBACK");
      expect((await committing).status).toBe("done");
      await behind.query(`ROLLBACK; ${takeover}`);
      expect(await store.commit("three", [put("a", 2, { fence })])).toMatchObject({
        status: "refused",
        refusal: { because: "fenced", epoch: 2 },
      });
    });

    it("STORE-06 is refused where a new owner is just coming", async () => {
      const schema = place();
      const store = await opened(schema);
      await setEpoch(schema, "desk", 1);
      await store.commit("one", [put("a", 0)]);
      const newOwner = await holding(`UPDATE ${schema}.leases SET epoch = 2 WHERE key = 'desk'`);
      const fence = { name: "desk", epoch: 1 };
      const committing = store.commit("two", [put("a", 1, { fence }), ...more]);
      await isWaitedFor(newOwner);
      await ends(newOwner, "COMMIT");
      expect(await committing).toMatchObject({
        status: "refused",
        write: 0,
        refusal: { because: "fenced", epoch: 2 },
      });
      expect((await store.approvals.get(scope, "a"))?.version).toBe(1);
    });
  },
);

describe("a server that keeps silent", () => {
  it("STORE-07 R079 is a timeout for a read, unknown for a commit, and its connections are closed", async () => {
    const schema = place();
    const pool = watchedPool(url);
    const fired: (() => void)[] = [];
    const timers = {
      monotonic: () => 0,
      timer: (_: number, fire: () => void) => (fired.push(fire), () => {}),
    };
    const store = await openPostgres(pool, { schema, timers, behindPooler: true });
    const never = new Promise<undefined>(() => {});
    pool.reset({ before: () => never });
    const [reading, committing] = [
      store.approvals.get(scope, "a"),
      store.commit("one", [put("a", 0)]),
    ];
    while (pool.calls.length < 2) await new Promise((resolve) => setImmediate(resolve));
    for (const fire of fired) fire();
    await expect(reading).rejects.toMatchObject({ code: "store-unavailable", reason: "timeout" });
    expect(await committing).toMatchObject({ status: "unknown", cause: { reason: "timeout" } });
    expect(pool.real.totalCount).toBe(0);
    pool.reset();
    expect(await store.commit("one", [put("a", 0)])).toEqual({ status: "done", repeated: false });
    await pool.real.end();
  });

  it("STORE-07 R079 is a timeout where the pool has no connection to lend, and it takes one that comes late back", async () => {
    const schema = place();
    const pool = watchedPool(url, 1);
    const armed = new Set<() => void>();
    const timers = {
      monotonic: () => 0,
      timer: (_: number, fire: () => void) => (armed.add(fire), () => void armed.delete(fire)),
    };
    const store = await openPostgres(pool, { schema, timers, behindPooler: true });
    const kept = await pool.real.connect();
    const reading = Promise.allSettled([store.approvals.get(scope, "a")]);
    while (pool.real.waitingCount === 0) await new Promise((resolve) => setImmediate(resolve));
    for (const fire of armed) fire();
    expect(await reading).toMatchObject([{ status: "rejected", reason: { reason: "timeout" } }]);
    kept.release();
    expect(await store.approvals.get(scope, "a")).toBeUndefined();
    await pool.real.end();
  });
});
