import { isApprovalError, systemClock } from "@holdpoint/approvals";
import { afterEach, describe, expect, it } from "vitest";

import { openPostgres, PostgresStoreError } from "../src/index.ts";
import { behind, opened, place, terminate, url } from "./place.ts";
import { append, put, scope } from "./record-writes.ts";
import { serverError, watchedPool, type Fault, type WatchedPool } from "./watched-pool.ts";

const lost = Object.assign(new Error("read ECONNRESET"), { code: "ECONNRESET" });
const full = serverError("53100", "could not extend file: No space left on device");
const ended = serverError("57P01", "terminating connection due to administrator command", "FATAL");

const pools: WatchedPool[] = [];
afterEach(async () => {
  for (const pool of pools.splice(0)) await pool.real.end();
});

async function watched() {
  const schema = place();
  const pool = watchedPool(url);
  pools.push(pool);
  const store = await openPostgres(pool, { schema });
  await store.commit("one", [put("a", 0), append("a", 1)]);
  pool.reset();
  return { schema, pool, store };
}

/** What is in the schema, read by another connection. */
async function standing(schema: string): Promise<unknown[]> {
  const store = await opened(schema);
  const rows = await store.approvals.list(scope, {}, { order: "oldest", limit: 100 });
  const changes = await store.approvals.changes(scope, 0, 100);
  return [rows.map(({ key, version }) => `${key} ${version}`), changes.map(({ row }) => row.key)];
}

/** One statement, and a list that has to be a transaction: two versions of one row. */
const forms = [
  {
    form: "statement",
    writes: [put("a", 1), append("a", 2), put("b", 0), append("b", 1)],
    last: 1,
    rows: ["a 2", "b 1"],
  },
  {
    form: "transaction",
    writes: [put("a", 1), append("a", 2), put("b", 0), put("b", 1), append("b", 1)],
    last: 7,
    rows: ["a 2", "b 2"],
  },
] as const;
const before = [["a 1"], [append("a", 1).key]];
const after = (rows: readonly string[]): unknown[] => [
  rows,
  [append("a", 1), append("a", 2), append("b", 1)].map(({ key }) => key),
];

