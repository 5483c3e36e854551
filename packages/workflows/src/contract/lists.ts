import {
  runPlaceOf,
  type DuePage,
  type RunFilter,
  type RunOrder,
  type RunPlace,
  type RunRegistry,
} from "../registry/store.ts";
import {
  all,
  commits,
  holds,
  keysOf,
  put,
  putKey,
  registryCase,
  same,
  tenant,
  type RegistryCase,
} from "./registry-case.ts";

const orders: readonly RunOrder[] = ["oldest", "newest", "stalest", "latest"];

/** What its owner has to look at though nobody says anything. */
const dueCases: readonly RegistryCase[] = [
  registryCase(
    "WF-28 answers what is due in a session, by its time and then its id",
    async (under) => {
      const { registry } = under;
      const session = "desk";
      await commits(registry, [
        put("c", 0, { session, dueAt: 0 }),
        put("b", 0, { session, dueAt: 40, status: "interrupted" }),
        put("a", 0, { session, dueAt: 40, status: "interrupted" }),
        put("never", 0, { session }),
        put("night", 0, { session: "night", dueAt: 0 }),
        put("loose", 0, { dueAt: 0 }),
        { ...put("far", 0, { session, dueAt: 0 }), scope: "other" },
      ]);
      const other = await under.another();
      const due = async (until: number, page: DuePage = { limit: 500 }) =>
        keysOf(await other.due(tenant, session, until, page));
      same(await due(39), ["c"], "a moment before");
      same(await due(40), ["c", "a", "b"], "at the instant");
      same(await due(40, { limit: 2 }), ["c", "a"], "a page");
      same(await due(40, { limit: 2, after: { value: 40, id: "a" } }), ["b"], "the page after it");
      same(await due(40, { limit: 2, after: { value: 0, id: "c" } }), ["a", "b"], "past a time");
    },
  ),

  registryCase("WF-26 answers no more, or later, what was moved", async ({ registry }) => {
    const session = "desk";
    await commits(registry, [
      put("a", 0, { session, dueAt: 0 }),
      put("b", 0, { session, dueAt: 0 }),
    ]);
    await commits(registry, [put("a", 1, { session, status: "cancelled" })]);
    await commits(registry, [put("b", 1, { session, dueAt: 70 })]);
    const due = async (until: number) =>
      keysOf(await registry.due(tenant, session, until, { limit: 500 }));
    same(await due(69), [], "before its new time");
    same(await due(70), ["b"], "at its new time");
  }),

  registryCase("WF-28 tells sessions apart that begin alike", async ({ registry }) => {
    const long = "s".repeat(120);
    await commits(registry, [
      put("a", 0, { session: `${long}a`, dueAt: 1 }),
      put("b", 0, { session: `${long}b`, dueAt: 1 }),
    ]);
    same(keysOf(await registry.due(tenant, `${long}b`, 9, { limit: 5 })), ["b"], "of one");
  }),
];

