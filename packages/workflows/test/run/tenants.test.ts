import { approve, flow } from "@holdpoint/flow";
import { describe, expect, it } from "vitest";
import { z } from "zod";

import { defineWorkflow, Workflows } from "../../src/index.ts";
import { countingIds, dana, keyring, refunds, world } from "../world.ts";

const input = { orderId: "A-17" };

describe("a run of another tenant", () => {
  it("WF-11 CASE-150 is not there for a caller who has its very id, whatever is asked of it", async () => {
    const here = world();
    const own = here.open().desk;
    const { runId } = await own.start("refund", input);
    const { waitsFor } = await own.settled(runId);
    const refund = refunds(here.effects);
    const others = new Workflows({
      store: here.store,
      definitions: [refund],
      scope: "another",
      keyring,
      clock: here.clock,
      ids: countingIds("another"),
    });
    expect(await others.get(runId)).toBeUndefined();
    expect((await others.list()).items).toEqual([]);
    const missing = { code: "run-not-found" };
    await expect(others.resume(refund, runId, {} as never)).rejects.toMatchObject(missing);
    await expect(others.cancel(runId, { reason: "no" })).rejects.toMatchObject(missing);
    await expect(others.history(runId)).rejects.toMatchObject(missing);
    await expect(others.adopt(runId)).rejects.toMatchObject(missing);
    await expect(others.retry(runId)).rejects.toMatchObject(missing);
    const yes = approve({ by: dana });
    const said = await others.decide(waitsFor[0]!.id, yes).catch((error: unknown) => error);
    const nowhere = await others.decide("nowhere", yes).catch((error: unknown) => error);
    expect(said).toMatchObject({ code: (nowhere as { code: string }).code });
    await others.waitIdle();
    expect(await own.get(runId)).toMatchObject({ status: "interrupted" });
    expect(here.effects.paid).toEqual([]);
  });
});

describe("an id that comes again", () => {
  it("WF-12 R141 overwrites no run: its start is refused, and the next one has another", async () => {
    const here = world();
    const { store, clock } = here;
    const clashing = () => {
      const definitions = [refunds(here.effects)] as const;
      return new Workflows({ store, definitions, keyring, clock, ids: countingIds("same") });
    };
    const first = clashing();
    const { runId } = await first.start("refund", input, { key: "one" });
    const stands = await first.settled(runId);
    const second = clashing();
    const start = () => second.start("refund", { orderId: "B-2" }, { key: "two" });
    await expect(start()).rejects.toMatchObject({ code: "run-moved", data: { runId } });
    expect(await second.get(runId)).toEqual(stands);
    expect((await second.list()).items).toHaveLength(1);
    const next = await start();
    expect(next.runId).not.toBe(runId);
    expect((await second.settled(next.runId)).status).toBe("interrupted");
    expect((await second.list()).items).toHaveLength(2);
  });
});

const State = z.object({ turns: z.number().default(0) });

/** A flow that asks at a gate in each of three turns. */
const loop = defineWorkflow({
  name: "loop",
  version: "1",
  input: z.object({}),
  flow: flow("loop", State)
    .gate("review", { payload: ({ turns }) => ({ turns }) })
    .node("count", ({ turns }) => ({ turns: turns + 1 }))
    .edge("review", "count")
    .route("count", ["review", "$end"], ({ turns }) => (turns < 3 ? "review" : "$end"))
    .build(),
});

describe("a gate in a loop", () => {
  it("WF-24 CASE-134 is listed in another process as soon as its run waits, in each turn", async () => {
    const { store, clock } = world();
    const open = (name: string) =>
      new Workflows({ store, definitions: [loop], keyring, clock, ids: countingIds(name) });
    const desk = open("works");
    const { runId } = await desk.start("loop", {});
    const asked = new Set<string>();
    for (let turn = 0; turn < 3; turn += 1) {
      await desk.settled(runId);
      const inbox = open(`looks-${turn}`);
      const [waits] = (await inbox.list({ filter: { status: "interrupted" } })).items;
      expect(waits).toMatchObject({ runId, waitsFor: [{ kind: "approval" }] });
      const [record] = (
        await store.approvals.list("default", { state: "pending" }, { order: "oldest", limit: 9 })
      ).map(({ key }) => key);
      expect(record).toBe(waits!.waitsFor[0]!.id);
      asked.add(record!);
      await inbox.decide(record!, approve({ by: dana }));
      await inbox.settled(runId);
    }
    expect(asked.size).toBe(3);
    expect((await desk.get(runId))?.status).toBe("completed");
  });
});
