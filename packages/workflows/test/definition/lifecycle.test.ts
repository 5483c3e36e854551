import { memoryHome } from "@holdpoint/approvals";
import { approve, defineInterrupt, flow } from "@holdpoint/flow";
import { describe, expect, expectTypeOf, it } from "vitest";
import { z } from "zod";

import { defineWorkflow, type Lifecycle } from "../../src/index.ts";
import { storesOn } from "../faulty-stores.ts";
import { countingIds, dana, handClock, keyring, refunds } from "../world.ts";

const Count = defineInterrupt({ name: "count", answer: z.object({ n: z.int().positive() }) });
const State = z.object({ name: z.string(), total: z.number().default(0) });

const counting = defineWorkflow({
  name: "counting",
  version: "1",
  input: z.object({ name: z.string() }),
  resume: z.object({ n: z.int() }),
  output: z.object({ total: z.number() }),
  flow: flow("counting", State)
    .node(
      "ask",
      async (_, ctx) => {
        const first = await ctx.ask(Count, undefined);
        const second = await ctx.ask(Count, undefined);
        return { total: first.n + second.n };
      },
      { asks: [Count] },
    )
    .build(),
  summarize: ({ name, total }) => `${name} has ${total}`,
});

type Runs = ReturnType<typeof counting.runsOn>;
let worlds = 0;

/** Processes over the same stores, each with a definition's runs alone. */
function world() {
  const clock = handClock();
  const home = memoryHome({ clock });
  const store = storesOn({ approvals: home, log: home, runs: home });
  const prefix = `life${(worlds += 1)}`;
  let processes = 0;
  return () => ({ store, keyring, clock, ids: countingIds(`${prefix}p${(processes += 1)}`) });
}

describe("the runs of one definition", () => {
  it("WF-05 start, wait, resume to each next stop with status and summary, and give their output", async () => {
    const open = world();
    const runs = counting.runsOn(open());
    const { runId, status } = await runs.start({ name: "ann" }, { key: "k" });
    expect(status).toBe("pending");
    expect((await runs.start({ name: "ann" }, { key: "k" })).runId).toBe(runId);
    expect((await runs.settled(runId)).status).toBe("interrupted");

    // Another process over the same stores; nothing of a refused payload is spent.
    const elsewhere = counting.runsOn(open());
    await expect(elsewhere.resume(runId, { n: 0.5 })).rejects.toMatchObject({
      code: "input-invalid",
    });
    await expect(elsewhere.resume(runId, { n: -1 })).rejects.toMatchObject({
      code: "answer-invalid",
    });
    expect(await elsewhere.resume(runId, { n: 2 })).toMatchObject({
      status: "interrupted",
      summary: undefined,
    });
    const done = await elsewhere.resume(runId, { n: 3 });
    expect([done.status, done.summary]).toEqual(["completed", "ann has 5"]);
    expect(await elsewhere.output(runId)).toEqual({ total: 5 });
    expect(await runs.get(runId)).toEqual(done);
    const history = await runs.history(runId, { limit: 100 });
    expect(history.map(({ revision }) => revision)).toEqual(history.map((_, at) => at + 1));
    expect(history.filter(({ type }) => type === "answered")).toHaveLength(2);
    await expect(runs.resume(runId, { n: 4 })).rejects.toMatchObject({ code: "status-wrong" });
  });

  it("WF-05 are adopted to their next stop, decided, and cancelled", async () => {
    const open = world();
    const effects = { looked: [], paid: [] };
    const first = refunds(effects).runsOn(open());
    const { runId } = await first.start({ orderId: "A-17" });
    await first.settled(runId);
    const second = refunds(effects).runsOn(open());
    const waiting = await second.adopt(runId);
    expect(waiting.status).toBe("interrupted");
    const taken = await second.decide(waiting.waitsFor[0]!.id, approve({ by: dana }));
    expect(taken).toEqual({ status: "accepted", runId });
    expect((await second.settled(runId)).status).toBe("completed");
    const other = await second.start({ orderId: "B-1" });
    await second.settled(other.runId);
    expect((await second.cancel(other.runId, { reason: "enough" })).status).toBe("cancelled");
    await expect(second.adopt("nobody")).rejects.toMatchObject({ code: "run-not-found" });
  });

  it("WF-05 WF-01 leave runs of another definition or version alone", async () => {
    const open = world();
    const effects = { looked: [], paid: [] };
    const { runId } = await refunds(effects, "1").runsOn(open()).start({ orderId: "A-17" });
    const later = refunds(effects, "2").runsOn(open());
    await expect(later.cancel(runId, { reason: "x" })).rejects.toMatchObject({
      code: "unknown-definition",
    });
    await expect(later.resume(runId, undefined as never)).rejects.toMatchObject({
      code: "unknown-definition",
    });
  });

  it("WF-05 take and give what the definition's schemas say, as types", () => {
    const runs = counting.runsOn(world()());
    expectTypeOf(runs).toEqualTypeOf<
      Lifecycle<{ name: string }, { n: number }, { total: number }>
    >();
    expectTypeOf<Parameters<Runs["start"]>[0]>().toEqualTypeOf<{ name: string }>();
    expectTypeOf<Parameters<Runs["resume"]>[1]>().toEqualTypeOf<{ n: number }>();
    expectTypeOf<ReturnType<Runs["output"]>>().resolves.toEqualTypeOf<{ total: number }>();
    // @ts-expect-error the input lacks its name
    const wrong = () => runs.start({});
    // @ts-expect-error the payload is of another form
    const other = () => runs.resume("r", { m: 1 });
    const decisions = refunds({ looked: [], paid: [] }).runsOn(world()());
    // @ts-expect-error a definition without a resume schema takes no payload (WF-04)
    const none = () => decisions.resume("r", {});
    expect([wrong, other, none]).toHaveLength(3);
  });
});
