import {
  memoryApprovalStore,
  memoryHome,
  systemClock,
  type ApprovalFilter,
  type ApprovalOrder,
  type ApprovalStore,
  type PagePlace,
  placeOf,
  type Write,
} from "@holdpoint/approvals";
import {
  duePlaceOf,
  memoryRunRegistry,
  runPlaceOf,
  type RunFilter,
  type RunOrder,
  type RunPlace,
  type RunRegistry,
} from "@holdpoint/workflows";
import fc from "fast-check";
import { expect, it } from "vitest";

import { movedClock, opened, place } from "./place.ts";

const scope = fc.constantFrom("acme", "other");
const id = fc.constantFrom("a", "b", "c", "a/x");
const version = fc.oneof(fc.integer({ min: 0, max: 3 }), fc.constant("any" as const));
const guards = fc.record(
  {
    before: fc.integer({ min: 990, max: 1_030 }),
    from: fc.integer({ min: 990, max: 1_030 }),
    fence: fc.record({ name: fc.constantFrom("s", "t"), epoch: fc.integer({ min: 0, max: 3 }) }),
  },
  { requiredKeys: [] },
);
const state = fc.constantFrom("pending", "decided", "consumed");
const time = fc.integer({ min: 0, max: 20 });

const recordWrite = fc
  .tuple(scope, id, version, guards, state, time, fc.option(time), fc.constantFrom("pay", "mail"))
  .map(([inScope, key, expected, guard, stands, requestedAt, expiresAt, tool]): Write => ({
    statement: "approvals.put",
    scope: inScope,
    key,
    expect: expected,
    values: {
      state: stands,
      tool,
      runId: `run-${requestedAt % 3}`,
      requestKey: `k-${key}`,
      requestedAt,
      expiresAt,
      sealed: `${key} ${stands}`,
    },
    ...guard,
  }));
const keyWrite = fc
  .tuple(scope, id, version, guards)
  .map(([inScope, key, expected, guard]): Write => ({
    statement: "approvalKeys.put",
    scope: inScope,
    key,
    expect: expected,
    values: { id: key, asked: 1 },
    ...guard,
  }));
const auditWrite = fc
  .tuple(scope, id, fc.integer({ min: 1, max: 3 }), guards)
  .map(([inScope, key, number, guard]): Write => ({
    statement: "approvalAudit.append",
    scope: inScope,
    key: `${key.replace("/", "-")}/${String(number).padStart(8, "0")}`,
    expect: 0,
    values: { sealed: `entry ${number}` },
    ...guard,
  }));
const leaseWrite = fc
  .tuple(scope, fc.constantFrom("s", "t"), version, guards, fc.integer({ min: 1, max: 3 }))
  .map(([inScope, key, expected, guard, epoch]): Write => ({
    statement: "leases.put",
    scope: inScope,
    key,
    expect: expected,
    values: { epoch, owner: null, until: 1_010 },
    ...guard,
  }));
const step = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      kind: fc.constant("commit" as const),
      attempt: fc.constantFrom("one", "two", "three", "four"),
      writes: fc.array(fc.oneof(recordWrite, keyWrite, auditWrite, leaseWrite), { maxLength: 4 }),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant("move" as const),
      ms: fc.integer({ max: 10, min: 1 }),
    }),
  },
);

const orders: readonly ApprovalOrder[] = ["oldest", "newest", "expiring"];
/** What each store makes of the same commit: its outcome, or the code of what it throws. */
async function outcomesOf(stores: readonly ApprovalStore[], attempt: string, writes: Write[]) {
  return Promise.all(
    stores.map((to) =>
      to.commit(attempt, writes).catch((error: unknown) => ({ error: codeOf(error) })),
    ),
  );
}
const codeOf = (error: unknown): unknown =>
  typeof error === "object" && error !== null ? Reflect.get(error, "code") : error;

/** The write in another scope: each run of a property has rows of its own in one schema. */
const within = (run: number, write: Write): Write => ({ ...write, scope: `${write.scope}-${run}` });

it("STORE-02 STORE-06 STORE-11 judges any commits as the store in memory does", async () => {
  const schema = place();
  const databaseClock = await movedClock(schema, 0);
  const { approvals: store } = await opened(schema, { nowSql: databaseClock.nowSql });
  let run = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 25 }), async (steps) => {
      run += 1;
      const clock = { ...systemClock, now: () => now };
      let now = 1_000;
      await databaseClock.set(now);
      const home = memoryHome({ clock });
      const memory = memoryApprovalStore(home);
      const outcomes: { readonly memory: unknown; readonly schema: unknown }[] = [];
      for (const each of steps) {
        if (each.kind === "move") await databaseClock.set((now += each.ms));
        if (each.kind !== "commit") continue;
        const writes = each.writes.map((write) => within(run, write));
        const [expected, actual] = await outcomesOf([memory, store], each.attempt, writes);
        outcomes.push({ memory: expected, schema: actual });
      }
      expect(outcomes.map((each) => each.schema)).toEqual(outcomes.map((each) => each.memory));
      for (const inScope of [`acme-${run}`, `other-${run}`]) {
        for (const order of orders) {
          const page = { order, limit: 100 };
          expect(await store.list(inScope, {}, page)).toEqual(await memory.list(inScope, {}, page));
        }
        const told = async (from: typeof store) =>
          (await from.changes(inScope, 0, 100)).map(({ row }) => row);
        expect(await told(store)).toEqual(await told(memory));
        for (const key of ["a", "b", "c"]) {
          expect(await store.find(inScope, key)).toEqual(await memory.find(inScope, key));
          expect(await store.history(inScope, key, 1, 10)).toEqual(
            await memory.history(inScope, key, 1, 10),
          );
        }
      }
    }),
    { numRuns: 60 },
  );
});