describe("a commit", () => {
  it.each(forms)(
    "STORE-07 STORE-14 is nothing but statements, as one $form",
    async ({ form, writes }) => {
      const { pool, store } = await watched();
      await store.commit("two", writes);
      const verbs = pool.calls.map(({ verb }) => verb);
      expect(verbs).toEqual(
        form === "statement"
          ? ["WITH s"]
          : ["BEGIN ISOLATION", "WITH w0", "WITH w0", "WITH w0", "WITH p0", "WITH p0", "COMMIT"],
      );
    },
  );

  const at = forms.flatMap(({ form, writes, last, rows }) =>
    Array.from({ length: last }, (_, index) => ({
      form,
      writes,
      last,
      rows,
      number: index + 1,
    })),
  );
  const faults = at.flatMap((place) => [
    { ...place, when: "instead", error: lost } as const,
    { ...place, when: "after", error: lost } as const,
    { ...place, when: "after", error: ended } as const,
    { ...place, when: "instead", error: full } as const,
  ]);

  it.each(faults)(
    "STORE-07 STORE-11 that fails at call $number of a $form, $when of it, by $error.message, is told of as it is and can be repeated",
    async ({ number, when, error, writes, last, rows }) => {
      const { schema, pool, store } = await watched();
      pool.reset({
        [when]: (call: { number: number }) => (call.number === number ? error : undefined),
      });
      const outcome: unknown = await store.commit("two", writes).catch((thrown: unknown) => thrown);
      const isUnknown = number === last && error !== full;
      expect(isApprovalError(outcome, "store-unavailable")).toBe(!isUnknown);
      expect(outcome).toMatchObject(
        isUnknown
          ? { status: "unknown", cause: error }
          : {
              code: "store-unavailable",
              cause: error,
              reason: error === full ? "full" : "connection",
            },
      );
      const stands = isUnknown && when === "after";
      expect(await standing(schema)).toEqual(stands ? after(rows) : before);
      pool.reset();
      expect(await store.commit("two", writes)).toEqual({ status: "done", repeated: stands });
      expect(await standing(schema)).toEqual(after(rows));
      expect(await store.commit("three", writes)).toMatchObject({ status: "refused", write: 0 });
    },
  );

  it.each(at)(
    "STORE-07 whose backend is ended before call $number of a $form is unknown only at its last, and can be repeated",
    async ({ number, writes, last, rows }) => {
      const { schema, pool, store } = await watched();
      pool.reset({
        before: async (call) => (call.number === number ? terminate(call.backend) : undefined),
      });
      const outcome: unknown = await store.commit("two", writes).catch((thrown: unknown) => thrown);
      const isLast = number === last;
      expect(outcome).toMatchObject(
        isLast ? { status: "unknown" } : { code: "store-unavailable", reason: "connection" },
      );
      expect(await standing(schema)).toEqual(before);
      pool.reset();
      expect(await store.commit("two", writes)).toEqual({ status: "done", repeated: false });
      expect(await standing(schema)).toEqual(after(rows));
    },
  );

  const conflicts = at.flatMap((place) => ["40001", "40P01"].map((code) => ({ ...place, code })));

  it.each(conflicts)(
    "STORE-11 R084 that meets $code at call $number of a $form is tried again as a whole, under the same attempt",
    async ({ number, code, writes, rows }) => {
      const { schema, pool, store } = await watched();
      pool.reset({
        instead: (call) => (call.number === number ? serverError(code, "met another") : undefined),
      });
      expect(await store.commit("two", writes)).toEqual({ status: "done", repeated: false });
      expect(await standing(schema)).toEqual(after(rows));
    },
  );

  it("STORE-11 that always meets others ends as busy, after a bounded number of tries", async () => {
    const { schema, pool, store } = await watched();
    let tries = 0;
    pool.reset({
      instead: ({ verb }) => {
        if (verb !== "WITH s") return undefined;
        tries += 1;
        return serverError("40P01", "deadlock detected");
      },
    });
    await expect(store.commit("two", forms[0].writes)).rejects.toMatchObject({
      code: "store-unavailable",
      reason: "busy",
    });
    expect(tries).toBe(20);
    expect(await standing(schema)).toEqual(before);
  });

  it("STORE-11 names what stands where that moved while it was asked why, by trying again", async () => {
    const { schema, pool, store } = await watched();
    const other = await opened(schema);
    let isMoved = false;
    pool.reset({
      async before({ query }) {
        if (isMoved || !query.text.startsWith("SELECT key")) return;
        isMoved = true;
        await other.commit("meanwhile", [put("a", 1)]);
      },
    });
    // Version 2 is not there yet when the statement runs, and is when it is asked what stands.
    expect(await store.commit("two", [put("a", 2)])).toEqual({ status: "done", repeated: false });
    expect(isMoved).toBe(true);
  });

  it("STORE-07 closes a connection whose transaction it can't take back, and goes on with another", async () => {
    const { schema, pool, store } = await watched();
    const fault: Fault = {
      instead: ({ verb }) => (verb === "ROLLBACK" ? lost : verb === "WITH p0" ? full : undefined),
    };
    pool.reset(fault);
    await expect(store.commit("two", forms[1].writes)).rejects.toMatchObject({ reason: "full" });
    expect(await standing(schema)).toEqual(before);
    pool.reset();
    expect(await store.commit("two", forms[1].writes)).toEqual({ status: "done", repeated: false });
  });

  it("STORE-14 wakes nobody before the server answered it", async () => {
    const { pool, store } = await watched();
    const order: string[] = [];
    const last = await store.approvals.lastChange(scope);
    const waiting = store.approvals.wait(scope, last, new AbortController().signal);
    const woken = waiting.then(() => order.push("woken"));
    await store.approvals.lastChange(scope);
    pool.reset({
      before: async ({ verb }) => void (verb === "WITH s" && order.push("sent")),
      after: ({ verb }) => void (verb === "WITH s" && order.push("answered")),
    });
    await store.commit("two", [append("a", 2)]);
    await woken;
    expect(order).toEqual(["sent", "answered", "woken"]);
  });

  it.each(forms)(
    "STORE-14 R092 waits for the disk as one $form, also where the database's default is not to",
    async ({ writes }) => {
      const { schema } = await watched();
      await behind.query(`CREATE TABLE ${schema}.seen (setting text);
        CREATE FUNCTION ${schema}.see() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
          INSERT INTO ${schema}.seen VALUES (current_setting('synchronous_commit')); RETURN NEW;
        END $$;
        CREATE CONSTRAINT TRIGGER see AFTER INSERT OR UPDATE ON ${schema}.approvals
          DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION ${schema}.see()`);
      const lazy = new URL(url);
      lazy.searchParams.set("options", "-c synchronous_commit=off");
      const store = await openPostgres(lazy.href, { schema });
      expect((await store.commit("two", writes)).status).toBe("done");
      await store.close();
      const { rows } = await behind.query(`SELECT DISTINCT setting FROM ${schema}.seen`);
      expect(rows).toEqual([{ setting: "on" }]);
    },
  );
});

