import { defineTool } from "@holdpoint/tools";
import { describe, expect, it } from "vitest";
import { z } from "zod";

import { flow, memoryRunLog } from "../../src/index.ts";
import { handClock } from "../support/clock.ts";
import { effects } from "../support/effects.ts";
import { paused, stateOf, world, yes } from "../support/world.ts";

const State = z.object({ n: z.number() });

/** A map of two items, the first of which is cut off within a nested run, and a call behind it that waits. */
function cutOff(onError: "skip" | "fail") {
  const { gated, other } = effects();
  const slow = defineTool({
    name: "slow",
    description: "never ends",
    input: z.object({}),
    execute: () => new Promise<never>(() => {}),
  });
  const inner = flow("inner", State)
    .node("deep", async (_, ctx) => void (await ctx.call(slow, {})))
    .build();
  return flow("f", State)
    .map("each", {
      over: () => [1, 2],
      each: async (n, ctx) => {
        if (n === 1) await Promise.all([ctx.run(inner, { n }), ctx.call(other, { n })]);
        return n;
      },
      onError,
      timeoutMs: 100,
      runs: [inner],
      into: ({ values }) => ({ n: values.length }),
    })
    .node("mend", () => ({ n: 9 }))
    .call("pay", gated, { args: ({ n }) => ({ n }), into: () => ({}) })
    .edge("each", "pay")
    .failed("each", "mend")
    .edge("mend", "pay")
    .build();
}

describe("an item that is cut off", () => {
  it("FLOW-33 FLOW-25 leaves no nested run behind: what waits later is resumed from its text", async () => {
    for (const onError of ["skip", "fail"] as const) {
      for (const log of [undefined, memoryRunLog()]) {
        const clock = handClock();
        const f = cutOff(onError);
        const { runner } = world({ clock, ...(log !== undefined && { log }) });
        const running = runner().run(f, { n: 1 }, { runId: `r-${onError}` });
        await clock.move(100);
        const text = runner().dumpCheckpoint(paused(await running).checkpoint);
        const done = await runner().resume(f, runner().loadCheckpoint(f, text), yes());
        expect(stateOf(done).n).toBe(onError === "skip" ? 1 : 9);
      }
    }
  });

  it("FLOW-33 FLOW-12 leaves no question behind: it is withdrawn with the item", async () => {
    for (const log of [undefined, memoryRunLog()]) {
      const clock = handClock();
      const { runner, count, outcomes } = world({ clock, ...(log !== undefined && { log }) });
      const running = runner().run(cutOff("skip"), { n: 1 });
      await clock.move(100);
      expect(paused(await running).pendings.map(({ path }) => path)).toEqual(["pay#1"]);
      expect([await count("pending"), await outcomes()]).toEqual([1, ["cancelled"]]);
    }
  });
});
