// What happens rarely: a driver that throws what it never should, a server that takes a commit back without a word, ports on a
// pool by themselves.
import { isApprovalError } from "@holdpoint/approvals";
import { Pool } from "pg";
import { afterEach, describe, expect, it } from "vitest";

import {
  isPostgresError,
  openPostgres,
  postgresLeaseStore,
  postgresOutbox,
  PostgresStoreError,
} from "../src/index.ts";
import { machineClock } from "../src/clock.ts";
import { limits } from "../src/limits.ts";
import { Session } from "../src/sessions.ts";
import { Statements } from "../src/statements.ts";
import { rowOf, tables } from "../src/tables.ts";
import { isTakenBack, notCommitted, stateOf, unavailable } from "../src/unavailable.ts";
import { behind, movedClock, opened, place, url } from "./place.ts";
import { append, entry, put, scope } from "./record-writes.ts";
import { scriptedPool } from "./scripted-pool.ts";
import { serverError, watchedPool, type WatchedPool } from "./watched-pool.ts";

const pools: (WatchedPool | { readonly real: Pool })[] = [];
afterEach(async () => {
  for (const pool of pools.splice(0)) await pool.real.end();
});

describe("an error", () => {
  it("STORE-07 is named by the server's code, whatever was thrown", () => {
    for (const thrown of [undefined, null, "a text", 5, {}, { code: "ECONNRESET" }]) {
      expect([stateOf(thrown), isTakenBack(thrown)]).toEqual([undefined, false]);
      expect(unavailable(thrown, "reading")).toMatchObject({
        code: "store-unavailable",
        message: "reading failed: connection",
        cause: thrown,
      });
    }
    expect(stateOf({ code: "23505" })).toBeUndefined(); // no server said it
    expect(unavailable(serverError("0A000", "not supported"), "reading")).toMatchObject({
      reason: "other",
    });
  });

  it("STORE-07 of what a column refuses is the writer's mistake, with a constraint or without", () => {
    const refused = serverError("23514", "violates a check");
    expect(notCommitted(Object.assign(refused, { constraint: "state_known" }))).toMatchObject({
      code: "write-invalid",
      message: "the schema refuses a write: the constraint state_known",
    });
    expect(notCommitted(serverError("22003", "out of range"))).toMatchObject({
      code: "write-invalid",
      message: "the schema refuses a write: SQLSTATE 22003",
    });
    const own = new PostgresStoreError("schema-foreign", "another program's");
    expect(notCommitted(own)).toBe(own);
  });

  it("STORE-07 is known by its mark, and nothing else is", () => {
    const own = new PostgresStoreError("schema-foreign", "another program's");
    expect([isPostgresError(own), isPostgresError(own, "schema-foreign")]).toEqual([true, true]);
    expect(isPostgresError(own, "write-invalid")).toBe(false);
    for (const other of [undefined, null, "schema-foreign", {}, new Error("schema-foreign")]) {
      expect(isPostgresError(other)).toBe(false);
    }
  });

  it("STORE-08 of a bind names the first line of its statement", () => {
    const statements = new Statements({ schema: "s", now: "0::bigint", named: false });
    expect(() => statements.query("\n  SELECT :n\n  AS n", { n: 0.5 })).toThrow(
      /^:n can't be bound in: SELECT :n$/,
    );
  });

  it("STORE-04 STORE-07 of a column that holds no text is a damaged row", () => {
    const raw = { key: "k", rowVersion: 1, attempt: "a", sealed: 5 };
    expect(() => rowOf(tables.approvalAudit, raw)).toThrow(
      expect.objectContaining({ code: "store-unavailable", reason: "damaged" }),
    );
  });

  it("STORE-07 that is no error has its connection closed, like any that was not answered", async () => {
    const { pool, clients } = scriptedPool(() => Promise.reject("a text" as never));
    const session = new Session(await pool.connect(), { timers: machineClock, statementMs: 99 });
    await expect(session.run("SELECT 1")).rejects.toBe("a text");
    session.end();
    expect(clients[0]?.released).toMatchObject({ message: "broken", cause: "a text" });
  });
});

describe("a list of writes", () => {
  it("STORE-02 may hold no more than in every store", async () => {
    const store = await opened(place());
    const writes = Array.from({ length: limits.writesMax + 1 }, (_, at) => entry(at + 1, "x"));
    await expect(store.commit("one", writes)).rejects.toMatchObject({
      code: "write-invalid",
      message: expect.stringContaining("a list of 10001 writes") as string,
    });
    expect(await store.log.head(scope, "run-1")).toBe(0);
  });

  it("STORE-11 APR-26 that expected nothing is known as the attempt's own when it is repeated there", async () => {
    const store = await opened(place());
    const asked = [put("a", "any")];
    expect(await store.commit("one", asked)).toEqual({ status: "done", repeated: false });
    expect(await store.commit("one", asked)).toEqual({ status: "done", repeated: true });
    expect(await store.commit("two", asked)).toEqual({ status: "done", repeated: false });
    expect(await store.approvals.get(scope, "a")).toMatchObject({ version: 1, attempt: "one" });
  });
});

