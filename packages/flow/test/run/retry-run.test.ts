import { defineTool, ToolError } from "@holdpoint/tools";
import { describe, expect, it } from "vitest";
import { z } from "zod";

import { flow, memoryRunLog, type RunEvent } from "../../src/index.ts";
import { effects } from "../support/effects.ts";
import { dana, no, paused, rejection, stateOf, world, yes } from "../support/world.ts";

const State = z.object({
  n: z.number(),
  a: z.number().optional(),
  b: z.number().optional(),
  note: z.string().optional(),
});

/** A tool that fails as often as is said, and writes down its keys. */
function failing(times: number) {
  const keys: string[] = [];
  let left = times;
  const fail = defineTool({
    name: "fail",
    description: "fails at first",
    input: z.object({ n: z.number() }),
    output: z.object({ got: z.number() }),
    execute: ({ n }, { idempotencyKey }) => {
      keys.push(idempotencyKey);
      if ((left -= 1) >= 0) throw new ToolError("broken");
      return { got: n * 100 };
    },
  });
  return { fail, keys };
}

const types = (events: readonly RunEvent[]) => events.map(({ type }) => type);

describe("a run that failed, retried", () => {
  it("WF-29 FLOW-60 goes on under its id: what finished is replayed or kept, what failed is attempted anew under its key", async () => {
    const { log: made, free } = effects();
    const { fail, keys } = failing(1);
    const f = flow("f", State)
      .node("first", async (_, ctx) => ({ a: (await ctx.call(free, { n: 1 })).got }))
      .node("work", async (_, ctx) => {
        await ctx.call(free, { n: 2 });
        const at = ctx.now().getTime();
        const { got } = await ctx.call(fail, { n: 3 });
        return { b: got, note: String(at === ctx.now().getTime() || at > 0) };
      })
      .node("beside", async (_, ctx) => void (await ctx.call(free, { n: 4 })))
      .edge("first", "work")
      .edge("first", "beside")
      .build();
    const { runner } = world({ log: memoryRunLog() });
    const failure = await rejection(runner().run(f, { n: 1 }, { runId: "r" }));
    expect(failure).toMatchObject({ code: "node-failed", data: { node: "work#1" } });
    expect(made.toSorted()).toEqual(["free(1)", "free(2)", "free(4)"]);
    const before = await runner().history(f, "r");

    const done = await runner().retry(f, "r", { by: dana });
    expect(stateOf(done)).toEqual({ n: 1, a: 10, b: 300, note: "true" });
    expect(done.runId).toBe("r");
    expect(made.toSorted()).toEqual(["free(1)", "free(2)", "free(4)"]);
    expect(keys).toHaveLength(2);
    expect(keys[0]).toBe(keys[1]);

    const after = await runner().history(f, "r");
    expect(types(after.slice(0, before.length))).toEqual(types(before));
    const retried = after[before.length]!;
    expect(retried).toMatchObject({ type: "run-retried", by: { id: "dana" } });
    if (retried.type !== "run-retried") throw new Error("no retry");
    expect(retried.again).toEqual([
      { visit: "work#1", name: "work" },
      { visit: "work#1", name: "fail" },
    ]);
    const again = types(after.slice(before.length + 1));
    expect(again).not.toContain("visit-started"); // the same visit
    expect(again.at(-1)).toBe("completed");
  });

  it("WF-29 fails again with what fails again, and is retried again, each time on record", async () => {
    const { log: made, free } = effects();
    const { fail, keys } = failing(2);
    const f = flow("f", State)
      .node("work", async (_, ctx) => {
        await ctx.call(free, { n: 1 });
        return { b: (await ctx.call(fail, { n: 3 })).got };
      })
      .build();
    const { runner } = world({ log: memoryRunLog() });
    await rejection(runner().run(f, { n: 1 }, { runId: "r" }));
    expect(await rejection(runner().retry(f, "r"))).toMatchObject({ code: "node-failed" });
    stateOf(await runner().retry(f, "r"));
    expect([made, keys.length]).toEqual([["free(1)"], 3]);
    const all = await runner().history(f, "r");
    expect(types(all).filter((type) => type === "run-retried")).toHaveLength(2);
    expect(types(all).filter((type) => type === "failed")).toHaveLength(2);
  });

  it("WF-29 FLOW-41 is no other way than before where only what failed differs, in strict mode too", async () => {
    const { log: made, tool } = effects();
    let fails = 2;
    const first = tool("first", {
      run: (n) => {
        if ((fails -= 1) >= 0) throw new ToolError("broken");
        return n;
      },
    });
    const second = tool("second");
    const f = flow("f", State)
      .node("work", async (_, ctx) => {
        const one = await ctx.call(first, { n: 1 }).catch(() => undefined);
        await ctx.call(second, { n: 2 });
        const { got } = await ctx.call(first, { n: 3 });
        return { a: one?.got, b: got };
      })
      .build();
    const { runner, notices } = world({ log: memoryRunLog(), strict: true });
    await rejection(runner().run(f, { n: 1 }, { runId: "r" }));
    expect(stateOf(await runner().retry(f, "r"))).toEqual({ n: 1, a: 1, b: 3 });
    expect(made).toEqual(["first(1)", "second(2)", "first(3)", "first(1)", "first(3)"]);
    expect(notices.filter(({ type }) => type === "replay-diverged")).toEqual([]);
  });

  it("WF-29 FLOW-41 is refused in strict mode where it leaves out what is on record before anything failed", async () => {
    const { log: made, free } = effects();
    const { fail } = failing(1);
    let leavesOut = false;
    const f = flow("f", State)
      .node("work", async (_, ctx) => {
        if (!leavesOut) await ctx.call(free, { n: 1 });
        return { b: (await ctx.call(fail, { n: 3 })).got };
      })
      .build();
    const { runner } = world({ log: memoryRunLog(), strict: true });
    await rejection(runner().run(f, { n: 1 }, { runId: "r" }));
    leavesOut = true;
    const failure = await rejection(runner().retry(f, "r"));
    expect(failure.cause).toMatchObject({ code: "replay-diverged" });
    expect(made).toEqual(["free(1)"]);
  });

  it("WF-29 tries a route and a reducer again, with the round as it was", async () => {
    const { log: made, free } = effects();
    let routes = 0;
    const f = flow("f", State)
      .node("work", async (_, ctx) => ({ a: (await ctx.call(free, { n: 1 })).got }))
      .node("end", () => ({ note: "there" }))
      .route("work", ["end"], () => {
        if ((routes += 1) === 1) throw new Error("no way");
        return "end";
      })
      .build();
    const { runner } = world({ log: memoryRunLog() });
    await rejection(runner().run(f, { n: 1 }, { runId: "r" }));
    expect(stateOf(await runner().retry(f, "r"))).toEqual({ n: 1, a: 10, note: "there" });
    expect([made, routes]).toEqual([["free(1)"], 2]);
  });

  it("WF-29 FLOW-05 has the budgets that it had", async () => {
    const f = flow("f", State)
      .node("turn", ({ n }) => ({ n: n + 1 }))
      .route("turn", ["turn", "$end"], () => "turn")
      .build();
    const { runner } = world({ log: memoryRunLog(), roundsMax: 3 });
    expect(await rejection(runner().run(f, { n: 1 }, { runId: "r" }))).toMatchObject({
      code: "round-budget",
    });
    expect(await rejection(runner({ roundsMax: 100 }).retry(f, "r"))).toMatchObject({
      code: "round-budget",
    });
  });
});

