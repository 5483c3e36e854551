import type { ApprovalFilter, ApprovalOrder } from "@holdpoint/approvals";
import type { RunFilter, RunOrder } from "@holdpoint/workflows";
import { Pool } from "pg";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { approvalPage } from "../src/approval-list.ts";
import { approvalReads } from "../src/approvals.ts";
import { openPostgres, type PostgresQuery } from "../src/index.ts";
import { pageBinds, pageSql, type KeysetPage } from "../src/keyset-page.ts";
import { leaseReads } from "../src/leases.ts";
import { logReads } from "../src/log.ts";
import { outboxReads } from "../src/outbox.ts";
import { runPage, runReads } from "../src/runs.ts";
import { Statements } from "../src/statements.ts";
import { url } from "./place.ts";
import { append, entry, move, put, scope } from "./record-writes.ts";
import { watchedPool } from "./watched-pool.ts";
import { fill } from "./waiting-rows.ts";

const waiting = 100_000;
const schema = `plans_${process.pid}`;
const statements = new Statements({ schema, now: "0::bigint", named: false });
const pool = new Pool({ connectionString: url, max: 2 });

interface Step {
  readonly "Node Type": string;
  readonly "Relation Name"?: string;
  readonly "Index Name"?: string;
  readonly "Index Cond"?: string;
  readonly Plans?: readonly Step[];
}

/** How Postgres would run a statement, a line a step. */
async function planOf({ text, values }: PostgresQuery): Promise<readonly Step[]> {
  const { rows } = await pool.query<{ "QUERY PLAN": readonly { readonly Plan: Step }[] }>({
    text: `EXPLAIN (FORMAT JSON) ${text}`,
    values,
  });
  const steps: Step[] = [];
  const walk = (step: Step): void => {
    steps.push(step);
    for (const below of step.Plans ?? []) walk(below);
  };
  walk(rows[0]!["QUERY PLAN"][0]!.Plan);
  return steps;
}

/** The steps that touch tables: each along an index, none through the table. */
async function bound(query: PostgresQuery): Promise<readonly Step[]> {
  const steps = await planOf(query);
  expect(steps.filter((step) => step["Node Type"] === "Seq Scan")).toEqual([]);
  return steps.filter((step) => step["Node Type"].includes("Index"));
}

beforeAll(async () => {
  await openPostgres(pool, { schema });
  await fill(pool, schema, waiting, 30);
}, 300_000);

afterAll(async () => {
  await pool.query(`DROP SCHEMA ${schema} CASCADE`);
  await pool.end();
});

const page = { limit: 50, after: { value: 5_000, id: "r-5000" } };
const filters: readonly ApprovalFilter[] = [
  {},
  { state: "pending" },
  { state: "pending", tool: "pay" },
  { requestedBefore: 9_000 },
];
const orders: readonly ApprovalOrder[] = ["oldest", "newest", "expiring"];
const runFilters: readonly RunFilter[] = [
  {},
  { status: "interrupted", session: "desk" },
  { definition: "refund" },
];
const runOrders: readonly RunOrder[] = ["oldest", "newest", "stalest", "latest"];
const lists: readonly (readonly [string, string, KeysetPage])[] = [
  ...filters.flatMap((filter) =>
    orders.map((order) => {
      const index = order === "expiring" ? "approvals_by_expiry" : "approvals_by_age";
      const list = approvalPage(scope, filter, { order, ...page });
      return [`approvals ${order} ${JSON.stringify(filter)}`, index, list] as const;
    }),
  ),
  ...runFilters.flatMap((filter) =>
    runOrders.map((order) => {
      const index = order === "oldest" || order === "newest" ? "runs_by_age" : "runs_by_move";
      const list = runPage(scope, filter, { order, ...page });
      return [`runs ${order} ${JSON.stringify(filter)}`, index, list] as const;
    }),
  ),
];

const reads = Object.entries({
  ...approvalReads,
  ...prefixed("log", logReads),
  ...prefixed("run", runReads),
  ...prefixed("lease", leaseReads),
  ...prefixed("outbox", outboxReads),
});
const binds = {
  scope,
  id: "r-7",
  name: "session-7",
  now: 50,
  runId: "run-7",
  requestKey: "key-of-r-7",
  requestKeys: ["key-of-r-7", "key-of-r-8"],
  key: "refund/key",
  run: "run-7",
  after: "run-7/000000000000",
  end: "run-7/:",
  start: 5,
  session: "desk",
  until: 50,
  afterValue: -1,
  afterId: "",
  limit: 50,
};

