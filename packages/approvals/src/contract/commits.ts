import type { Cell, Write } from "../commit.ts";
import { isApprovalError } from "../errors.ts";
import {
  append,
  attempt,
  commits,
  holds,
  keysOf,
  lease,
  put,
  putKey,
  refusal,
  same,
  storeCase,
  tenant,
  type StoreCase,
} from "./store-case.ts";

/** What one commit does, and what forbids it. */
export const commitCases: readonly StoreCase[] = [
  storeCase(
    "APR-29 counts versions from 1 and shows the attempt that made each",
    async ({ store }) => {
      await commits(store, [put("a", 0)], "first");
      await commits(store, [put("a", 1, { state: "decided" })], "second");
      const row = await store.get(tenant, "a");
      same([row?.key, row?.version, row?.attempt], ["a", 2, "second"], "the row after two writes");
      same(row?.values, put("a", 1, { state: "decided" }).values, "its columns");
    },
  ),

  storeCase(
    "APR-29 refuses another version than stands, and says what stands",
    async ({ store }) => {
      await commits(store, [put("a", 0)], "first");
      const { write, refusal: why } = refusal(
        await store.commit(attempt(), [put("b", 0), put("a", 0)]),
      );
      holds(why.because === "version", "it is refused by the version");
      same([write, why.stands?.version, why.stands?.attempt], [1, 1, "first"], "what stands");
      const ahead = refusal(await store.commit(attempt(), [put("c", 3)]));
      holds(ahead.refusal.because === "version", "a row that is not there has version 0");
      same(ahead.refusal.stands, undefined, "what stands where there is no row");
    },
  ),

  storeCase("APR-29 applies all writes of a list or none", async ({ store }) => {
    await commits(store, [put("taken", 0)]);
    const writes = [put("a", 0), append("a", 1), putKey("key-a", 0, "a"), put("taken", 0)];
    same(refusal(await store.commit(attempt(), writes)).write, 3, "the write that is refused");
    same(await store.get(tenant, "a"), undefined, "a record of a refused list");
    same(await store.find(tenant, "key-a"), undefined, "a key of a refused list");
    same(await store.history(tenant, "a", 0, 10), [], "an entry of a refused list");
    same(await store.changes(tenant, 0, 10), [], "a change of a refused list");
    await commits(store, writes.slice(0, 3));
    same((await store.find(tenant, "key-a"))?.values, { id: "a", asked: 1 }, "the key's row");
  }),

  storeCase(
    "APR-29 judges a write by what the writes before it in the list leave",
    async ({ store }) => {
      await commits(store, [put("a", 0), put("a", 1, { state: "decided" })]);
      same((await store.get(tenant, "a"))?.version, 2, "the version after two writes of one list");
      await rejects(store.commit(attempt(), [put("b", 0), put("b", 0)]), "one version made twice");
      await rejects(store.commit(attempt(), [put("b", 0), put("b", "any")]), "or made by any");
      same(await store.get(tenant, "b"), undefined, "the row of both");
    },
  ),

  storeCase("APR-29 takes an empty list as done", async ({ store }) => {
    same(await store.commit(attempt(), []), { status: "done", repeated: false }, "nothing to do");
  }),

  storeCase("APR-29 writes under any version only where there is no row", async ({ store }) => {
    await commits(store, [putKey("k", "any", "first")]);
    await commits(store, [putKey("k", "any", "second"), put("a", 0)]);
    const row = await store.find(tenant, "k");
    same([row?.version, row?.values["id"]], [1, "first"], "the row that was there");
    holds((await store.get(tenant, "a")) !== undefined, "the rest of the list is applied");
  }),

  storeCase("APR-20 APR-26 repeats an attempt as done and changes nothing", async ({ store }) => {
    const writes = [put("a", 0), append("a", 1), putKey("key-a", 0, "a")];
    same(await store.commit("one", writes), { status: "done", repeated: false }, "the first time");
    same(await store.commit("one", writes), { status: "done", repeated: true }, "the second time");
    same((await store.get(tenant, "a"))?.version, 1, "the version after both");
    same((await store.changes(tenant, 0, 10)).length, 1, "the changes after both");
    const other = refusal(await store.commit("two", writes));
    same(other.write, 0, "another attempt at the same");
  }),

  storeCase(
    "APR-26 knows an attempt by its audit entry when the record has moved on",
    async ({ store }) => {
      const writes = [put("a", 0), append("a", 1)];
      await commits(store, writes, "one");
      await commits(store, [put("a", 1, { state: "decided" }), append("a", 2)], "two");
      same(
        await store.commit("one", writes),
        { status: "done", repeated: true },
        "the first attempt",
      );
      same((await store.get(tenant, "a"))?.version, 2, "the version after that");
      refusal(await store.commit("three", writes));
    },
  ),

  storeCase(
    "APR-26 applies no part of another list of an attempt that stands",
    async ({ store }) => {
      await commits(store, [put("a", 0), append("a", 1)], "one");
      const others = [
        [put("a", 0), append("a", 1), put("b", 0), append("b", 1)],
        [put("b", 0), append("b", 1), put("a", 0), append("a", 1)],
        [put("b", 0), put("c", 3), append("a", 1)],
      ];
      for (const other of others) {
        const outcome = await store.commit("one", other);
        same(outcome, { status: "done", repeated: true }, "another list of the attempt");
      }
      same(await store.get(tenant, "b"), undefined, "the row of the other lists");
      same((await store.changes(tenant, 0, 10)).length, 1, "the changes after all of them");
      await commits(store, [put("a", 1, { state: "decided" }), append("a", 2)], "two");
      const late = await store.commit("one", [put("a", 0), append("a", 1), put("b", 0)]);
      same(late, { status: "done", repeated: true }, "once its record has moved on");
      same(await store.get(tenant, "b"), undefined, "the row of the other list, after that");
    },
  ),

  storeCase("APR-26 repeats an attempt that is late or fenced by now as done", async (under) => {
    const { store } = under;
    const before = (await store.now()) + 1_000;
    const writes = [put("a", 0, {}, { before, fence: { name: "session", epoch: 1 } })];
    await commits(store, writes, "one");
    await under.advance(2_000);
    await commits(store, [lease("session", 2)]);
    same(await store.commit("one", writes), { status: "done", repeated: true }, "the repetition");
  }),

  storeCase("APR-13 refuses a write at the instant of its limit, and not before", async (under) => {
    const { store } = under;
    const before = (await store.now()) + 10_000;
    await commits(store, [put("a", 0, {}, { before })]);
    await under.advance(10_000);
    const late = refusal(
      await store.commit(attempt(), [put("a", 1, {}, { before: await store.now() })]),
    );
    holds(late.refusal.because === "late", "it is refused by the time");
    holds(late.refusal.now >= before, "the refusal tells the store's time");
    await commits(store, [put("a", 1, {}, { before: (await store.now()) + 10_000 })]);
  }),

  storeCase(
    "APR-13 refuses a write until the instant it is for, and not from then on",
    async (under) => {
      const { store } = under;
      const from = (await store.now()) + 10_000;
      const early = refusal(await store.commit(attempt(), [put("a", 0, {}, { from })]));
      holds(early.refusal.because === "early", "it is refused by the time");
      holds(early.refusal.now < from, "the refusal tells the store's time");
      await under.advance(from - (await store.now()));
      await commits(store, [put("a", 0, {}, { from })]);
    },
  ),

  storeCase("APR-29 fences a write by the leases of its own scope alone", async ({ store }) => {
    await commits(store, [{ ...lease("session", 2), scope: "other" }]);
    const fenced = (epoch: number) => put("a", 0, {}, { fence: { name: "session", epoch } });
    await commits(store, [fenced(1)]);
    refusal(await store.commit(attempt(), [{ ...fenced(1), scope: "other" }]));
  }),

  storeCase(
    "APR-29 fences a write by a lease that is taken earlier in its list",
    async ({ store }) => {
      const fence = { name: "session", epoch: 1 };
      const list = [lease("session", 2), put("a", 0, {}, { fence })];
      same(refusal(await store.commit(attempt(), list)).write, 1, "the write that is refused");
      await commits(store, [lease("session", 1), put("a", 0, {}, { fence })]);
    },
  ),

  storeCase("APR-29 refuses a write under an older epoch, and no other", async ({ store }) => {
    const under1 = { fence: { name: "session", epoch: 1 } };
    const under2 = { fence: { name: "session", epoch: 2 } };
    await commits(store, [put("a", 0, {}, under1)]);
    await commits(store, [lease("session", 2)]);
    const stale = refusal(await store.commit(attempt(), [put("b", 0), put("a", 1, {}, under1)]));
    holds(stale.refusal.because === "fenced", "it is refused by the fence");
    same([stale.write, stale.refusal.epoch], [1, 2], "the write, and the newest epoch");
    same(await store.get(tenant, "b"), undefined, "the rest of the list");
    await commits(store, [put("a", 1, {}, under2)]);
    await commits(store, [put("b", 0, {}, { fence: { name: "other", epoch: 1 } })]);
  }),

  storeCase(
    "APR-29 names the version before the fence, and the fence before the time",
    async ({ store }) => {
      await commits(store, [put("a", 0)]);
      await commits(store, [lease("session", 2)]);
      const before = await store.now();
      const fence = { name: "session", epoch: 1 };
      const all = refusal(await store.commit(attempt(), [put("a", 0, {}, { before, fence })]));
      same(all.refusal.because, "version", "with all three");
      const two = refusal(await store.commit(attempt(), [put("a", 1, {}, { before, fence })]));
      same(two.refusal.because, "fenced", "with fence and time");
      const list = [put("b", 0, {}, { fence }), put("a", 0)];
      same(refusal(await store.commit(attempt(), list)).write, 0, "the first refused of a list");
    },
  ),

  storeCase("APR-29 keeps a write as it was when it was handed over", async ({ store }) => {
    const values: Record<string, Cell> = { ...put("a", 0).values };
    const write: Write = { ...put("a", 0), values };
    const done = store.commit(attempt(), [write]);
    values["sealed"] = "changed afterwards";
    await done;
    same((await store.get(tenant, "a"))?.values["sealed"], "sealed a", "the stored text");
  }),

  storeCase("APR-24 gives back every text and number as it was", async ({ store }) => {
    const texts = [...hostileTexts, "x".repeat(300_000)];
    for (const [at, sealed] of texts.entries()) {
      await commits(store, [put(`t-${at}`, 0, { sealed, tool: sealed.slice(0, 1_000) })]);
      same((await store.get(tenant, `t-${at}`))?.values["sealed"], sealed, `text number ${at}`);
    }
    for (const [at, number] of [0, -1, 2 ** 53 - 1, -(2 ** 53) + 1].entries()) {
      await commits(store, [put(`n-${at}`, 0, { requestedAt: number, expiresAt: number })]);
      const values = (await store.get(tenant, `n-${at}`))?.values;
      same([values?.["requestedAt"], values?.["expiresAt"]], [number, number], `${number}`);
    }
    await commits(store, [put("none", 0, { expiresAt: null })]);
    same((await store.get(tenant, "none"))?.values["expiresAt"], null, "nothing");
  }),

  storeCase("APR-24 takes a hostile text in a filter as a value", async ({ store }) => {
    for (const [at, text] of hostileTexts.entries()) {
      await commits(store, [put(`t-${at}`, 0, { tool: text, runId: text, sealed: "s" })]);
    }
    for (const [at, text] of hostileTexts.entries()) {
      for (const filter of [{ tool: text }, { runId: text }]) {
        const found = await store.list(tenant, filter, { order: "oldest", limit: 100 });
        same(keysOf(found), [`t-${at}`], `the rows of text number ${at}`);
      }
    }
  }),

  storeCase(
    "APR-24 refuses ids outside the alphabet, and applies nothing of their list",
    async ({ store }) => {
      for (const id of hostileIds) {
        await rejects(store.commit(attempt(), [put("ok", 0), put(id, 0)]), "a key");
        await rejects(
          store.commit(attempt(), [put("ok", 0), put("k", 0, {}, { scope: id })]),
          "a scope",
        );
        await rejects(store.commit(id, [put("ok", 0)]), "an attempt id");
      }
      for (const statement of ["approvals", "approvals.put; drop", "a b.put", ".put", "x.1"]) {
        await rejects(store.commit(attempt(), [put("ok", 0, {}, { statement })]), "a statement");
      }
      same(await store.get(tenant, "ok"), undefined, "what was beside them");
    },
  ),

  storeCase("APR-24 refuses cells and versions that it could not give back", async ({ store }) => {
    const cells: readonly unknown[] = [
      1.5,
      Number.NaN,
      2 ** 53,
      -0,
      true,
      undefined,
      {},
      "\uD800",
      "a\0b",
    ];
    for (const cell of cells) {
      const values = { ...put("a", 0).values, sealed: cell as Cell };
      await rejects(store.commit(attempt(), [put("ok", 0), { ...put("a", 0), values }]), "a cell");
    }
    for (const expect of [-1, 0.5, Number.NaN, 2 ** 53]) {
      await rejects(store.commit(attempt(), [put("ok", 0), put("a", expect)]), "a version");
    }
    same(await store.get(tenant, "ok"), undefined, "what was beside them");
  }),
];

async function rejects(commit: Promise<unknown>, what: string): Promise<void> {
  try {
    await commit;
  } catch (error) {
    holds(isApprovalError(error, "write-invalid"), `${what} is refused as write-invalid`);
    return;
  }
  holds(false, `${what} that no store can keep is taken`);
}

const hostileTexts: readonly string[] = [
  "' or 1=1 --",
  '"; drop table approvals; --',
  "%_\\",
  "$1 ? :name @name",
  "{}[]*?",
  "line\nbreak\r\ttab",
  "\u0001\u001b[31m",
  "\u202Egnp.exe",
  "\u{1F469}\u200D\u{1F680} ünïcode",
  "e\u0301 and \u00e9",
  "null",
  "0",
  " leading and trailing ",
];

const hostileIds: readonly string[] = [
  "",
  " ",
  "a b",
  "a\0b",
  "\uD800",
  "a\n",
  "' or 1=1 --",
  'a"b',
  "a;b",
  "a%",
  "a*",
  "a\\b",
  "ünïcode",
  "a".repeat(501),
];