describe("what a person had said before a retry", () => {
  it("WF-29 FLOW-35 asks anew for what waited when the run failed: under a new id, with what was shown, and once", async () => {
    const { log: made, free } = effects();
    const { fail } = failing(1);
    let drawn = 0;
    let confirms = true;
    const drawing = defineTool({
      name: "drawing",
      description: "draws an id",
      input: z.object({ id: z.number().default(() => (drawn += 1)) }),
      output: z.object({ got: z.number() }),
      confirm: () => confirms,
      execute: ({ id }) => {
        made.push(`drawing(${id})`);
        return { got: id };
      },
    });
    const f = flow("f", State)
      .node("start", () => {})
      .node("asks", async (_, ctx) => {
        await ctx.call(free, { n: 7 });
        return { a: (await ctx.call(drawing, {})).got };
      })
      .node("fails", async (_, ctx) => ({ b: (await ctx.call(fail, { n: 1 })).got }))
      .edge("start", "asks")
      .edge("start", "fails")
      .build();
    const { runner, port, count, outcomes } = world({ log: memoryRunLog() });
    await rejection(runner().run(f, { n: 1 }, { runId: "r" }));
    expect(await outcomes()).toEqual(["cancelled"]);
    const [old] = (await port.records.list("default", { limit: 9 })).items;

    confirms = false; // FLOW-66: it was gated, and stays so
    const again = paused(await runner().retry(f, "r"));
    expect(again.pendings).toHaveLength(1);
    const { id, request } = again.pending;
    expect([id === old!.id, request.arguments, await count("pending")]).toEqual([
      false,
      { id: 1 },
      1,
    ]);
    const late = rejection(port.records.decide({ scope: "default", id: old!.id, decision: yes() }));
    expect(await late).toMatchObject({ code: "approval-already-decided" });
    expect(stateOf(await runner().resume(f, again.checkpoint, yes()))).toEqual({
      n: 1,
      a: 1,
      b: 100,
    });
    expect(made).toEqual(["free(7)", "drawing(1)"]);
  });

  it("WF-29 asks anew for an approved call that failed, and never runs it under the spent approval", async () => {
    let fails = 1;
    let confirms = true;
    const { log: made, tool } = effects();
    const gated = tool("gated", {
      confirm: () => confirms,
      run: (n) => {
        if ((fails -= 1) >= 0) throw new ToolError("broken");
        return n;
      },
    });
    const f = flow("f", State)
      .node("work", async (_, ctx) => ({ a: (await ctx.call(gated, { n: 5 })).got }))
      .build();
    const { runner, outcomes } = world({ log: memoryRunLog() });
    const first = paused(await runner().run(f, { n: 1 }, { runId: "r" }));
    await rejection(runner().resume(f, first.checkpoint, yes()));
    expect([made, await outcomes()]).toEqual([["gated(5)"], ["failed"]]);
    confirms = false; // FLOW-66: it was gated, and stays so
    const again = paused(await runner().retry(f, "r"));
    expect(made).toEqual(["gated(5)"]);
    const { id, request } = again.pending;
    expect(id).not.toBe(first.pending.id);
    // A late answer to the old question answers nothing, of a port without records either.
    expect(request.callId).not.toBe(first.pending.request.callId);
    expect(request.arguments).toEqual(first.pending.request.arguments);
    stateOf(await runner().resume(f, again.checkpoint, yes()));
    expect([made, await outcomes()]).toEqual([
      ["gated(5)", "gated(5)"],
      expect.arrayContaining(["failed", "executed"]),
    ]);
  });

  it("WF-29 asks anew for what was denied, at a gate and at a call, and goes by the new answer", async () => {
    const { log: made, gated } = effects();
    const f = flow("f", State)
      .gate("review", { payload: ({ n }) => ({ n }) })
      .call("pay", gated, { args: ({ n }) => ({ n }), into: ({ got }) => ({ a: got }) })
      .path("review", "pay")
      .build();
    const { runner } = world({ log: memoryRunLog() });
    const gate = paused(await runner().run(f, { n: 1 }, { runId: "r" }));
    expect(await rejection(runner().resume(f, gate.checkpoint, no()))).toMatchObject({
      code: "approval-denied",
    });
    const anew = paused(await runner().retry(f, "r"));
    expect([anew.pending.path, anew.pending.id === gate.pending.id]).toEqual(["review#1", false]);
    const call = paused(await runner().resume(f, anew.checkpoint, yes()));
    await rejection(runner().resume(f, call.checkpoint, no()));
    const last = paused(await runner().retry(f, "r"));
    expect([last.pendings.map(({ path }) => path), made]).toEqual([["pay#1"], []]);
    expect(stateOf(await runner().resume(f, last.checkpoint, yes()))).toEqual({ n: 1, a: 10 });
    expect(made).toEqual(["gated(1)"]);
  });
});
