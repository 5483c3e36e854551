import { DatabaseSync } from "node:sqlite";

import type { ApprovalFilter, ApprovalOrder, Cell } from "@holdpoint/approvals";
import type { RunFilter, RunOrder } from "@holdpoint/workflows";
import { beforeAll, describe, expect, it } from "vitest";

import { approvalPage } from "../src/approval-list.ts";
import { approvalReads } from "../src/approvals.ts";
import { openSqlite } from "../src/index.ts";
import { outboxReads } from "../src/outbox.ts";
import { pageSql, type KeysetPage } from "../src/keyset-page.ts";
import { leaseReads } from "../src/leases.ts";
import { logReads } from "../src/log.ts";
import { runPage, runReads } from "../src/runs.ts";
import { watchedHandle } from "./broken-handle.ts";
import { place } from "./place.ts";
import { append, entry, move, put, scope } from "./record-writes.ts";

const waiting = 100_000;

/** How SQLite would run a statement, a line a step. */
function planOf(handle: DatabaseSync, sql: string): readonly string[] {
  const binds: Record<string, Cell> = {};
  for (const [, name = ""] of sql.matchAll(/:([a-zA-Z]+)/g)) binds[name] = null;
  const rows = handle.prepare(`EXPLAIN QUERY PLAN ${sql}`).all(binds);
  return rows.map(({ detail }) => String(detail));
}

