/** A run whose process died after any entry of its log, taken up by the next one from what stands there. */
import { digest } from "@holdpoint/seal";
import { defineTool } from "@holdpoint/tools";
import { describe, expect, it } from "vitest";
import { z } from "zod";

import {
  appendWrite,
  flow,
  memoryRunLog,
  replies,
  type Flow,
  type FlowBuilder,
  type RunEvent,
  type RunLog,
} from "../../src/index.ts";
import { effects } from "../support/effects.ts";
import { logMeter } from "../support/log-meter.ts";
import { stateOf, world, yes } from "../support/world.ts";

const State = z.object({ n: z.number(), ran: z.array(z.string()).default([]) });
type S = z.output<typeof State>;
type Input = z.input<typeof State>;

const begun = (name: string) => flow(name, State).reduce("ran", (all, more) => [...all, ...more]);

/** A whole run, and for each entry of its log one that ends there. */
async function cutAnywhere(built: Flow<S, Input>, concurrency = 16) {
  const whole = memoryRunLog();
  const { runner } = world({ concurrency });
  const end = stateOf(await runner({ log: whole }).run(built, { n: 1 }, { runId: "r" }));
  const events = await runner({ log: whole }).history(built, "r");
  const rows = await whole.read("default", "r", 0, 1_000);
  const cutAfter = async (revision: number): Promise<RunLog> => {
    const log = memoryRunLog();
    const kept = rows.slice(0, revision);
    const writes = kept.map((row) => appendWrite("default", "r", row.revision, row.text));
    await log.commit(`crash-${revision}`, writes);
    return log;
  };
  return { runner, end, events, cutAfter };
}

const called = (events: readonly RunEvent[], upTo: number): number =>
  events.slice(0, upTo).filter(({ type }) => type === "call-finished").length;

describe("a run whose process died after any entry", () => {
  it("FLOW-77 R004 R014 CASE-114 goes on through its twenty nodes, and makes each node's call once", async () => {
    const { log, tool } = effects();
    const safe = tool("safe", { idempotent: true });
    type Builder = FlowBuilder<S, Input, string>;
    let builder = begun("twenty") as Builder;
    for (let at = 0; at < 20; at += 1) {
      builder = builder.node(`n${at}` as never, async (_, ctx) => {
        const { got } = await ctx.call(safe, { n: at });
        return { ran: [`${got}`] };
      }) as Builder;
      if (at > 0) builder = builder.edge(`n${at - 1}`, `n${at}`) as Builder;
    }
    const built = builder.build();
    const { runner, end, events, cutAfter } = await cutAnywhere(built);
    const all = log.splice(0);
    expect(all).toHaveLength(20);
    for (let revision = 1; revision <= events.length; revision += 1) {
      const cut = await cutAfter(revision);
      expect(stateOf(await runner({ log: cut }).adopt(built, "r"))).toEqual(end);
      expect(log.splice(0)).toEqual(all.slice(called(events, revision)));
    }
  });

  it("FLOW-10 R135 CASE-010 brings two branches together once and after both, one at a time", async () => {
    const { log, tool } = effects();
    const safe = tool("safe", { idempotent: true });
    const built = begun("branches")
      .node("start", () => ({ ran: ["start"] }))
      .node("left", async (_, ctx) => {
        await ctx.call(safe, { n: 1 });
        return { ran: ["left"] };
      })
      .node("right", async (_, ctx) => {
        await ctx.call(safe, { n: 2 });
        return { ran: ["right"] };
      })
      .node(
        "meet",
        async ({ ran }, ctx) => {
          await ctx.call(safe, { n: 3 });
          return { ran: [`meet after ${ran.join(" ")}`] };
        },
        { join: true },
      )
      .path("start", "left", "meet")
      .node("further", () => ({ ran: ["further"] }))
      .path("start", "right", "further", "meet")
      .build();
    const { runner, end, events, cutAfter } = await cutAnywhere(built, 1);
    const all = log.splice(0);
    expect(end.ran.at(-1)).toBe("meet after start left right further");
    for (let revision = 1; revision <= events.length; revision += 1) {
      const cut = await cutAfter(revision);
      expect(stateOf(await runner({ log: cut }).adopt(built, "r"))).toEqual(end);
      expect(log.splice(0)).toEqual(all.slice(called(events, revision)));
    }
  });

  it("FLOW-76 CASE-052 enters a call again under its own key, in whatever order calls are begun then", async () => {
    const keys: string[] = [];
    const pay = defineTool({
      name: "pay",
      description: "Pays.",
      input: z.object({ n: z.number() }),
      output: z.object({ got: z.number() }),
      idempotent: true,
      execute: ({ n }, { idempotencyKey }) => {
        keys.push(`${n} ${idempotencyKey}`);
        return { got: n };
      },
    });
    let order = [1, 2, 2, 3];
    const built = begun("pays")
      .node("all", async (_, ctx) => {
        const paid = await Promise.all(order.map((n) => ctx.call(pay, { n })));
        return { ran: paid.map(({ got }) => `${got}`).toSorted() };
      })
      .build();
    const { runner, end, events, cutAfter } = await cutAnywhere(built);
    const first = keys.splice(0).toSorted();
    expect(new Set(first).size).toBe(4);
    // Everything was done, and nothing of it is on record.
    const before = events.findIndex(({ type }) => type === "call-finished");
    order = [3, 2, 1, 2];
    const cut = await cutAfter(before);
    expect(stateOf(await runner({ log: cut }).adopt(built, "r"))).toEqual(end);
    expect(keys.toSorted()).toEqual(first);
  });
});

/** Characters that no other number gives, nor any part of them. */
const tenThousand = (n: number): string =>
  Array.from({ length: 233 }, (_, at) => digest({ n, at })).join("");

describe("a run that pauses often", () => {
  it("FLOW-73 R145 writes 200 results of 10 KB once, over 50 pauses", async () => {
    const fetch = defineTool({
      name: "fetch",
      description: "Fetches.",
      input: z.object({ n: z.number() }),
      output: z.object({ text: z.string() }),
      idempotent: true,
      execute: ({ n }) => ({ text: tenThousand(n) }),
    });
    const { gated } = effects();
    const built = begun("often")
      .node("all", async (_, ctx) => {
        for (let n = 0; n < 200; n += 1) await ctx.call(fetch, { n });
        for (let n = 0; n < 50; n += 1) await ctx.call(gated, { n });
        return { ran: ["all"] };
      })
      .build();
    const { runner } = world();
    const { log, written } = logMeter();
    let now = await runner({ log }).run(built, { n: 1 }, { runId: "r" });
    const once = written.entries;
    let pauses = 0;
    for (; now.status === "paused"; pauses += 1) {
      const reply = replies({ [now.pending.id]: yes() });
      now = await runner({ log }).resume(built, "r", reply);
    }
    expect(pauses).toBe(50);
    expect(once).toBeGreaterThan(2_000_000);
    expect(written.entries - once).toBeLessThan(0.15 * once);
    expect(written.snapshots).toBeLessThan(1.5 * once);
  });
});
