import { describe, expect, it } from "vitest";
import { z } from "zod";

import { appendWrite, flow, memoryRunLog, replies, type NodeContext } from "../../src/index.ts";
import { carried } from "../support/carried.ts";
import { settle } from "../support/clock.ts";
import { effects } from "../support/effects.ts";
import { paused, recordlessPort, stateOf, world, yes } from "../support/world.ts";

const State = z.object({ n: z.number(), sum: z.number().default(0) });

/** A flow of a free call, then a gate, then a gated call. */
function checked({ free, gated }: ReturnType<typeof effects>, name = "inner") {
  return flow(name, State)
    .node("look", async (s, ctx) => ({ sum: (await ctx.call(free, { n: s.n })).got }))
    .gate("review", { payload: (s) => ({ sum: s.sum }) })
    .node("pay", async (s, ctx) => ({ sum: s.sum + (await ctx.call(gated, { n: s.n })).got }))
    .path("look", "review", "pay")
    .build();
}

describe("nested runs in a log", () => {
  it("FLOW-72 FLOW-74 goes on after a crash at any revision, and runs no finished call within again", async () => {
    const { log, tool } = effects();
    const safe = tool("safe", { idempotent: true });
    const leaf = flow("leaf", State)
      .node("a", async (s, ctx) => ({ sum: (await ctx.call(safe, { n: s.n })).got }))
      .node("b", async (s, ctx) => ({ sum: s.sum + (await ctx.call(safe, { n: s.n + 50 })).got }))
      .edge("a", "b")
      .build();
    const each = flow("each", State)
      .map("m", {
        over: (s) => [s.n, s.n + 1],
        each: (n, ctx) => ctx.run(leaf, { n }),
        into: ({ values }) => ({ sum: values.reduce((sum, end) => sum + end.sum, 0) }),
        runs: [leaf],
      })
      .build();
    const outer = flow("outer", State)
      .subflow("in", each, { input: (s) => ({ n: s.n }), into: ({ sum }) => ({ sum }) })
      .build();
    const whole = memoryRunLog();
    const { runner } = world();
    const end = stateOf(await runner({ log: whole }).run(outer, { n: 1 }, { runId: "r" }));
    expect(end.sum).toBe(10 + 510 + 20 + 520);
    const rows = await whole.read("default", "r", 0, 200);
    const events = await runner({ log: whole }).history(outer, "r");
    expect(events.map(({ type }) => type)).toEqual(
      expect.arrayContaining(["nested-started", "nested-finished", "item-finished"]),
    );
    for (let revision = 1; revision <= rows.length; revision++) {
      const cut = memoryRunLog();
      const writes = rows
        .slice(0, revision)
        .map((row) => appendWrite("default", "r", row.revision, row.text));
      await cut.commit(`crash-${revision}`, writes);
      log.length = 0;
      expect(stateOf(await runner({ log: cut }).adopt(outer, "r"))).toEqual(end);
      const finished = events
        .slice(0, revision)
        .filter(({ type }) => type === "call-finished").length;
      expect(log).toHaveLength(4 - finished);
    }
  });

  it("FLOW-25 FLOW-72 resumes by run id from the log, each pause in a fresh runner", async () => {
    const tools = effects();
    const inner = checked(tools);
    const outer = flow("outer", State)
      .map("each", {
        over: (s) => [s.n, s.n + 1],
        each: (n, ctx) => ctx.run(inner, { n }),
        into: ({ values }) => ({ sum: values.reduce((sum, end) => sum + end.sum, 0) }),
        runs: [inner],
      })
      .build();
    const { runner, count } = world({ log: memoryRunLog() });
    let now = await runner().run(outer, { n: 1 }, { runId: "r" });
    let pauses = 0;
    while (now.status === "paused") {
      const last = now.pendings.at(-1)!;
      now = await runner().resume(outer, "r", replies({ [last.id]: yes() }));
      pauses += 1;
    }
    expect(pauses).toBe(4);
    expect(now.state.sum).toBe(20 + 40);
    expect(tools.log.toSorted()).toEqual(["free(1)", "free(2)", "gated(1)", "gated(2)"]);
    expect(await count("pending")).toBe(0);
    expect(stateOf(await runner().adopt(outer, "r")).sum).toBe(60);
  });
});