const filter = fc.record(
  {
    state,
    tool: fc.constantFrom("pay", "mail", "none"),
    runId: fc.constantFrom("run-0", "run-1"),
    requestedBefore: time,
    expiresBefore: fc.oneof(time, fc.constant(Number.MAX_SAFE_INTEGER)),
  },
  { requiredKeys: [] },
) as fc.Arbitrary<ApprovalFilter>;

it("STORE-02 STORE-08 lists approvals page by page as the store in memory does", async () => {
  const rows = fc.uniqueArray(fc.tuple(recordWrite, fc.integer({ min: 0, max: 10_000 })), {
    selector: ([, number]) => number,
    maxLength: 25,
  });
  const { approvals } = await opened(place());
  let run = 0;
  await fc.assert(
    fc.asyncProperty(
      rows,
      filter,
      fc.constantFrom(...orders),
      fc.integer({ min: 1, max: 7 }),
      async (drawn, wanted, order, limit) => {
        const scopeOf = `acme-${(run += 1)}`;
        const memory = memoryApprovalStore();
        const writes = drawn.map(([write, number]): Write => ({
          statement: write.statement,
          scope: scopeOf,
          key: `r-${number}`,
          expect: 0,
          values: write.values,
        }));
        const pages = async (from: typeof memory) => {
          await from.commit(`fill-${run}`, writes);
          const read: unknown[] = [];
          for (let after: PagePlace | undefined; ;) {
            const page = await from.list(scopeOf, wanted, {
              order,
              limit,
              ...(after && { after }),
            });
            read.push(page);
            const last = page.at(-1);
            if (last === undefined) return read;
            after = placeOf(last, order);
          }
        };
        expect(await pages(approvals)).toEqual(await pages(memory));
      },
    ),
    { numRuns: 100 },
  );
});

const run = fc.record({
  definition: fc.constantFrom("refund", "offer"),
  version: fc.constantFrom("1", "2"),
  status: fc.constantFrom("pending", "running", "interrupted", "completed", "failed", "cancelled"),
  session: fc.option(fc.constantFrom("desk", "till")),
  startKey: fc.option(fc.constantFrom("k1", "k2")),
  createdAt: time,
  updatedAt: time,
  dueAt: fc.option(time),
  sealed: fc.constant("sealed"),
});
const runFilter = fc.record(
  {
    status: fc.constantFrom("pending", "running", "interrupted"),
    definition: fc.constantFrom("refund", "offer"),
    session: fc.constantFrom("desk", "none"),
  },
  { requiredKeys: [] },
) as fc.Arbitrary<RunFilter>;
const runOrders: readonly RunOrder[] = ["oldest", "newest", "stalest", "latest"];

it("STORE-02 lists runs page by page as the registry in memory does", async () => {
  const { runs: registry } = await opened(place());
  let round = 0;
  await fc.assert(
    fc.asyncProperty(
      fc.array(run, { maxLength: 25 }),
      runFilter,
      fc.constantFrom(...runOrders),
      fc.integer({ min: 1, max: 7 }),
      async (runs, wanted, order, limit) => {
        const scopeOf = `acme-${(round += 1)}`;
        const memory = memoryRunRegistry();
        const writes = runs.map((values, at): Write => ({
          statement: "runs.put",
          scope: scopeOf,
          key: `run-${at}`,
          expect: 0,
          values,
        }));
        const pages = async (from: typeof memory) => {
          await from.commit(`fill-${round}`, writes);
          const read: unknown[] = [];
          for (let after: RunPlace | undefined; ;) {
            const page = await from.list(scopeOf, wanted, {
              order,
              limit,
              ...(after && { after }),
            });
            read.push(page);
            const last = page.at(-1);
            if (last === undefined) return read;
            after = runPlaceOf(last, order);
          }
        };
        expect(await pages(registry)).toEqual(await pages(memory));
        const due = await duePages(registry, scopeOf, limit);
        expect(due).toEqual(await duePages(memory, scopeOf, limit));
      },
    ),
    { numRuns: 100 },
  );
});

/** What is due in a session by a time that many of the runs have behind them. */
async function duePages(from: RunRegistry, scope: string, limit: number): Promise<unknown> {
  const read: unknown[] = [];
  for (let after: RunPlace | undefined; ;) {
    const page = await from.due(scope, "desk", 5, { limit, ...(after && { after }) });
    read.push(page);
    const last = page.at(-1);
    if (last === undefined) return read;
    after = duePlaceOf(last);
  }
}
