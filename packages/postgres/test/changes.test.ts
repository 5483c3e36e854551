import { systemClock } from "@holdpoint/approvals";
import { Pool } from "pg";
import { afterEach, describe, expect, it } from "vitest";

import { openPostgres } from "../src/index.ts";
import { limits } from "../src/limits.ts";
import { behind, opened, place, terminate, url } from "./place.ts";
import { append, put, scope } from "./record-writes.ts";

const forever = new AbortController().signal;
const silent = { ...systemClock, timer: () => () => undefined };

/** Timers that fire when a test says so. */
function handTimers() {
  const armed = new Map<object, { readonly ms: number; readonly fire: () => void }>();
  return {
    monotonic: () => 0,
    timer(ms: number, fire: () => void) {
      const key = {};
      armed.set(key, { ms, fire });
      return () => void armed.delete(key);
    },
    isArmed: (ms: number): boolean => [...armed.values()].some((each) => each.ms === ms),
    /** Fires those of a length; answers how many there were. */
    fire(ms: number): number {
      const due = [...armed].filter(([, each]) => each.ms === ms);
      for (const [key, { fire }] of due) {
        armed.delete(key);
        fire();
      }
      return due.length;
    },
  };
}

async function listeners(schema: string): Promise<readonly number[]> {
  const { rows } = await behind.query<{ pid: number }>(
    "SELECT pid FROM pg_stat_activity WHERE query = $1",
    [`LISTEN "${schema}_changes"`],
  );
  return rows.map(({ pid }) => pid);
}

async function until(holds: () => Promise<boolean>): Promise<void> {
  // A turn of the event loop each time: what is waited for needs it.
  while (!(await holds())) await new Promise((resolve) => setImmediate(resolve));
}

describe("changes of other processes", () => {
  it("STORE-04 APR-27 are heard of by their announcement, without a look", async () => {
    const schema = place();
    const store = await opened(schema, { timers: silent });
    const other = await opened(schema);
    for (let number = 1; number <= 3; number += 1) {
      const waiting = store.approvals.wait(scope, number - 1, forever);
      await until(async () => (await listeners(schema)).length === 1);
      await other.commit(`c-${number}`, [append("a", number)]);
      await expect(waiting).resolves.toBeUndefined();
    }
  });

  it("STORE-04 APR-27 wake those of their scope alone", async () => {
    const schema = place();
    const store = await opened(schema, { timers: silent });
    const other = await opened(schema);
    const woken: string[] = [];
    const wait = async (of: string) => {
      await store.approvals.wait(of, 0, forever);
      woken.push(of);
    };
    const waits = [wait(scope), wait("other")];
    await until(async () => (await listeners(schema)).length === 1);
    await other.commit("one", [{ ...append("a", 1), scope: "other" }]);
    await waits[1];
    await other.commit("two", [append("a", 1)]);
    await waits[0];
    expect(woken).toEqual(["other", scope]);
  });

  it.each([{ behindPooler: true }, { behindPooler: false }])(
    "STORE-04 APR-27 are noticed by looking where their announcement is lost: %o",
    async ({ behindPooler }) => {
      const schema = place();
      const timers = handTimers();
      const store = await opened(schema, { timers, behindPooler });
      const waiting = store.approvals.wait(scope, 0, forever);
      await until(async () => timers.isArmed(limits.pollMs)); // it has looked once, and found nothing
      // Committed by somebody who announces nothing.
      await behind.query(
        `INSERT INTO ${schema}.approval_audit (position, scope, key, row_version, attempt, sealed)
         VALUES (1, $1, 'a/00000001', 1, 'one', 'entry')`,
        [scope],
      );
      expect(timers.fire(limits.pollMs)).toBe(1);
      await waiting;
      const listening = behindPooler ? 0 : 1;
      await until(async () => (await listeners(schema)).length === listening);
    },
  );

  it("STORE-04 STORE-07 R085 are heard of again after the connection that listened was ended", async () => {
    const schema = place();
    const store = await opened(schema);
    const other = await opened(schema);
    const waiting = store.approvals.wait(scope, 0, forever);
    await until(async () => (await listeners(schema)).length === 1);
    const [first] = await listeners(schema);
    await terminate(first!);
    await until(async () => (await listeners(schema)).some((pid) => pid !== first));
    await other.commit("one", [append("a", 1)]);
    await expect(waiting).resolves.toBeUndefined();
  });

  it("STORE-04 are listened for while somebody waits, and for a moment after", async () => {
    const schema = place();
    const timers = handTimers();
    const pool = new Pool({ connectionString: url, max: 3 });
    const { approvals } = await openPostgres(pool, { schema, timers });
    const stop = new AbortController();
    const waiting = approvals.wait(scope, 0, stop.signal);
    await until(async () => (await listeners(schema)).length === 1);
    stop.abort();
    await waiting;
    expect(await listeners(schema)).toHaveLength(1);
    expect(timers.fire(limits.netMs)).toBe(1);
    await until(async () => (await listeners(schema)).length === 0);
    await pool.end(); // nothing of it is on loan
  });

  it("STORE-04 are not listened for on a pool of one connection: a commit needs it", async () => {
    const schema = place();
    const pool = new Pool({ connectionString: url, max: 1 });
    const store = await openPostgres(pool, { schema });
    const waiting = store.approvals.wait(scope, 0, forever);
    await store.commit("one", [append("a", 1)]);
    await expect(waiting).resolves.toBeUndefined();
    await pool.end();
  });
});

describe("the order of changes", () => {
  const released: (() => Promise<unknown>)[] = [];
  afterEach(async () => {
    for (const release of released.splice(0)) await release();
  });

  it("STORE-04 APR-27 is that of their commits: a later one never overtakes one that is not through", async () => {
    const schema = place();
    const store = await opened(schema);
    // The commit of `slow` waits at its very end for a lock that the test holds.
    await behind.query(`CREATE FUNCTION ${schema}.hold() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        IF NEW.key LIKE 'slow/%' THEN PERFORM pg_advisory_xact_lock(4711); END IF; RETURN NEW;
      END $$;
      CREATE CONSTRAINT TRIGGER hold AFTER INSERT ON ${schema}.approval_audit
        DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION ${schema}.hold()`);
    const holder = await behind.connect();
    released.push(async () => holder.release());
    await holder.query("SELECT pg_advisory_lock(4711)");
    const blocked = async (many: number): Promise<boolean> => {
      const { rows } = await behind.query<{ many: number }>(
        "SELECT count(*)::int AS many FROM pg_stat_activity WHERE cardinality(pg_blocking_pids(pid)) > 0",
      );
      return rows[0]!.many >= many;
    };
    const slow = store.commit("one", [put("slow", 0), append("slow", 1)]);
    await until(() => blocked(1));
    const fast = store.commit("two", [put("fast", 0), append("fast", 1), append("fast", 2)]);
    const elsewhere = await store.commit("three", [{ ...append("x", 1), scope: "other" }]);
    expect(elsewhere.status).toBe("done"); // another scope waits for nobody
    await until(() => blocked(2));
    expect(await store.approvals.changes(scope, 0, 9)).toEqual([]);
    await holder.query("SELECT pg_advisory_unlock(4711)");
    expect([(await slow).status, (await fast).status]).toEqual(["done", "done"]);
    const told = await store.approvals.changes(scope, 0, 9);
    expect(told.map(({ position, row }) => `${position} ${row.key}`)).toEqual([
      "1 slow/00000001",
      "2 fast/00000001",
      "3 fast/00000002",
    ]);
  });
});
