import { DatabaseSync } from "node:sqlite";

import { expect, it } from "vitest";

import { failAt, struckHandle, type DriverFaultKind } from "../src/index.ts";

it.each([
  ["busy", 5, 1],
  ["io", 10, 1],
  ["full", 13, 1],
  ["lost-answer", 10, 2],
] as const)(
  "TEST-04 a driver that fails its third call by %s says so as SQLite does",
  (kind: DriverFaultKind, errcode, rows) => {
    const real = new DatabaseSync(":memory:");
    const strike = failAt(3, kind);
    const handle = struckHandle(real, strike);
    handle.exec("CREATE TABLE t (n INTEGER)");
    const insert = handle.prepare("INSERT INTO t VALUES (?)");
    insert.run(1);
    expect(strike.struck).toBe(false);
    expect(() => insert.run(2)).toThrow(expect.objectContaining({ errcode }));
    expect([strike.struck, strike.calls]).toEqual([true, 3]);
    expect(real.prepare("SELECT count(*) AS rows FROM t").get()).toEqual({ rows });
    insert.run(3);
    handle.close();
  },
);
