import {
  isApprovalError,
  limits as portLimits,
  noExpiry,
  putLease,
  statements,
  type Cell,
  type Write,
} from "@holdpoint/approvals";
import { appendWrite, snapshotWrite } from "@holdpoint/flow";
import { putOutbox, runStatements, startKeyOf } from "@holdpoint/workflows";
import { beforeEach, describe, expect, it } from "vitest";

import type { PostgresStore } from "../src/index.ts";
import { limits } from "../src/limits.ts";
import { noExpiry as ownNoExpiry } from "../src/migrations.ts";
import { Statements } from "../src/statements.ts";
import { integerOf, sqlName, tableByStatement, tables } from "../src/tables.ts";
import { behind, opened, place } from "./place.ts";
import { append, put, scope } from "./record-writes.ts";

describe("the driver's traps", () => {
  it("STORE-04 are there: a bigint is a text, a date loses its microseconds, an object becomes JSON", async () => {
    const ask = async (sql: string, values: unknown[] = []): Promise<unknown> => {
      const { rows } = await behind.query<{ a: unknown }>(`SELECT ${sql} AS a`, values);
      return rows[0]?.a;
    };
    expect(await ask("9007199254740993::bigint")).toBe("9007199254740993");
    const at = await ask("timestamptz '2026-11-30 04:00:00.123456+00'");
    expect(at).toEqual(new Date("2026-11-30T04:00:00.123Z"));
    expect(await ask("$1::text", [{ a: 1 }])).toBe('{"a":1}');
    expect(await ask("$1::text", ["\uD800"])).toBe("\uFFFD");
    await expect(ask("$1::text", ["a\0b"])).rejects.toMatchObject({ code: "22021" });
  });

  it.each(["9007199254740993", "1.5", "x", "NaN", 0.5, 2n ** 53n, null, undefined, new Date(0)])(
    "STORE-04 are no integers where they are not safe ones: %s",
    (raw) => {
      const read = () => integerOf(raw);
      expect(read).toThrow(
        expect.objectContaining({ code: "store-unavailable", reason: "damaged" }),
      );
    },
  );

  it.each([
    ["9007199254740991", Number.MAX_SAFE_INTEGER],
    ["0", 0],
    [7, 7],
    [7n, 7],
  ])("STORE-04 are integers whatever parser the pool's owner has set: %s", (raw, value) => {
    expect(integerOf(raw)).toBe(value);
  });

  it.each([
    ["a date", new Date(0)],
    ["an object", { a: 1 }],
    ["nothing", undefined],
    ["half a pair", "\uD800"],
    ["U+0000", "a\0b"],
    ["a large integer", 2 ** 53],
    ["a bigint", 1n],
    ["a fraction", 0.5],
    ["not a number", Number.NaN],
    ["minus zero", -0],
    ["a boolean", true],
    ["bytes", new Uint8Array(1)],
    ["a list of numbers", [1]],
    ["a list of half a pair", ["\uD800"]],
  ])("STORE-04 STORE-08 are refused in front of it: %s", (_, value) => {
    const statements = new Statements({ schema: "s", now: "0", named: true });
    const bind = (binds: unknown) =>
      statements.query("SELECT :a, :b", binds as Record<string, Cell>);
    expect(() => bind({ a: value, b: 1 })).toThrow(
      expect.objectContaining({ code: "write-invalid" }),
    );
    expect(() => bind({ b: 1 })).toThrow("a can't be bound");
    expect(bind({ a: "text", b: null }).values).toEqual(["text", null]);
  });

  it("STORE-08 are kept out of statements: a bind is a number in the text, a cast stays a cast", () => {
    const statements = new Statements({ schema: "own", now: "clock()", named: true });
    const sql = "SELECT :a::text, {now} FROM {runs} WHERE b = :b2 AND c = :a";
    const query = statements.query(sql, { a: "'; drop table runs; --", b2: 1 });
    expect(query).toEqual({
      name: expect.stringMatching(/^holdpoint_[0-9a-f]{32}$/),
      text: 'SELECT $1::text, clock() FROM "own".runs WHERE b = $2 AND c = $1',
      values: ["'; drop table runs; --", 1],
    });
    const other = new Statements({ schema: "other", now: "clock()", named: true });
    expect(other.query(sql, { a: "a", b2: 1 }).name).not.toBe(query.name);
  });
});