/** Reading: scopes, filters, orders, pages. */
export const listCases: readonly RegistryCase[] = [
  registryCase("WF-11 finds nothing of another scope by any read", async ({ registry }) => {
    await commits(registry, [
      { ...put("run-1", 0), scope: "other" },
      { ...putKey("k", "run-1"), scope: "other" },
    ]);
    same(await registry.get(tenant, "run-1"), undefined, "by id");
    same(await registry.find(tenant, "refund", "k"), undefined, "by start key");
    same(await registry.list(tenant, {}, all()), [], "by list");
    await commits(registry, [put("run-1", 0, { version: "own" })]);
    same((await registry.get(tenant, "run-1"))?.values["version"], "own", "in this scope");
    same((await registry.get("other", "run-1"))?.values["version"], "1", "in the other");
  }),

  registryCase(
    "WF-11 filters by status, definition and session, alone and together",
    async ({ registry }) => {
      await commits(registry, [
        put("a", 0, { createdAt: 1, session: "desk" }),
        put("b", 0, { createdAt: 2, status: "interrupted", session: "desk" }),
        put("c", 0, { createdAt: 3, status: "interrupted", definition: "transfer" }),
        put("d", 0, { createdAt: 4, status: "completed", session: "night" }),
      ]);
      const list = async (filter: RunFilter) => keysOf(await registry.list(tenant, filter, all()));
      same(await list({}), ["a", "b", "c", "d"], "no filter");
      same(await list({ status: "interrupted" }), ["b", "c"], "a status");
      same(await list({ definition: "refund" }), ["a", "b", "d"], "a definition");
      same(await list({ session: "desk" }), ["a", "b"], "a session");
      same(await list({ status: "interrupted", session: "desk" }), ["b"], "status and session");
      same(await list({ status: "failed" }), [], "a status of none");
    },
  ),

  registryCase(
    "WF-11 orders by the times of creation and change, both ways, ties by id",
    async ({ registry }) => {
      await commits(registry, [
        put("b", 0, { createdAt: 10, updatedAt: 40 }),
        put("a", 0, { createdAt: 10, updatedAt: 30 }),
        put("c", 0, { createdAt: 5, updatedAt: 30, status: "failed" }),
        put("B", 0, { createdAt: 10, updatedAt: 50 }),
      ]);
      const list = async (order: RunOrder) => keysOf(await registry.list(tenant, {}, all(order)));
      same(await list("oldest"), ["c", "B", "a", "b"], "oldest first");
      same(await list("newest"), ["b", "a", "B", "c"], "newest first");
      same(await list("stalest"), ["a", "c", "b", "B"], "longest unchanged first");
      same(await list("latest"), ["B", "b", "c", "a"], "last changed first");
    },
  ),

  registryCase("WF-10 lists a run under its new status at once", async (under) => {
    await commits(under.registry, [put("a", 0)]);
    await commits(under.registry, [put("a", 1, { status: "running", updatedAt: 2_000 })]);
    const other = await under.another();
    same(await other.list(tenant, { status: "pending" }, all()), [], "pending");
    same(keysOf(await other.list(tenant, { status: "running" }, all())), ["a"], "running");
    same(keysOf(await other.list(tenant, {}, all("latest"))), ["a"], "once in all");
  }),

  ...orders.map((order) =>
    registryCase(
      `WF-11 pages by ${order} without a skip or a repeat while runs come and go`,
      ({ registry }) => pagesUnderWrites(registry, order),
    ),
  ),

  registryCase("WF-11 goes on from the place of a run that left the list", async ({ registry }) => {
    await commits(
      registry,
      ["a", "b", "c"].map((id) => put(id, 0)),
    );
    const page = { order: "oldest", limit: 1 } as const;
    const [first] = await registry.list(tenant, { status: "pending" }, page);
    holds(first?.key === "a", "the first page holds the first run");
    await commits(registry, [put("a", 1, { status: "running" })]);
    const after = runPlaceOf(first, "oldest");
    const rest = await registry.list(tenant, { status: "pending" }, { ...page, after });
    same(keysOf(rest), ["b"], "the page after it");
  }),

  ...dueCases,
];

/** Those that are there, unmoved, from the first page to the last are on exactly one. */
async function pagesUnderWrites(registry: RunRegistry, order: RunOrder): Promise<void> {
  const times = (at: number) => ({ createdAt: 1_000 + (at % 7), updatedAt: 2_000 + (at % 5) });
  const staying = Array.from({ length: 40 }, (_, at) => `s-${String(at).padStart(2, "0")}`);
  const leaving = Array.from({ length: 10 }, (_, at) => `l-${String(at).padStart(2, "0")}`);
  await commits(
    registry,
    [...staying, ...leaving].map((id, at) => put(id, 0, times(at))),
  );
  const seen: string[] = [];
  let after: RunPlace | undefined;
  for (let page = 0; page < 100; page += 1) {
    const from = after === undefined ? {} : { after };
    const rows = await registry.list(tenant, { status: "pending" }, { order, limit: 7, ...from });
    seen.push(...keysOf(rows));
    const last = rows.at(-1);
    if (last === undefined) break;
    after = runPlaceOf(last, order);
    await commits(registry, [
      put(`n-${page}`, 0, times(page)),
      put(`o-${page}`, 0, times(page + 3)),
    ]);
    const gone = leaving.pop();
    if (gone !== undefined) {
      await commits(registry, [put(gone, 1, { ...times(0), status: "running" })]);
    }
  }
  const found = seen.filter((id) => id.startsWith("s-"));
  same(found.toSorted(), staying, `the runs that stayed, by ${order}`);
  same(new Set(seen).size, seen.length, "rows that are on two pages");
}
