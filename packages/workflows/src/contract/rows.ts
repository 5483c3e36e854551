import { putLease } from "@holdpoint/approvals";

import {
  attempt,
  columns,
  commits,
  holds,
  put,
  putKey,
  refusal,
  registryCase,
  same,
  tenant,
  type RegistryCase,
} from "./registry-case.ts";

/** Rows by compare-and-set, start keys, repeats and fences. */
export const rowCases: readonly RegistryCase[] = [
  registryCase("WF-10 gives a run's row back as it was written", async ({ registry }) => {
    const row = {
      definition: "refund",
      version: "1.2.3-rc.1",
      status: "interrupted",
      session: "desk",
      startKey: "request-1",
      createdAt: 12,
      updatedAt: 34,
      dueAt: 56,
      sealed: "a text with 'quotes', \"more\", é, 😀 and a\nline break",
    } as const;
    await commits(registry, [put("run-1", 0, row)]);
    const found = await registry.get(tenant, "run-1");
    same(found?.values, row, "the columns");
    same([found?.key, found?.version], ["run-1", 1], "key and version");
    same(await registry.get(tenant, "run-2"), undefined, "a run that is not there");
  }),

  registryCase("WF-10 moves a run by compare-and-set on its version", async ({ registry }) => {
    await commits(registry, [put("run-1", 0)]);
    await commits(registry, [put("run-1", 1, { status: "running", updatedAt: 2_000 })]);
    const late = refusal(
      await registry.commit(attempt(), [put("run-1", 1, { status: "cancelled" })]),
    );
    holds(late.refusal.because === "version", "the version forbids it");
    same(late.refusal.stands?.values["status"], "running", "what is said to stand");
    const row = await registry.get(tenant, "run-1");
    same([row?.version, row?.values["status"]], [2, "running"], "what stands");
    refusal(await registry.commit(attempt(), [put("run-1", 0)]));
    refusal(await registry.commit(attempt(), [put("run-2", 1)]));
  }),

  registryCase("WF-12 takes a start key once, with its run or not at all", async (under) => {
    const { registry } = under;
    await commits(registry, [put("run-1", 0, { startKey: "k" }), putKey("k", "run-1")]);
    const writes = [put("run-2", 0, { startKey: "k" }), putKey("k", "run-2")];
    const second = refusal(await registry.commit(attempt(), writes));
    same(second.write, 1, "the write that was refused");
    same(await registry.get(tenant, "run-2"), undefined, "the run that came second");
    const found = await (await under.another()).find(tenant, "refund", "k");
    same(found?.values["runId"], "run-1", "whose key it is");
  }),

  registryCase("WF-12 takes one key of racing starts for one run", async (under) => {
    const other = await under.another();
    const starts = Array.from({ length: 20 }, (_, at) => {
      const id = `run-${at}`;
      const store = at % 2 === 0 ? under.registry : other;
      return store.commit(attempt(), [put(id, 0), putKey("k", id)]);
    });
    const outcomes = await Promise.all(starts);
    same(outcomes.filter(({ status }) => status === "done").length, 1, "starts that were done");
    const key = await under.registry.find(tenant, "refund", "k");
    const runs = await under.registry.list(tenant, {}, { order: "oldest", limit: 50 });
    same(
      runs.map((row) => row.key),
      [key?.values["runId"]],
      "the one run on record",
    );
  }),

  registryCase("WF-12 keeps the same key apart per definition and scope", async ({ registry }) => {
    await commits(registry, [putKey("k", "run-1")]);
    await commits(registry, [putKey("k", "run-2", "transfer")]);
    await commits(registry, [{ ...putKey("k", "run-3"), scope: "other" }]);
    const found = await Promise.all([
      registry.find(tenant, "refund", "k"),
      registry.find(tenant, "transfer", "k"),
      registry.find("other", "refund", "k"),
      registry.find(tenant, "refund", "k2"),
    ]);
    same(
      found.map((row) => row?.values["runId"]),
      ["run-1", "run-2", "run-3", undefined],
      "whose key it is",
    );
  }),

  registryCase("WF-31 recognises an attempt that it applied already", async (under) => {
    const id = attempt();
    const writes = [put("run-1", 0), putKey("k", "run-1")];
    same(await under.registry.commit(id, writes), { status: "done", repeated: false }, "first");
    const again = await (await under.another()).commit(id, writes);
    same(again, { status: "done", repeated: true }, "the same again");
    same((await under.registry.get(tenant, "run-1"))?.version, 1, "the version");
  }),

  registryCase(
    "WF-20 refuses a row under an older epoch than its lease has",
    async ({ registry }) => {
      const owner = { epoch: 2, owner: "somebody", until: 2_000_000 };
      await commits(registry, [
        { statement: putLease, scope: tenant, key: "desk", expect: 0, values: owner },
      ]);
      const fenced = (epoch: number) => ({ ...put("run-1", 0), fence: { name: "desk", epoch } });
      const stale = refusal(await registry.commit(attempt(), [fenced(1)]));
      same(stale.refusal, { because: "fenced", epoch: 2 }, "why");
      same(await registry.get(tenant, "run-1"), undefined, "what stands");
      await commits(registry, [fenced(2)]);
    },
  ),

  registryCase("STORE-08 keeps hostile texts as values", async ({ registry }) => {
    const session = "x'; drop table runs; --";
    const row = { ...columns, definition: "a%_b", session, sealed: "\\'\"%_;" };
    await commits(registry, [{ ...put("run-1", 0), values: { ...row } }]);
    same((await registry.get(tenant, "run-1"))?.values, row, "the columns");
    const list = (filter: object) => registry.list(tenant, filter, { order: "oldest", limit: 9 });
    same((await list({ session })).length, 1, "by that session");
    same((await list({ definition: "a%_b" })).length, 1, "by that definition");
    same((await list({ definition: "a__b" })).length, 0, "by a pattern");
  }),
];