describe("a write", () => {
  let store: PostgresStore;
  beforeEach(async () => {
    store = await opened(place());
  });
  const changed = (more: object): Write => ({ ...put("a", 0), ...more });
  const values = put("a", 0).values;

  it.each([
    ["another table's statement", changed({ statement: "approvals.append" })],
    ["no table's statement", changed({ statement: "pg_class.put" })],
    ["a column too many", changed({ values: { ...values, more: 1 } })],
    ["a column too few", changed({ values: { state: "pending" } })],
    ["an inherited column", changed({ values: Object.create(values) as object })],
    ["a number for a text", changed({ values: { ...values, tool: 7 } })],
    ["a text for a number", changed({ values: { ...values, requestedAt: "7" } })],
    ["nothing for a text", changed({ values: { ...values, sealed: null } })],
    ["a state that no list would show", changed({ values: { ...values, state: "lost" } })],
    ["a limit of no number", changed({ before: Number.NaN })],
    ["a fence without an epoch", changed({ fence: { name: "s" } })],
    ["a fence with a hostile name", changed({ fence: { name: "\uD800", epoch: 1 } })],
    ["another version of an entry", { ...appendWrite(scope, "r", 1, "t"), expect: 1 }],
  ])(
    "STORE-08 is refused as invalid with %s, and nothing of its list is kept",
    async (_, write) => {
      const error: unknown = await store.commit("one", [put("beside", 0), write]).catch((e) => e);
      expect(isApprovalError(error, "write-invalid")).toBe(true);
      expect(await store.approvals.get(scope, "beside")).toBeUndefined();
    },
  );

  it.each(["'; DROP SCHEMA public CASCADE; --", "$1", ":scope", "{runs}", "%", "a\\' OR 1=1"])(
    "STORE-08 is read by values that stay values: %s",
    async (hostile) => {
      const page = { order: "oldest", limit: 9 } as const;
      await store.commit("one", [put("a", 0), append("a", 1)]);
      expect(await store.approvals.get(scope, hostile)).toBeUndefined();
      expect(await store.approvals.get(hostile, "a")).toBeUndefined();
      for (const filter of [{ tool: hostile }, { runId: hostile }]) {
        expect(await store.approvals.list(scope, filter, page)).toEqual([]);
      }
      expect(await store.approvals.history(scope, hostile, 0, 9)).toEqual([]);
      expect(await store.log.read(scope, hostile, 0, 9)).toEqual([]);
      expect(await store.runs.get(scope, hostile)).toBeUndefined();
      expect(await store.runs.list(scope, { definition: hostile, session: hostile }, page)).toEqual(
        [],
      );
      const named = put("b", 0, { values: { tool: hostile } });
      await store.commit("two", [named]);
      const found = await store.approvals.list(scope, { tool: hostile }, page);
      expect(found.map(({ key, values }) => [key, values["tool"]])).toEqual([["b", hostile]]);
      expect((await store.approvals.get(scope, "a"))?.version).toBe(1);
    },
  );

  it("STORE-08 is in the history of one record, also where another's id looks like one of its keys", async () => {
    const ids = ["h", "h/00000001", "h/00000001/00000001"];
    for (const id of ids) await store.commit(`of-${id}`, [append(id, 1), append(id, 2)]);
    for (const id of ids) {
      const rows = await store.approvals.history(scope, id, 0, 10);
      expect(rows.map(({ key }) => key)).toEqual([append(id, 1).key, append(id, 2).key]);
      const rest = await store.approvals.history(scope, id, 1, 10);
      expect(rest.map(({ key }) => key)).toEqual([append(id, 2).key]);
    }
  });

  it("STORE-08 STORE-11 may name the ports' statements and no others", () => {
    const ports = [
      ...Object.values(statements),
      ...Object.values(runStatements),
      putLease,
      putOutbox,
    ];
    const logs = [
      appendWrite(scope, "r", 1, "t"),
      snapshotWrite(scope, "r", { version: 1, revision: 1, text: "t" }),
    ];
    const names = new Set<string>([...ports, ...logs.map(({ statement }) => statement)]);
    expect(new Set(tableByStatement.keys())).toEqual(names);
    for (const [name, table] of tableByStatement) expect(name.split(".")[0]).toBe(table.name);
  });

  it("STORE-08 has columns that are no column of the store's own, and need no quotes", () => {
    const own = ["scope", "key", "rowVersion", "attempt", "position", "place"];
    for (const { columns } of Object.values(tables)) {
      for (const name of own) expect(Object.keys(columns)).not.toContain(name);
      for (const name of Object.keys(columns)) expect(sqlName(name)).toMatch(/^[a-z]+(_[a-z]+)*$/);
    }
  });

  it("STORE-02 is bounded as in every store", () => {
    expect(ownNoExpiry).toBe(noExpiry);
    for (const name of ["writesMax", "idCharactersMax", "keyCharactersMax"] as const) {
      expect(limits[name]).toBe(portLimits[name]);
    }
    expect(startKeyOf("refund", "key")).toBe("refund/key");
  });
});
