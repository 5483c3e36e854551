import { Pool, types } from "pg";
import { describe, expect, it } from "vitest";

import {
  openPostgres,
  postgresApprovalStore,
  postgresRunLog,
  postgresRunRegistry,
} from "../src/index.ts";
import { behind, movedClock, opened, place, url } from "./place.ts";
import { append, entry, move, put, scope } from "./record-writes.ts";

describe("an opened schema", () => {
  it("STORE-05 is one home for every port on a pool, and commits them together", async () => {
    const schema = place();
    const [approvals, log, runs, store] = await Promise.all([
      postgresApprovalStore(behind, { schema }),
      postgresRunLog(behind, { schema }),
      postgresRunRegistry(behind, { schema }),
      openPostgres(behind, { schema }),
    ]);
    expect(new Set([approvals.home, log.home, runs.home, store.home, store.runs.home]).size).toBe(
      1,
    );
    expect((await openPostgres(behind, { schema: place() })).home).not.toBe(store.home);
    const refused = await log.commit("one", [entry(1, "sealed"), move("run-1", 0), put("a", 1)]);
    expect(refused).toMatchObject({ status: "refused", write: 2 });
    expect(await log.head(scope, "run-1")).toBe(0);
    expect(await runs.get(scope, "run-1")).toBeUndefined();
    const writes = [entry(1, "sealed"), move("run-1", 0), put("a", 0), append("a", 1)];
    expect((await log.commit("two", writes)).status).toBe("done");
    expect(await log.head(scope, "run-1")).toBe(1);
    expect((await runs.get(scope, "run-1"))?.version).toBe(1);
    expect((await approvals.get(scope, "a"))?.version).toBe(1);
    await store.close();
    expect(behind.ended).toBe(false);
  });

  it("STORE-15 tells the server's time, or that of the expression that was passed in, and keeps one", async () => {
    const store = await opened(place());
    const { rows } = await behind.query<{ now: string }>(
      "SELECT extract(epoch FROM now()) * 1000 AS now",
    );
    expect(Math.abs((await store.now()) - Number(rows[0]?.now))).toBeLessThan(5_000);
    const schema = place();
    const { nowSql, move: pass } = await movedClock(schema, 5_000);
    const moved = await openPostgres(behind, { schema, nowSql });
    await pass(7);
    expect(await Promise.all([moved.now(), moved.approvals.now(), moved.log.now()])).toEqual([
      5_007, 5_007, 5_007,
    ]);
    await expect(postgresRunLog(behind, { schema, nowSql: "1::bigint" })).rejects.toMatchObject({
      code: "option-invalid",
    });
    expect((await postgresRunLog(behind, { schema })).home).toBe(moved.home);
  });

  it("STORE-04 reads the same whatever parsers a pool's owner has set for large integers", async () => {
    const schema = place();
    await opened(schema).then((store) => store.commit("one", [put("a", 0), append("a", 1)]));
    for (const parser of [Number, BigInt, (text: string) => text]) {
      const getTypeParser = (id: number, format: unknown): unknown =>
        id === 20 ? parser : types.getTypeParser(id, format as "text");
      const pool = new Pool({
        connectionString: url,
        types: { getTypeParser } as Pool["options"]["types"],
      });
      const { approvals } = await openPostgres(pool, { schema });
      expect(await approvals.get(scope, "a")).toMatchObject({
        version: 1,
        values: { requestedAt: 1_000 },
      });
      expect((await approvals.changes(scope, 0, 9)).map(({ position }) => position)).toEqual([1]);
      await pool.end();
    }
  });

  it("STORE-12 outlives the process", async () => {
    const store = await opened(place());
    expect([store.durable, store.approvals.durable, store.log.durable]).toEqual([true, true, true]);
  });

  it("STORE-01 is opened, read and written by a role that may not create anything", async () => {
    const schema = place();
    await opened(schema);
    const role = `${schema}_role`;
    await behind.query(`CREATE ROLE ${role} LOGIN;
      GRANT USAGE ON SCHEMA ${schema} TO ${role};
      GRANT SELECT, INSERT, UPDATE ON ALL TABLES IN SCHEMA ${schema} TO ${role}`);
    const as = new URL(url);
    as.username = role;
    const store = await openPostgres(as.href, { schema });
    expect(
      (await store.commit("one", [put("a", 0, { fence: { name: "s", epoch: 1 } }), append("a", 1)]))
        .status,
    ).toBe("done");
    await expect(openPostgres(as.href, { schema: place() })).rejects.toMatchObject({
      code: "store-unavailable",
      reason: "permission",
    });
    await store.close();
    await behind.query(`DROP OWNED BY ${role}; DROP ROLE ${role}`);
  });
});