describe("deep ones", () => {
  /** Five runs deep: map in node in subflow in map in subflow, with a gate and a gated call at the bottom. */
  function deep(asks: boolean) {
    const { log, tool } = effects();
    const gated = tool("gated", { confirm: asks });
    const free = tool("free");
    const bottom = flow("l5", State)
      .gate("review", { payload: (s) => ({ n: s.n }), when: () => asks })
      .node("pay", async (s, ctx) => {
        const before = await ctx.call(free, { n: s.n });
        return { sum: before.got + (await ctx.call(gated, { n: s.n })).got };
      })
      .edge("review", "pay")
      .build();
    const four = flow("l4", State)
      .map("m", {
        over: (s) => [s.n * 10, s.n * 10 + 1],
        each: async (n, ctx) => (await ctx.run(bottom, { n })).sum,
        into: ({ values }) => ({ sum: values.reduce((a, b) => a + b, 0) }),
        runs: [bottom],
      })
      .build();
    const three = flow("l3", State)
      .subflow("s", four, { input: ({ n }) => ({ n }), into: ({ sum }) => ({ sum }) })
      .build();
    const two = flow("l2", State)
      .node(
        "n",
        async (s, ctx: NodeContext) => {
          const stamp = await ctx.call(free, { n: 1000 + s.n });
          return { sum: (await ctx.run(three, { n: s.n })).sum + stamp.got };
        },
        { runs: [three] },
      )
      .build();
    const outer = flow("l1", State)
      .map("m", {
        over: (s) => [s.n, s.n + 1],
        each: (n, ctx) => ctx.run(two, { n }),
        into: ({ values }) => ({ sum: values.reduce((sum, end) => sum + end.sum, 0) }),
        runs: [two],
      })
      .build();
    const outest = flow("l0", State)
      .subflow("top", outer, { input: ({ n }) => ({ n }), into: ({ sum }) => ({ sum }) })
      .build();
    return { log, outer: outest };
  }

  it("FLOW-25 FLOW-34 FLOW-62 ends maps and runs five deep, through a text at each pause, as if it had never paused", async () => {
    const { log, outer } = deep(true);
    const { runner, count } = world();
    const first = paused(await runner().run(outer, { n: 1 }));
    expect(first.pendings.map(({ path }) => path)).toEqual([
      "top#1/l1.0/m#1[0]/l2.0/n#1/l3.0/s#1/l4.0/m#1[0]/l5.0/review#1",
      "top#1/l1.0/m#1[0]/l2.0/n#1/l3.0/s#1/l4.0/m#1[1]/l5.0/review#1",
      "top#1/l1.0/m#1[1]/l2.0/n#1/l3.0/s#1/l4.0/m#1[0]/l5.0/review#1",
      "top#1/l1.0/m#1[1]/l2.0/n#1/l3.0/s#1/l4.0/m#1[1]/l5.0/review#1",
    ]);
    const { state, pauses } = await carried(outer, first, runner, { pick: (_, pause) => [pause] });
    expect(pauses).toBe(8);
    const never = deep(false);
    const straight = stateOf(
      await world({ approvals: recordlessPort() }).runner().run(never.outer, { n: 1 }),
    );
    expect(state).toEqual(straight);
    expect(log.toSorted()).toEqual(never.log.toSorted());
    expect(log).toHaveLength(10);
    expect(await count("pending")).toBe(0);
  });
});

describe("runs that never pause", () => {
  it("FLOW-28 may hold anything within, and take anything as input, side by side too", async () => {
    const Any = z.object({ it: z.any() });
    const inner = flow("inner", Any)
      .node("call", (s) => ({ it: (s.it as () => unknown)() }))
      .build();
    const outer = flow("outer", z.object({ sum: z.number().default(0) }))
      .node(
        "a",
        async (_, ctx) => {
          const ends = await Promise.all(
            [3, 2, 1].map(async (n) => {
              await settle(n);
              return ctx.run(inner, { it: () => () => n });
            }),
          );
          return { sum: ends.reduce((sum, { it }) => sum + (it as () => number)(), 0) };
        },
        { runs: [inner] },
      )
      .map("each", {
        over: () => [(n: number) => n, (n: number) => n * 2],
        each: (f) => f(10),
        into: ({ values }, s) => ({ sum: s.sum + values.reduce((a, b) => a + b, 0) }),
      })
      .edge("a", "each")
      .build();
    expect(stateOf(await world().runner().run(outer, {})).sum).toBe(6 + 30);
  });
});