// A table that was just filled has no statistics until Postgres gets to it.
describe.each(["without statistics", "with statistics"])(
  `with ${waiting} waiting runs and records, %s`,
  (which) => {
    beforeAll(async () => {
      if (which === "with statistics") await pool.query("ANALYZE");
    });

    it("STORE-10 has them all", async () => {
      for (const table of ["approvals", "approval_audit", "log", "runs"]) {
        const { rows } = await pool.query(`SELECT count(*)::int AS rows FROM ${schema}.${table}`);
        expect(rows).toEqual([{ rows: waiting }]);
      }
    });

    it.each(reads)(
      "STORE-10 the read %s is bound to an index, and sorts no more than it found",
      async (name, sql) => {
        const after = name === "changes" ? 5_000 : binds.after;
        const query = statements.query(sql, { ...binds, after });
        expect((await bound(query)).length).toBeGreaterThan(0);
        const sorts = (await planOf(query)).filter((step) => step["Node Type"].includes("Sort"));
        // What is believed to be a few rows may be sorted after they are found.
        expect(which === "with statistics" ? sorts : []).toEqual([]);
      },
    );

    it.each(lists)(
      "STORE-10 the list of %s reads its index in order, from its place on",
      async (_, index, list) => {
        const query = statements.query(pageSql(list), pageBinds(list));
        const steps = await bound(query);
        expect(steps).toHaveLength(list.statuses.length);
        for (const step of steps) {
          expect(step["Index Name"]).toBe(index);
          expect(step["Index Cond"]).toMatch(/ROW\(.*, key\)|\(key [<>]/);
        }
        const sorts = (await planOf(query)).filter((step) => step["Node Type"].includes("Sort"));
        expect(sorts).toEqual([]);
      },
    );

    it.each(orders)(
      "STORE-10 the list of what expires, %s, looks at nothing else",
      async (order) => {
        const list = approvalPage(
          scope,
          { state: "pending", expiresBefore: 9_000 },
          { order, limit: 50 },
        );
        const steps = await bound(statements.query(pageSql(list), pageBinds(list)));
        expect(steps).toHaveLength(1);
        expect(steps[0]?.["Index Cond"]).toContain("expiry_place <");
      },
    );

    it("STORE-10 the list of one run's records finds them by the run", async () => {
      const list = approvalPage(scope, { runId: "run-7" }, { order: "oldest", limit: 50 });
      const steps = await bound(statements.query(pageSql(list), pageBinds(list)));
      for (const step of steps) expect(step["Index Cond"]).toContain("run_id = 'run-7'");
    });

    it("STORE-10 R094 P9 deciding and resuming one runs no statement that is not bound to an index", async () => {
      const watched = watchedPool(url);
      const store = await openPostgres(watched, { schema, behindPooler: true });
      const own = `one-${which.length}`;
      const fence = { name: "desk", epoch: 0 };
      const values = { runId: own };
      await store.commit("one", [put(own, 0, { values }), append(own, 1), move(own, 0)]);
      watched.reset();
      const writes = [
        put(own, 1, { values: { ...values, state: "decided" }, before: 2 ** 52, fence }),
        append(own, 2),
        entry(1, "answered", own),
        move(own, 1),
      ];
      expect((await store.commit("two", writes)).status).toBe("done");
      expect((await store.commit("three", writes)).status).toBe("refused");
      expect((await store.commit("two", writes)).status).toBe("done");
      await store.approvals.lastChange(scope);
      const queries = watched.calls
        .map(({ query }) => query)
        .filter(({ text }) => /^(WITH|SELECT)/.test(text));
      expect(new Set(queries.map(({ text }) => text)).size).toBeGreaterThan(6);
      for (const query of queries) await bound(query);
      await pool.query(`DELETE FROM ${schema}.approvals WHERE key = $1`, [own]);
      for (const table of ["approval_audit", "log"]) {
        await pool.query(`DELETE FROM ${schema}.${table} WHERE key LIKE $1`, [`${own}/%`]);
      }
      await pool.query(`DELETE FROM ${schema}.runs WHERE key = $1`, [own]);
      await watched.real.end();
    });
  },
);

function prefixed(port: string, all: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(all).map(([name, sql]) => [`${port} ${name}`, sql]));
}
