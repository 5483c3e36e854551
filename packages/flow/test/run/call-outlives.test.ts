import { defineTool } from "@holdpoint/tools";
import { describe, expect, it } from "vitest";
import { z } from "zod";

import { flow, memoryRunLog, replies } from "../../src/index.ts";
import { handClock, settle } from "../support/clock.ts";
import { effects } from "../support/effects.ts";
import { State } from "../support/one-call.ts";
import { paused, rejection, stateOf, world, yes } from "../support/world.ts";

describe("a call that outlives its execution", () => {
  it("FLOW-07 APR-21 ends unused where its portable run is aborted right before it", async () => {
    const { gated, log } = effects();
    const stop = new AbortController();
    let visits = 0;
    const f = flow("f", State)
      .node("a", async (s, ctx) => {
        visits += 1;
        if (visits === 2) queueMicrotask(() => stop.abort());
        return { sum: (await ctx.call(gated, { n: s.n })).got };
      })
      .build();
    const { runner, outcomes } = world();
    const first = paused(await runner().run(f, { n: 1 }));
    const { signal } = stop;
    expect(await rejection(runner().resume(f, first.checkpoint, yes(), { signal }))).toMatchObject({
      code: "aborted",
    });
    await settle();
    expect([visits, log, await outcomes()]).toEqual([2, [], ["unused"]]);
  });

  it("FLOW-72 APR-21 says on no record how it ended where its run is aborted from within it", async () => {
    const stop = new AbortController();
    let entered = 0;
    const pay = defineTool({
      name: "pay",
      description: "stops its own run the first time",
      input: z.object({}),
      output: z.string(),
      confirm: true,
      idempotent: true,
      execute: () => {
        entered += 1;
        if (entered === 1) stop.abort();
        return `paid ${entered}`;
      },
    });
    const f = flow("f", z.object({ n: z.number(), note: z.string().optional() }))
      .node("a", async (_, ctx) => ({ note: await ctx.call(pay, {}) }))
      .build();
    const { runner, outcomes } = world({ log: memoryRunLog() });
    const { pending } = paused(await runner().run(f, { n: 1 }, { runId: "r" }));
    const reply = replies({ [pending.id]: yes() });
    expect(await rejection(runner().resume(f, "r", reply, { signal: stop.signal }))).toMatchObject({
      code: "aborted",
    });
    await settle();
    expect([entered, await outcomes()]).toEqual([1, ["undefined"]]);
    expect(stateOf(await runner().adopt(f, "r")).note).toBe("paid 2");
    expect([entered, await outcomes()]).toEqual([2, ["executed"]]);
  });

  it("FLOW-76 APR-21 says on no record how it ended where its code is run again", async () => {
    for (const durable of [false, true]) {
      const clock = handClock();
      let entered = 0;
      let end: () => void = () => undefined;
      const slow = defineTool({
        name: "slow",
        description: "ends late the first time",
        input: z.object({}),
        output: z.string(),
        confirm: true,
        idempotent: true,
        execute: () =>
          (entered += 1) === 1
            ? new Promise<string>((resolve) => (end = () => resolve("late")))
            : "in time",
      });
      const f = flow("f", z.object({ n: z.number(), note: z.string().optional() }))
        .node("a", async (_, ctx) => ({ note: await ctx.call(slow, {}) }), {
          timeoutMs: 1_000,
          retry: { attempts: 2, on: () => true, waitMs: () => 500 } as never,
        })
        .build();
      const { runner, outcomes } = world({ clock, ...(durable && { log: memoryRunLog() }) });
      const first = paused(await runner().run(f, { n: 1 }));
      const resuming = runner().resume(f, first.checkpoint, yes());
      await clock.move(1_000);
      end();
      await settle();
      await clock.move(2_000);
      expect(stateOf(await resuming).note).toBe("in time");
      expect([entered, await outcomes()]).toEqual([2, ["executed"]]);
    }
  });
});
