import {
  noExpiry,
  placeOf,
  type ApprovalFilter,
  type ApprovalOrder,
  type ApprovalStore,
} from "../store.ts";
import {
  append,
  commits,
  holds,
  keysOf,
  put,
  putKey,
  same,
  storeCase,
  tenant,
  type StoreCase,
} from "./store-case.ts";

const everything = { order: "oldest", limit: 500 } as const;

/** Reading: scopes, filters, orders, pages, histories. */
export const listCases: readonly StoreCase[] = [
  storeCase("APR-05 finds nothing of another scope by any read", async ({ store }) => {
    const elsewhere = [put("a", 0), append("a", 1), putKey("call", 0, "a")].map((write) => ({
      ...write,
      scope: "other",
    }));
    await commits(store, elsewhere);
    const quiet = new AbortController();
    quiet.abort();
    await store.wait(tenant, 0, quiet.signal);
    same(await store.get(tenant, "a"), undefined, "by id");
    same(await store.find(tenant, "call"), undefined, "by request key");
    same(await store.list(tenant, {}, everything), [], "by list");
    same(await store.history(tenant, "a", 0, 10), [], "by history");
    same(await store.changes(tenant, 0, 10), [], "by changes");
    same(await store.lastChange(tenant), 0, "by the last change");
    await commits(store, [put("a", 0, { tool: "own" })]);
    same((await store.get(tenant, "a"))?.values["tool"], "own", "the same id in this scope");
    same((await store.get("other", "a"))?.values["tool"], "issue_refund", "and in the other");
  }),

  storeCase(
    "APR-23 filters by state, tool, run, age and expiry, alone and together",
    async ({ store }) => {
      await commits(store, [
        put("a", 0, { requestedAt: 10, expiresAt: 100 }),
        put("b", 0, { requestedAt: 20, tool: "deploy", runId: "run-2" }),
        put("c", 0, { requestedAt: 30, state: "decided", expiresAt: 50 }),
        put("d", 0, { requestedAt: 40, state: "consumed", tool: "deploy", expiresAt: 200 }),
      ]);
      const list = async (filter: ApprovalFilter) =>
        keysOf(await store.list(tenant, filter, everything));
      same(await list({}), ["a", "b", "c", "d"], "no filter");
      same(await list({ state: "pending" }), ["a", "b"], "pending");
      same(await list({ state: "decided" }), ["c"], "decided");
      same(await list({ state: "consumed" }), ["d"], "consumed");
      same(await list({ tool: "deploy" }), ["b", "d"], "a tool");
      same(await list({ runId: "run-2" }), ["b"], "a run");
      same(await list({ requestedBefore: 30 }), ["a", "b"], "asked before");
      same(await list({ expiresBefore: 101 }), ["a", "c"], "expiring before");
      same(await list({ expiresBefore: 100 }), ["c"], "expiring at the very limit");
      same(await list({ state: "pending", tool: "deploy", requestedBefore: 21 }), ["b"], "three");
      same(await list({ state: "pending", tool: "nothing" }), [], "what there is none of");
    },
  ),

  storeCase(
    "APR-23 orders by age both ways and by expiry, ties by id, none last",
    async ({ store }) => {
      await commits(store, [
        put("b", 0, { requestedAt: 10 }),
        put("a", 0, { requestedAt: 10, expiresAt: 900 }),
        put("c", 0, { requestedAt: 5, expiresAt: 1_000, state: "decided" }),
        put("B", 0, { requestedAt: 10, expiresAt: 900 }),
      ]);
      const list = async (order: ApprovalOrder) =>
        keysOf(await store.list(tenant, {}, { order, limit: 9 }));
      same(await list("oldest"), ["c", "B", "a", "b"], "oldest first");
      same(await list("newest"), ["b", "a", "B", "c"], "newest first");
      same(await list("expiring"), ["B", "a", "c", "b"], "expiring first");
      const last = (await store.list(tenant, {}, { order: "expiring", limit: 9 })).at(-1);
      holds(last !== undefined, "there is a last row");
      same(
        placeOf(last, "expiring"),
        { value: noExpiry, id: "b" },
        "the place of a row without expiry",
      );
    },
  ),

  storeCase("APR-23 follows a record into the list of its new state at once", async ({ store }) => {
    await commits(store, [put("a", 0)]);
    await commits(store, [put("a", 1, { state: "decided" })]);
    same(await store.list(tenant, { state: "pending" }, everything), [], "pending");
    same(keysOf(await store.list(tenant, { state: "decided" }, everything)), ["a"], "decided");
  }),

  ...(["oldest", "newest", "expiring"] as const).map((order) =>
    storeCase(
      `APR-23 pages by ${order} without a skip or a repeat while records come and go`,
      (under) => pagesUnderWrites(under.store, order),
    ),
  ),

  storeCase(
    "APR-23 goes on from the place of a row that is gone from the list",
    async ({ store }) => {
      await commits(
        store,
        ["a", "b", "c"].map((id) => put(id, 0)),
      );
      const page = { order: "oldest", limit: 1 } as const;
      const [first] = await store.list(tenant, { state: "pending" }, page);
      holds(first?.key === "a", "the first page holds the first record");
      await commits(store, [put("a", 1, { state: "decided" })]);
      const after = placeOf(first, "oldest");
      const next = await store.list(tenant, { state: "pending" }, { ...page, after });
      same(keysOf(next), ["b"], "the page after it");
    },
  ),

  storeCase(
    "APR-22 gives a record's entries in the order of their numbers, page by page",
    async ({ store }) => {
      const numbers = Array.from({ length: 25 }, (_, at) => at + 1);
      await commits(
        store,
        numbers.map((number) => append("a", number)),
      );
      await commits(store, [append("a-other", 1), append("b", 1)]);
      const read: string[] = [];
      for (let after = 0; after < 100; after += 10) {
        const rows = await store.history(tenant, "a", after, 10);
        read.push(...rows.map((row) => String(row.values["sealed"])));
        if (rows.length < 10) break;
      }
      same(
        read,
        numbers.map((number) => `entry ${number}`),
        "the entries",
      );
    },
  ),

  storeCase(
    "APR-22 takes an audit entry once: another in its place is refused",
    async ({ store }) => {
      await commits(store, [append("a", 1)]);
      const outcome = await store.commit("forger", [append("a", 1, "another")]);
      same(outcome.status, "refused", "the second entry of one number");
      same((await store.history(tenant, "a", 0, 9))[0]?.values["sealed"], "entry 1", "what stands");
    },
  ),
];