describe(`with ${waiting} waiting runs and records`, () => {
  let handle: DatabaseSync;

  beforeAll(async () => {
    handle = new DatabaseSync(":memory:");
    const store = openSqlite(handle);
    // One is committed as all are; the file itself makes the others of it, each with an id and times of its own.
    await store.commit("fill", [
      put("r-0", 0, { values: { runId: "run-0", requestedAt: 0, sealed: "x" } }),
      append("r-0", 1),
      entry(1, "sealed", "run-0"),
      { ...move("run-0", 0, 0), values: { ...move("run-0", 0, 0).values, sealed: "x" } },
    ]);
    const own: Readonly<Record<string, string>> = {
      key: "replace(key, '-0', '-' || n)",
      runId: "'run-' || n",
      run: "'run-' || n",
      requestKey: "'key-of-r-' || n",
      requestedAt: "n",
      updatedAt: "n",
      position: "position + n",
    };
    for (const table of ["approvals", "approvalAudit", "log", "runs"]) {
      const columns = handle
        .prepare("SELECT name FROM pragma_table_info(?)")
        .all(table)
        .map(({ name }) => String(name));
      const made = columns.map((name) => own[name] ?? name);
      handle.exec(`WITH RECURSIVE numbers (n) AS
          (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < ${waiting - 1})
        INSERT INTO ${table} (${columns.join(", ")})
        SELECT ${made.join(", ")} FROM numbers, (SELECT * FROM ${table})`);
    }
  }, 120_000);

  it("STORE-10 has them all", () => {
    const count = (table: string) => handle.prepare(`SELECT count(*) AS rows FROM ${table}`).get();
    for (const table of ["approvals", "approvalAudit", "log", "runs"]) {
      expect(count(table)).toEqual({ rows: waiting });
    }
  });

  const bound = (sql: string): readonly string[] => {
    const plan = planOf(handle, sql);
    expect(plan.length).toBeGreaterThan(0);
    const scans = plan.filter((step) => /\bSCAN\b/.test(step) && step !== "SCAN CONSTANT ROW");
    expect(scans).toEqual([]);
    return plan;
  };

  it.each(
    Object.entries({
      ...approvalReads,
      ...prefixed("log", logReads),
      ...prefixed("run", runReads),
      ...prefixed("lease", leaseReads),
      ...prefixed("outbox", outboxReads),
    }),
  )("STORE-10 the read %s is bound to an index, and sorts nothing", (_, sql) => {
    expect(bound(sql).filter((step) => step.includes("TEMP B-TREE"))).toEqual([]);
  });

  const page = { limit: 50, after: { value: 5_000, id: "r-5000" } };
  const filters: readonly ApprovalFilter[] = [
    {},
    { state: "pending" },
    { state: "pending", tool: "pay" },
    { requestedBefore: 9, expiresBefore: 9 },
  ];
  const orders: readonly ApprovalOrder[] = ["oldest", "newest", "expiring"];
  const runFilters: readonly RunFilter[] = [
    {},
    { status: "interrupted", session: "desk" },
    { definition: "refund" },
  ];
  const runOrders: readonly RunOrder[] = ["oldest", "newest", "stalest", "latest"];
  const lists: readonly (readonly [string, KeysetPage])[] = [
    ...filters.flatMap((filter) =>
      orders.map(
        (order) =>
          [
            `approvals ${order} ${JSON.stringify(filter)}`,
            approvalPage(scope, filter, { order, ...page }),
          ] as const,
      ),
    ),
    ...runFilters.flatMap((filter) =>
      runOrders.map(
        (order) =>
          [
            `runs ${order} ${JSON.stringify(filter)}`,
            runPage(scope, filter, { order, ...page }),
          ] as const,
      ),
    ),
  ];

  it.each(lists)(
    "STORE-10 the list of %s reads its index in order, from its place on",
    (_, list) => {
      const plan = bound(pageSql(list));
      expect(plan).toHaveLength(1);
      expect(plan[0]).toContain(`USING INDEX ${list.index}`);
      expect(plan[0]).toMatch(
        /\(scope=\? AND \w+=\? AND \(\w+,key\)[<>]\(\?,\?\)( AND \w+<\?)?\)$/,
      );
    },
  );

  it.each(orders)(
    "STORE-10 R094 P9 the first page of %s reads no further than its time limit",
    (order) => {
      const filter = { state: "pending", requestedBefore: 9, expiresBefore: 9 } as const;
      const plan = bound(pageSql(approvalPage(scope, filter, { order, limit: 50 })));
      expect(plan[0]).toMatch(/\(scope=\? AND state=\? AND (requestedAt|expiryPlace)<\?\)$/);
    },
  );

  it("STORE-10 the list of one run's records finds them by the run", () => {
    const list = approvalPage(scope, { runId: "run-7" }, { order: "oldest", ...page });
    expect(bound(pageSql(list))[0]).toContain("approvalsByRun (scope=? AND runId=? AND state=?)");
  });

  it("STORE-10 R094 P9 deciding and resuming one runs no statement that is not bound to an index", async () => {
    const watched = watchedHandle(place()());
    const store = openSqlite(watched);
    const fence = { name: "desk", epoch: 0 };
    await store.commit("one", [put("r-1", 0), append("r-1", 1), move("run-1", 0)]);
    watched.reset();
    const before = 2 ** 52;
    const writes = [
      put("r-1", 1, { values: { state: "decided" }, before, fence }),
      append("r-1", 2),
      entry(1, "answered"),
      move("run-1", 1),
    ];
    expect((await store.commit("two", writes)).status).toBe("done");
    expect((await store.commit("three", writes)).status).toBe("refused");
    expect((await store.commit("two", writes)).status).toBe("done");
    await store.approvals.lastChange(scope);
    const statements = new Set(watched.calls.map(({ sql }) => sql).filter((sql) => /\s/.test(sql)));
    statements.delete("BEGIN IMMEDIATE");
    expect(statements.size).toBeGreaterThan(6);
    for (const sql of statements) bound(sql);
    watched.end();
  });

  it("STORE-10 the index of a list holds what lists filter by, so that no other row is read", () => {
    const index = handle
      .prepare("SELECT name FROM pragma_index_info('approvalsByAge')")
      .all()
      .map(({ name }) => name);
    expect(index).toEqual(["scope", "state", "requestedAt", "key", "tool", "runId", "expiryPlace"]);
  });
});

function prefixed(port: string, reads: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(reads).map(([name, sql]) => [`${port} ${name}`, sql]));
}