describe("a transaction", () => {
  const list = [put("a", 0), put("a", 1), append("a", 1)]; // two versions of a row: no single statement

  it("STORE-07 STORE-14 that the server takes back without a word is no commit", async () => {
    const schema = place();
    const real = new Pool({ connectionString: url, max: 2 });
    pools.push({ real });
    let fails = false;
    const pool = {
      options: { max: 1 },
      async connect() {
        const client = await real.connect();
        const query = async (asked: { readonly text: string; readonly values: unknown[] }) => {
          // Whatever fails between two statements: the COMMIT after it is answered by ROLLBACK.
          if (fails && asked.text === "COMMIT") await client.query("SELECT 1/0").catch(() => {});
          return client.query(asked);
        };
        return {
          query,
          release: (broken?: Error) => client.release(broken),
          on: client.on.bind(client),
          removeListener: client.removeListener.bind(client),
        };
      },
    };
    const store = await openPostgres(pool, { schema });
    fails = true;
    const error: unknown = await store.commit("one", list).catch((thrown: unknown) => thrown);
    expect(isApprovalError(error, "store-unavailable")).toBe(true);
    expect(error).toMatchObject({ reason: "other" });
    expect(await store.approvals.get(scope, "a")).toBeUndefined();
    fails = false;
    expect(await store.commit("one", list)).toEqual({ status: "done", repeated: false });
  });
});

describe("an opening", () => {
  function watched(): WatchedPool {
    const pool = watchedPool(url);
    pools.push(pool);
    return pool;
  }
  const lost = Object.assign(new Error("read ECONNRESET"), { code: "ECONNRESET" });

  it("STORE-07 that loses its connection while it reads whose schema it is says so, and not that it is another's", async () => {
    const schema = place();
    await opened(schema);
    const pool = watched();
    pool.reset({ instead: ({ verb }) => (verb === "SELECT owner," ? lost : undefined) });
    await expect(openPostgres(pool, { schema })).rejects.toMatchObject({
      code: "store-unavailable",
      reason: "connection",
      cause: lost,
    });
    pool.reset();
    expect(await (await openPostgres(pool, { schema })).log.head(scope, "run")).toBe(0);
  });

  it("STORE-01 STORE-07 whose migration can't even be rolled back leaves nothing, and closes its connection", async () => {
    const schema = place();
    const pool = watched();
    const full = serverError("53100", "could not extend file");
    pool.reset({
      instead: ({ verb }) => {
        if (verb === "CREATE SCHEMA") return full;
        return verb === "ROLLBACK" ? lost : undefined;
      },
    });
    await expect(openPostgres(pool, { schema })).rejects.toMatchObject({ reason: "full" });
    const [backend] = pool.calls.map((call) => call.backend);
    pool.reset();
    const store = await openPostgres(pool, { schema });
    await store.commit("one", [put("a", 0)]);
    expect(pool.calls.map((call) => call.backend)).not.toContain(backend);
  });

  it("STORE-07 that fails is forgotten by all who asked together, and the next one opens", async () => {
    const schema = place();
    const pool = watched();
    pool.reset({ instead: () => lost });
    const asked = [openPostgres(pool, { schema }), openPostgres(pool, { schema })];
    for (const each of await Promise.allSettled(asked)) {
      expect(each).toMatchObject({ status: "rejected", reason: { reason: "connection" } });
    }
    pool.reset();
    const store = await openPostgres(pool, { schema });
    expect((await openPostgres(pool, { schema })).home).toBe(store.home);
  });

  it("STORE-05 STORE-07 on the pool of a store that was closed is a new home", async () => {
    const schema = place();
    const first = await openPostgres(behind, { schema });
    await first.close();
    const second = await openPostgres(behind, { schema });
    expect(second.home).not.toBe(first.home);
    expect(await second.commit("one", [put("a", 0)])).toEqual({ status: "done", repeated: false });
    await expect(first.commit("two", [put("a", 1)])).rejects.toMatchObject({ reason: "closed" });
  });
});

describe("a port by itself", () => {
  it("STORE-01 STORE-15 keeps leases on a pool of its caller's, in one home with the others", async () => {
    const schema = place();
    const { nowSql } = await movedClock(schema, 77);
    const leases = await postgresLeaseStore(behind, { schema, nowSql });
    const values = { epoch: 1, owner: "me", until: 99 };
    const lease = { statement: "leases.put", scope, key: "s", expect: 0, values };
    expect((await leases.commit("one", [lease])).status).toBe("done");
    expect([await leases.now(), (await leases.get(scope, "s"))?.values]).toEqual([77, values]);
    expect(await leases.get(scope, "other")).toBeUndefined();
    expect((await leases.list(scope, { limit: 9 })).map(({ key }) => key)).toEqual(["s"]);
    expect((await postgresOutbox(behind, { schema })).home).toBe(leases.home);
  });

  it("STORE-01 STORE-15 keeps what is to be told on a pool of its caller's", async () => {
    const schema = place();
    const { nowSql } = await movedClock(schema, 77);
    const outbox = await postgresOutbox(behind, { schema, nowSql });
    const values = { state: "waiting", dueAt: 5, tries: 0, sealed: "sealed" };
    const told = { statement: "outbox.put", scope, key: "d", expect: "any", values } as const;
    await outbox.commit("one", [told]);
    expect(await outbox.now()).toBe(77);
    expect(await outbox.due(scope, 4, 9)).toEqual([]);
    expect((await outbox.due(scope, 5, 9)).map(({ key }) => key)).toEqual(["d"]);
  });
});