/** Those that are there from the first page to the last are on exactly one. */
async function pagesUnderWrites(store: ApprovalStore, order: ApprovalOrder): Promise<void> {
  const row = (at: number) => ({
    requestedAt: 1_000 + (at % 7),
    expiresAt: at % 3 === 0 ? null : 2_000 + (at % 5),
  });
  const staying = Array.from({ length: 40 }, (_, at) => `s-${String(at).padStart(2, "0")}`);
  const leaving = Array.from({ length: 10 }, (_, at) => `l-${String(at).padStart(2, "0")}`);
  await commits(
    store,
    [...staying, ...leaving].map((id, at) => put(id, 0, row(at))),
  );
  const seen: string[] = [];
  let after: ReturnType<typeof placeOf> | undefined;
  for (let page = 0; page < 100; page += 1) {
    const from = after === undefined ? {} : { after };
    const rows = await store.list(tenant, { state: "pending" }, { order, limit: 7, ...from });
    seen.push(...keysOf(rows));
    const last = rows.at(-1);
    if (last === undefined) break;
    after = placeOf(last, order);
    await commits(store, [put(`n-${page}`, 0, row(page)), put(`o-${page}`, 0, row(page + 3))]);
    const gone = leaving.pop();
    if (gone !== undefined) await commits(store, [put(gone, 1, { ...row(0), state: "decided" })]);
  }
  const found = seen.filter((id) => id.startsWith("s-"));
  same(found.toSorted(), staying, `the records that stayed, by ${order}`);
  same(new Set(seen).size, seen.length, "rows that are on two pages");
}
