import { approve, deny } from "@holdpoint/approvals";
import { describe, expect, it } from "vitest";
import { z } from "zod";

import { appendWrite, flow, memoryRunLog, replies, type ResumePlan } from "../../src/index.ts";
import { effects } from "../support/effects.ts";
import {
  asAnotherProcess,
  dana,
  no,
  paused,
  recordlessPort,
  rejection,
  stateOf,
  world,
  yes,
} from "../support/world.ts";

const State = z.object({ n: z.number(), text: z.string().optional() });

/** Two branches that ask, one of them after a finished call, one that is done, and a join behind them. */
function branches() {
  const { log, free, gated, other } = effects();
  const f = flow("f", State)
    .node("start", () => void log.push("start"))
    .node("asks", async (s, ctx) => {
      log.push("asks");
      await ctx.call(free, { n: s.n });
      await ctx.step("look", () => 1);
      await ctx.call(gated, { n: s.n });
    })
    .call("pays", other, { args: (s) => ({ n: s.n }) })
    .node("quick", () => void log.push("quick"))
    .node("meet", () => void log.push("meet"), { join: true })
    .node("last", () => void log.push("last"))
    .edge("start", "asks")
    .edge("start", "pays")
    .edge("start", "quick")
    .edge("start", "meet")
    .edge("asks", "meet")
    .edge("pays", "meet")
    .edge("quick", "meet")
    .edge("meet", "last")
    .build();
  return { f, log };
}

const short = (plan: ResumePlan) =>
  plan.nodes.map(({ node, will, why }) => `${node} ${will} ${why}`);