describe("a schema that is no store", () => {
  const cases: readonly (readonly [string, string])[] = [
    ["a table", "CREATE TABLE {}.orders (id text)"],
    ["a view", "CREATE VIEW {}.orders AS SELECT 1 AS id"],
    ["a sequence", "CREATE SEQUENCE {}.numbers"],
    ["a function", "CREATE FUNCTION {}.one() RETURNS int LANGUAGE sql AS 'SELECT 1'"],
    ["a table of the mark's name", "CREATE TABLE {}.schema_version (version int)"],
    ["no mark in such a table", "CREATE TABLE {}.schema_version (owner text, version int)"],
    [
      "another's mark",
      "CREATE TABLE {}.schema_version AS SELECT 'somebody' AS owner, 1 AS version",
    ],
  ];

  it.each(cases)("STORE-07 is refused by name and left as it was: it has %s", async (_, sql) => {
    const schema = place();
    await behind.query(`CREATE SCHEMA ${schema}; ${sql.replace("{}", schema)}`);
    const count = async () =>
      (
        await behind.query(
          "SELECT count(*) FROM pg_class WHERE relnamespace = to_regnamespace($1)",
          [schema],
        )
      ).rows;
    const before = await count();
    await expect(opened(schema)).rejects.toMatchObject({ code: "schema-foreign", schema });
    await expect(opened(schema)).rejects.toThrow(schema);
    expect(await count()).toEqual(before);
  });

  it("STORE-07 is taken where it is empty", async () => {
    const schema = place();
    await behind.query(`CREATE SCHEMA ${schema}`);
    const store = await opened(schema);
    expect((await store.commit("one", [put("a", 0)])).status).toBe("done");
  });

  it("STORE-07 is refused in a database of another encoding", async () => {
    const database = `${place()}_latin`;
    await behind.query(
      `CREATE DATABASE ${database} ENCODING 'LATIN1' TEMPLATE template0 LOCALE 'C'`,
    );
    const at = new URL(url);
    at.pathname = database;
    await expect(openPostgres(at.href)).rejects.toMatchObject({ code: "database-encoding" });
    await behind.query(`DROP DATABASE ${database} WITH (FORCE)`);
  });
});

describe("what can't be opened", () => {
  const hostile = [
    "",
    "Holdpoint",
    'a"; drop schema public; --',
    "a.b",
    "pg_own",
    "1a",
    "ä",
    "x".repeat(49),
  ];

  it.each(hostile)("STORE-08 is refused as the name of a schema: %s", async (schema) => {
    await expect(openPostgres(behind, { schema })).rejects.toMatchObject({
      code: "option-invalid",
    });
  });

  it.each([0, -1, 0.5, Number.NaN, 2 ** 31])(
    "STORE-07 is refused as an option: a statement of %s ms",
    async (statementMs) => {
      await expect(openPostgres(behind, { statementMs })).rejects.toMatchObject({
        code: "option-invalid",
      });
    },
  );

  it.each(["", "desk", "mysql://user:secret@host/desk", "postgres://user:secret@[/desk"])(
    "STORE-07 is refused as a URL, without telling its password: %s",
    async (at) => {
      const error: unknown = await openPostgres(at).catch((thrown: unknown) => thrown);
      expect(error).toMatchObject({ code: "option-invalid" });
      expect(`${String(error)} ${String(Reflect.get(Object(error), "cause"))}`).not.toContain(
        "secret",
      );
    },
  );

  it("STORE-07 is unavailable where nobody listens", async () => {
    const at = new URL(url);
    at.port = "1";
    await expect(openPostgres(at.href)).rejects.toMatchObject({
      code: "store-unavailable",
      reason: "connection",
    });
  });

  it("STORE-07 is unavailable where the database is not there", async () => {
    const at = new URL(url);
    at.pathname = "no_such_database";
    await expect(openPostgres(at.href)).rejects.toMatchObject({ code: "store-unavailable" });
  });
});