describe("a read", () => {
  it("STORE-07 that fails is the port's unavailable, with its cause, and works afterwards", async () => {
    const { pool, store } = await watched();
    const { approvals, log, runs } = store;
    const page = { order: "oldest", limit: 10 } as const;
    const reads: readonly (() => Promise<unknown>)[] = [
      () => store.now(),
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
      pool.reset({ instead: () => lost });
      const error = await read().catch((thrown: unknown) => thrown);
      expect(isApprovalError(error, "store-unavailable")).toBe(true);
      expect(error).toMatchObject({ reason: "connection", cause: lost });
      pool.reset();
      await expect(read()).resolves.not.toBeInstanceOf(PostgresStoreError);
    }
  });

  it("STORE-07 whose backend is ended is unavailable, and works afterwards", async () => {
    const { pool, store } = await watched();
    pool.reset({ before: ({ backend }) => terminate(backend) });
    await expect(store.approvals.get(scope, "a")).rejects.toMatchObject({
      code: "store-unavailable",
      reason: "connection",
    });
    pool.reset();
    expect((await store.approvals.get(scope, "a"))?.version).toBe(1);
  });

  it("STORE-07 R090 is unavailable with its reason: a table is gone, a value is none of ours", async () => {
    const { schema, store } = await watched();
    await behind.query(`UPDATE ${schema}.approvals SET requested_at = 9007199254740993`);
    const damaged = { code: "store-unavailable", reason: "damaged" };
    await expect(store.approvals.get(scope, "a")).rejects.toMatchObject(damaged);
    await behind.query(`DROP TABLE ${schema}.runs`);
    await expect(store.runs.get(scope, "run")).rejects.toMatchObject(damaged);
  });

  // Without looks: what is shown is not that the next one would wake.
  const timers = { ...systemClock, timer: () => () => undefined };

  it("STORE-07 wakes whoever waits where it can't be known any more what for", async () => {
    const schema = place();
    const pool = watchedPool(url);
    pools.push(pool);
    const store = await openPostgres(pool, { schema, timers, behindPooler: true });
    const waiting = store.approvals.wait(scope, 99, new AbortController().signal);
    await store.approvals.lastChange(scope);
    pool.reset({
      instead: ({ verb }) => (verb === "SELECT wanted.scope," ? lost : undefined),
    });
    await store.commit("one", [append("a", 1)]);
    await expect(waiting).resolves.toBeUndefined();
  });

  it("STORE-07 after the end is unavailable, and whoever waited is woken", async () => {
    const store = await opened(place(), { timers });
    const waiting = store.approvals.wait(scope, 0, new AbortController().signal);
    await store.approvals.lastChange(scope);
    await Promise.all([store.close(), store.close()]);
    await waiting;
    for (const late of [
      () => store.approvals.get(scope, "a"),
      () => store.commit("one", [put("a", 0)]),
      () => store.approvals.wait(scope, 0, new AbortController().signal),
    ]) {
      await expect(late()).rejects.toMatchObject({ code: "store-unavailable", reason: "closed" });
    }
  });

  it("STORE-07 on a pool that its owner has ended is unavailable", async () => {
    const { pool, store } = await watched();
    pools.splice(0);
    await pool.real.end();
    const closed = { code: "store-unavailable", reason: "closed" };
    await expect(store.approvals.get(scope, "a")).rejects.toMatchObject(closed);
    await expect(store.commit("two", [put("b", 0)])).rejects.toMatchObject(closed);
  });
});