describe("a plan", () => {
  it("FLOW-64 says per node keep, re-run or blocked, and why, and follows what the store says", async () => {
    const { f, log } = branches();
    const { runner, port, store } = world();
    const first = paused(await runner().run(f, { n: 1 }, { runId: "r" }));
    const [asks, pays] = first.pendings.map(({ id }) => id) as [string, string];
    const before = [...log];
    const change = await store.lastChange("default");

    const waiting = await runner().plan(f, first.checkpoint);
    expect(waiting).toMatchObject({ runId: "r", flow: "f", revision: first.checkpoint.revision });
    expect(short(waiting)).toEqual([
      "start keep finished",
      "asks blocked waits",
      "pays blocked waits",
      "quick keep finished",
      "meet blocked join-waits",
      "last blocked not-reached",
    ]);
    expect(waiting.nodes[1]).toMatchObject({ visit: "asks#1", waitsFor: [asks], replays: 2 });
    expect(waiting.nodes[3]).toMatchObject({ visit: "quick#1", waitsFor: [], replays: 0 });
    expect(log).toEqual(before);
    expect(await store.lastChange("default")).toBe(change);

    await port.records.decide({ scope: "default", id: asks, decision: yes() });
    const decided = await store.lastChange("default");
    const one = await runner().plan(f, first.checkpoint);
    expect(short(one).slice(1, 3)).toEqual(["asks re-run answered", "pays blocked waits"]);
    expect(await store.lastChange("default")).toBe(decided);

    // The plan was right: `asks` ran again, `pays` did not, and what had finished was kept.
    const second = paused(await runner().resume(f, first.checkpoint));
    expect(log.slice(before.length)).toEqual(["asks", "gated(1)"]);
    expect(short(await runner().plan(f, second.checkpoint)).slice(1, 3)).toEqual([
      "asks keep finished",
      "pays blocked waits",
    ]);
    // The first checkpoint's approval was spent by that resume.
    expect(short(await runner().plan(f, first.checkpoint))[1]).toBe("asks blocked spent");
    asAnotherProcess();
    expect(short(await runner().plan(f, first.checkpoint)).slice(1, 3)).toEqual([
      "asks blocked spent",
      "pays blocked waits",
    ]);
    stateOf(await runner().resume(f, second.checkpoint, replies({ [pays]: yes() })));
  });

  it("FLOW-64 plans a durable run by its id, and sees a checkpoint spent where no store could say so", async () => {
    const { f } = branches();
    const { runner } = world({ log: memoryRunLog() });
    const first = paused(await runner().run(f, { n: 1 }, { runId: "r" }));
    const plan = await runner().plan(f, "r");
    expect(short(plan)).toContain("asks blocked waits");
    await runner().resume(f, "r", replies({ [first.pendings[1]!.id]: yes() }));
    expect(short(await runner().plan(f, "r"))).toEqual([
      "start keep finished",
      "asks blocked waits",
      "pays keep finished",
      "quick keep finished",
      "meet blocked join-waits",
      "last blocked not-reached",
    ]);
    const events = (await runner().history(f, "r")).length;
    await runner().plan(f, "r");
    expect(await runner().history(f, "r")).toHaveLength(events);

    const own = world({ approvals: recordlessPort() });
    const held = paused(await own.runner().run(f, { n: 1 }));
    const [some] = held.pendings;
    expect(short(await own.runner().plan(f, held.checkpoint))).toContain("asks blocked waits");
    await own.runner().resume(f, held.checkpoint, replies({ [some!.id]: approve({ by: dana }) }));
    expect(short(await own.runner().plan(f, held.checkpoint)).slice(1, 3)).toEqual([
      "asks blocked spent",
      "pays blocked spent",
    ]);
  });

  it("FLOW-64 plans what a crash left: a visit that was cut off is due again", async () => {
    const { gated, log } = effects();
    let dies = true;
    const f = flow("f", State)
      .node("a", async (_, ctx) => {
        await ctx.call(gated, { n: 1 });
        if (dies) await new Promise(() => {});
      })
      .build();
    const { runner, port } = world({ log: memoryRunLog() });
    const first = paused(await runner().run(f, { n: 1 }, { runId: "r" }));
    const stop = new AbortController();
    const resumed = runner().resume(f, first.checkpoint, yes(), { signal: stop.signal });
    while (log.length === 0) await new Promise((resolve) => setImmediate(resolve));
    for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve));
    stop.abort();
    expect(await rejection(resumed)).toMatchObject({ code: "aborted" });
    const plan = await runner().plan(f, "r");
    expect(plan.nodes).toEqual([
      { node: "a", will: "re-run", why: "due", visit: "a#1", waitsFor: [], replays: 1 },
    ]);
    dies = false;
    stateOf(await runner().adopt(f, "r"));
    expect(log).toEqual(["gated(1)"]);
    expect(await port.records.read("default", first.pending.id)).toMatchObject({
      state: "consumed",
    });
  });

  it("FLOW-64 plans what a crash left: a visit that failed is not tried again", async () => {
    const { f } = branches();
    const log = memoryRunLog();
    const { runner, port } = world({ log });
    const first = paused(await runner().run(f, { n: 1 }, { runId: "r" }));
    const denied = replies({ [first.pendings[1]!.id]: no() });
    await rejection(runner().resume(f, first.checkpoint, denied));
    const rows = await log.read("default", "r", 0, 100);
    const events = await runner().history(f, "r");
    const failed = events.findLastIndex(({ type }) => type === "visit-finished") + 1;
    const cut = memoryRunLog();
    await cut.commit(
      "cut",
      rows
        .slice(0, failed)
        .map(({ revision, text }) => appendWrite("default", "r", revision, text)),
    );
    const plan = await world({ log: cut, approvals: port }).runner().plan(f, "r");
    expect(short(plan).slice(1, 3)).toEqual(["asks blocked spent", "pays keep failed"]);
  });

  it("FLOW-64 refuses what a resume would refuse before it spends", async () => {
    const { gated } = effects();
    const build = (payload: (n: number) => unknown, more = false) => {
      const b = flow("f", State).gate("look", { payload: (s) => payload(s.n) });
      const c = b.call("pay", gated, { args: { n: 1 } });
      return (more ? c.route("pay", ["look", "$end"], () => "$end") : c)
        .edge("look", "pay")
        .build();
    };
    const f = build((n) => n);
    const { runner } = world();
    const first = paused(await runner().run(f, { n: 1 }));
    expect(
      await rejection(
        runner().plan(
          build((n) => n, true),
          first.checkpoint,
        ),
      ),
    ).toMatchObject({
      code: "graph-version-mismatch",
      data: { differs: ["node:pay"] },
    });
    expect(
      await rejection(
        runner().plan(
          build((n) => n + 1),
          first.checkpoint,
        ),
      ),
    ).toMatchObject({
      code: "graph-version-mismatch",
      data: { node: "look#1", field: "payload" },
    });
    const durable = world({ log: memoryRunLog() });
    const ended = paused(await durable.runner().run(f, { n: 1 }, { runId: "r" }));
    await rejection(durable.runner().resume(f, ended.checkpoint, deny({ by: dana })));
    expect(await rejection(durable.runner().plan(f, "r"))).toMatchObject({
      code: "resume-terminal",
    });
  });
});
