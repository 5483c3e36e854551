import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";

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
import { describe, expect, it } from "vitest";

import { openSqlite } from "../src/index.ts";
import { limits } from "../src/limits.ts";
import { noExpiry as ownNoExpiry } from "../src/migrations.ts";
import { PreparedStatements } from "../src/prepared.ts";
import { tableByStatement, tables } from "../src/tables.ts";
import { append, put, scope } from "./record-writes.ts";

describe("the driver's traps", () => {
  const handle = new DatabaseSync(":memory:");
  handle.exec("CREATE TABLE kept (a, b)");

  it("STORE-03 are there: it binds NULL for an object, and replaces half a pair", () => {
    const insert = handle.prepare("INSERT INTO kept (a) VALUES (:a) RETURNING a");
    const loose = (values: unknown) => insert.get(values as Record<string, Cell>);
    expect(loose(new Date(0))).toEqual({ a: null });
    expect(loose({})).toEqual({ a: null });
    expect(loose({ a: "\uD800" })).toEqual({ a: "\uFFFD" });
    expect(() => handle.prepare("SELECT 9007199254740993 AS a").get()).toThrow(RangeError);
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
  ])("STORE-03 are refused in front of it: %s", (_, value) => {
    const prepared = new PreparedStatements(handle);
    const bind = (binds: unknown) =>
      prepared.change("INSERT INTO kept (a, b) VALUES (:a, :b)", binds as Record<string, Cell>);
    expect(() => bind({ a: value, b: 1 })).toThrow(
      expect.objectContaining({ code: "write-invalid" }),
    );
    expect(() => bind({ b: 1 })).toThrow("a can't be bound");
    expect(bind({ a: "text", b: null })).toBe(1);
  });
});

describe("the sources", () => {
  const folder = join(import.meta.dirname, "../src");
  const sources = readdirSync(folder).map((name) => ({
    name,
    text: readFileSync(join(folder, name), "utf8"),
  }));

  it("STORE-03 have one way by which a value reaches a statement", () => {
    const preparing = sources.filter(({ text }) => /\.prepare\(/.test(text));
    expect(preparing.map(({ name }) => name)).toEqual(["opening.ts", "prepared.ts"]);
    // What opening asks has no value in it.
    const opening = preparing[0]!.text;
    expect(opening.match(/\.(get|all|run)\([^)]*\)/g)).toEqual([".get()", ".get()"]);
  });

  it("STORE-03 begin no transaction that could have to become a writing one", () => {
    const begins = sources.flatMap(({ text }) => text.match(/"BEGIN[^"]*"/g) ?? []);
    expect(begins.length).toBeGreaterThan(2);
    expect(new Set(begins)).toEqual(new Set(['"BEGIN IMMEDIATE"']));
  });
});

describe("a write", () => {
  const store = openSqlite(":memory:");
  const changed = (more: object): Write => ({ ...put("a", 0), ...more });
  const values = put("a", 0).values;

  it.each([
    ["another table's statement", changed({ statement: "approvals.append" })],
    ["no table's statement", changed({ statement: "sqlite_schema.put" })],
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
    "STORE-03 STORE-08 is refused as invalid with %s, and nothing of its list is kept",
    async (_, write) => {
      const error: unknown = await store.commit("one", [put("beside", 0), write]).catch((e) => e);
      expect(isApprovalError(error, "write-invalid")).toBe(true);
      expect(await store.approvals.get(scope, "beside")).toBeUndefined();
    },
  );

  it.each(["'; DROP TABLE approvals; --", "?1", ":scope", "runs", "%", "*", "a\\' OR 1=1"])(
    "STORE-08 is read by values that stay values: %s",
    async (hostile) => {
      const own = openSqlite(":memory:");
      const page = { order: "oldest", limit: 9 } as const;
      await own.commit("one", [put("a", 0), append("a", 1)]);
      expect(await own.approvals.get(scope, hostile)).toBeUndefined();
      expect(await own.approvals.get(hostile, "a")).toBeUndefined();
      for (const filter of [{ tool: hostile }, { runId: hostile }]) {
        expect(await own.approvals.list(scope, filter, page)).toEqual([]);
      }
      expect(await own.approvals.history(scope, hostile, 0, 9)).toEqual([]);
      expect(await own.log.read(scope, hostile, 0, 9)).toEqual([]);
      expect(await own.runs.get(scope, hostile)).toBeUndefined();
      const runs = { definition: hostile, session: hostile };
      expect(await own.runs.list(scope, runs, page)).toEqual([]);
      await own.commit("two", [put("b", 0, { values: { tool: hostile } })]);
      const found = await own.approvals.list(scope, { tool: hostile }, page);
      expect(found.map(({ key, values: kept }) => [key, kept["tool"]])).toEqual([["b", hostile]]);
      expect((await own.approvals.get(scope, "a"))?.version).toBe(1);
      own.close();
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

  it("STORE-08 has columns that no part of a statement is called like", () => {
    const own = [
      "scope",
      "key",
      "rowVersion",
      "attempt",
      "expect",
      "now",
      "before",
      "from",
      "fence",
    ];
    for (const { columns } of Object.values(tables)) {
      for (const name of [
        ...own,
        "fencedBelow",
        "wanted",
        "limit",
        "afterValue",
        "afterId",
        "place",
      ]) {
        expect(Object.keys(columns)).not.toContain(name);
      }
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
