import { describe, expect, it } from "vitest";
import { z } from "zod";

import { flow, isFlowError, replies, type Flow } from "../../src/index.ts";
import { carried } from "../support/carried.ts";
import { handClock, settle } from "../support/clock.ts";
import { effects } from "../support/effects.ts";
import { no, paused, rejection, stateOf, world, yes } from "../support/world.ts";

const State = z.object({ n: z.number(), sum: z.number().default(0) });
type S = z.output<typeof State>;

/** A flow of a free call, then a gate, then a gated call. */
function checked({ free, gated }: ReturnType<typeof effects>, name = "inner") {
  return flow(name, State)
    .node("look", async (s, ctx) => ({ sum: (await ctx.call(free, { n: s.n })).got }))
    .gate("review", { payload: (s) => ({ sum: s.sum }) })
    .node("pay", async (s, ctx) => ({ sum: s.sum + (await ctx.call(gated, { n: s.n })).got }))
    .path("look", "review", "pay")
    .build();
}

describe("a flow runs within a node", () => {
  it("FLOW-25 FLOW-34 pauses the outermost run at each gate and call within, and goes on where it stood", async () => {
    const tools = effects();
    const inner = checked(tools);
    const outer = flow("outer", State)
      .node(
        "a",
        async (s, ctx) => {
          const first = await ctx.call(tools.free, { n: 9 });
          const end = await ctx.run(inner, { n: s.n });
          return { sum: first.got + end.sum };
        },
        { runs: [inner] },
      )
      .build();
    const { runner, count } = world();
    const first = paused(await runner().run(outer, { n: 1 }));
    expect(first.pendings).toHaveLength(1);
    expect(first.pending).toMatchObject({
      path: "a#1/inner.0/review#1",
      tool: "node:inner.review",
      request: { arguments: { sum: 10 } },
    });
    expect(tools.log).toEqual(["free(9)", "free(1)"]);
    const paths: string[] = [];
    const { state, pauses } = await carried(outer, first, runner, {
      decision: (path) => (paths.push(path), yes()),
    });
    expect(pauses).toBe(2);
    expect(paths).toEqual(["a#1/inner.0/review#1", "a#1/inner.0/pay#1"]);
    expect(state).toEqual({ n: 1, sum: 110 });
    expect(tools.log).toEqual(["free(9)", "free(1)", "gated(1)"]);
    expect(await count("pending")).toBe(0);
  });

  it("FLOW-34 is a node of its own, with its input sealed and its end put into the state", async () => {
    const tools = effects();
    const outer = flow("outer", State)
      .subflow("in", checked(tools), {
        input: (s) => ({ n: s.n + 1 }),
        into: (end, s) => ({ sum: end.sum + s.n }),
      })
      .node("after", (s) => ({ n: -s.n }))
      .edge("in", "after")
      .build();
    const { runner } = world();
    const first = paused(await runner().run(outer, { n: 1 }));
    expect(first.pending.path).toBe("in#1/inner.0/review#1");
    const { state } = await carried(outer, first, runner);
    expect(state).toEqual({ n: -1, sum: 41 });
    expect(tools.log).toEqual(["free(2)", "gated(2)"]);
  });

  it("FLOW-34 gives a finished run's end from the journal, and tells equal runs apart by number", async () => {
    const tools = effects();
    const runs: number[] = [];
    const small = flow("small", State)
      .node("look", async (s, ctx) => {
        runs.push(s.n);
        return { sum: (await ctx.call(tools.free, { n: s.n })).got + runs.length };
      })
      .build();
    const outer = flow("outer", State)
      .node(
        "a",
        async (_, ctx) => {
          const [one, two, three] = await Promise.all([
            ctx.run(small, { n: 1 }),
            ctx.run(small, { n: 2 }),
            ctx.run(small, { n: 1 }),
          ]);
          await ctx.call(tools.gated, { n: 1 });
          return { sum: one.sum * 10_000 + two.sum * 100 + three.sum };
        },
        { runs: [() => small] },
      )
      .build();
    const { runner } = world();
    const first = paused(await runner().run(outer, { n: 0 }));
    expect(runs).toEqual([1, 2, 1]);
    const { state } = await carried(outer, first, runner);
    expect(runs).toEqual([1, 2, 1]);
    expect(tools.log).toEqual(["free(1)", "free(2)", "free(1)", "gated(1)"]);
    expect(state["sum"]).toBe(13 * 10_000 + 23 * 100 + 13);
  });

  it("FLOW-25 keeps several runs of one execution waiting side by side, in the order asked for, and answers each by itself", async () => {
    const tools = effects();
    const inner = checked(tools);
    const outer = flow("outer", State)
      .node(
        "a",
        async (_, ctx) => {
          const ends = await Promise.all([
            ctx.call(tools.other, { n: 5 }),
            ctx.run(inner, { n: 1 }),
            ctx.call(tools.other, { n: 6 }),
            ctx.run(inner, { n: 2 }),
          ]);
          return { sum: ends[1].sum + ends[3].sum };
        },
        { runs: [inner] },
      )
      .build();
    const { runner, count } = world();
    const first = paused(await runner().run(outer, { n: 0 }));
    expect(first.pendings.map(({ path, tool }) => `${path} ${tool}`)).toEqual([
      "a#1 other",
      "a#1/inner.0/review#1 node:inner.review",
      "a#1 other",
      "a#1/inner.1/review#1 node:inner.review",
    ]);
    const ids = first.pendings.map(({ id }) => id);
    const second = paused(
      await runner().resume(outer, first.checkpoint, replies({ [ids[3]!]: yes() })),
    );
    expect(second.pendings.map(({ id }) => id).slice(0, 3)).toEqual(ids.slice(0, 3));
    expect(second.pendings[3]).toMatchObject({ path: "a#1/inner.1/pay#1", tool: "gated" });
    expect(tools.log).toEqual(["free(1)", "free(2)"]);
    const { state } = await carried(outer, second, runner, { pick: (waiting) => [waiting - 1] });
    expect(state["sum"]).toBe(20 + 40);
    expect(tools.log).toHaveLength(6);
    expect(await count("pending")).toBe(0);
  });

  it("FLOW-25 CASE-036 tells of one pause for each pause of a loop within, and goes on by the id that it told", async () => {
    const loop = flow("loop", State)
      .gate("ask", { payload: (s) => s.sum })
      .node("count", (s) => ({ sum: s.sum + 1 }))
      .edge("ask", "count")
      .route("count", ["ask", "$end"], (s) => (s.sum < s.n ? "ask" : "$end"))
      .build();
    const outer = flow("outer", State)
      .subflow("in", loop, { input: (s) => ({ n: s.n }), into: ({ sum }) => ({ sum }) })
      .build();
    const { runner, notices } = world();
    let now = await runner().run(outer, { n: 3 });
    const told: string[] = [];
    for (let pauses = 1; now.status === "paused"; pauses++) {
      expect(notices.filter(({ type }) => type === "paused")).toHaveLength(pauses);
      const asked = notices.filter(({ type }) => type === "approval-requested");
      expect(asked).toHaveLength(pauses);
      const { visit, ids } = asked.at(-1)!;
      told.push(visit!);
      const bad = runner().resume(outer, now.checkpoint, replies({ nobody: yes() }));
      expect(await rejection(bad)).toMatchObject({ code: "answer-unknown" });
      now = await runner().resume(outer, now.checkpoint, replies({ [ids![0]!]: yes() }));
    }
    expect(told).toEqual([1, 2, 3].map((visit) => `in#1/loop.0/ask#${visit}`));
    expect(now.state.sum).toBe(3);
  });

  it("FLOW-23 lets a run under way go on to its end when another call of the execution waits", async () => {
    const { log, free, gated } = effects();
    const steps = flow("steps", State)
      .node("one", async (s, ctx) => (settle(2), { sum: (await ctx.call(free, { n: s.n })).got }))
      .node("two", async (s, ctx) => ({ sum: s.sum + (await ctx.call(free, { n: 7 })).got }))
      .edge("one", "two")
      .build();
    const seen: string[] = [];
    const outer = flow("outer", State)
      .node(
        "a",
        async (_, ctx) => {
          const run = ctx.run(steps, { n: 1 }).then((end) => (seen.push("end"), end.sum));
          await ctx.call(gated, { n: 1 });
          return { sum: await run };
        },
        { runs: [steps] },
      )
      .build();
    const { runner } = world();
    const first = paused(await runner().run(outer, { n: 0 }));
    expect(log).toEqual(["free(1)", "free(7)"]);
    expect(seen).toEqual([]); // parked
    const { state } = await carried(outer, first, runner);
    expect(state["sum"]).toBe(80);
    expect(log).toEqual(["free(1)", "free(7)", "gated(1)"]);
  });

  it("gives the code a state of its own: what it does to it changes nothing on record", async () => {
    const { gated } = effects();
    const Tags = z.object({ tags: z.array(z.string()).default([]) });
    const inner = flow("inner", Tags)
      .node("a", () => ({ tags: ["x"] }))
      .build();
    const seen: string[] = [];
    const outer = flow("outer", Tags)
      .node(
        "a",
        async (_, ctx) => {
          const end = await ctx.run(inner, {});
          seen.push(end.tags.join());
          end.tags.push("y");
          await ctx.call(gated, { n: 1 });
          return { tags: end.tags };
        },
        { runs: [inner] },
      )
      .build();
    const { runner } = world();
    const { state } = await carried(outer, paused(await runner().run(outer, {})), runner);
    expect(seen).toEqual(["x", "x"]);
    expect(state["tags"]).toEqual(["x", "y"]);
  });
});

describe("what fails within", () => {
  const failing = (message: string) =>
    flow("failing", State)
      .node("boom", () => {
        throw new RangeError(message);
      })
      .build();

  it("FLOW-32 is an error at the call, the same live and replayed, with where it came from", async () => {
    const { gated } = effects();
    const seen: unknown[] = [];
    const inner = failing("too far");
    const outer = flow("outer", State)
      .node(
        "a",
        async (_, ctx) => {
          await ctx.run(inner, { n: 1 }).catch((error: unknown) => {
            if (!isFlowError(error, "node-failed")) throw error;
            seen.push([error.constructor.name, error.message, error.data]);
          });
          await ctx.call(gated, { n: 1 });
        },
        { runs: [inner] },
      )
      .build();
    const { runner } = world();
    await carried(outer, paused(await runner().run(outer, { n: 1 })), runner);
    expect(seen).toHaveLength(2);
    expect(seen[0]).toEqual(seen[1]);
    expect(seen[0]).toMatchObject([
      "FlowError",
      "a#1/failing.0/boom#1 of 'failing' failed: too far",
      { node: "a#1/failing.0/boom#1", errors: [{ error: { name: "RangeError" } }] },
    ]);
  });

  it("FLOW-12 ends the outer run where nobody catches it, and takes back what the failed round within had asked for", async () => {
    const inner = flow("inner", State)
      .node("start", () => ({}))
      .node("boom", async () => {
        await settle(2);
        throw new RangeError("no");
      })
      .gate("ask", { payload: (s) => s.n })
      .edge("start", "boom")
      .edge("start", "ask")
      .build();
    const outer = flow("outer", State)
      .subflow("in", inner, { input: (s) => ({ n: s.n }), into: () => ({}) })
      .build();
    const { runner, count, outcomes } = world();
    const failure = await rejection(runner().run(outer, { n: 1 }));
    expect(failure).toMatchObject({ code: "node-failed", data: { node: "in#1" } });
    expect(failure.cause).toMatchObject({
      code: "node-failed",
      data: { node: "in#1/inner.0/boom#1" },
    });
    expect(await count("pending")).toBe(0);
    expect(await outcomes()).toEqual(["cancelled"]);
  });

  it("FLOW-36 CASE-038 hands a denial out to the outer code, three levels up, and runs nothing of what was denied", async () => {
    const { log, gated } = effects();
    const deepest = flow("deepest", State)
      .call("pay", gated, { args: (s) => ({ n: s.n }) })
      .build();
    const middle = flow("middle", State)
      .subflow("in", deepest, { input: (s) => ({ n: s.n }), into: () => ({}) })
      .build();
    const outer = (catches: boolean) =>
      flow("outer", State)
        .node(
          "a",
          async (s, ctx) => {
            const end = ctx.run(middle, { n: s.n });
            if (!catches) return { sum: (await end).sum };
            return end.then(
              () => ({ sum: 1 }),
              (error: unknown) => ({ sum: isFlowError(error, "approval-denied") ? -1 : 0 }),
            );
          },
          { runs: [middle] },
        )
        .build();
    const { runner } = world();
    const f = outer(true);
    const caught = await carried(f, paused(await runner().run(f, { n: 1 })), runner, {
      decision: () => no("never"),
    });
    expect(caught.state["sum"]).toBe(-1);
    const g = outer(false);
    const first = paused(await runner().run(g, { n: 1 }));
    expect(first.pending.path).toBe("a#1/middle.0/in#1/deepest.0/pay#1");
    expect(await rejection(runner().resume(g, first.checkpoint, no("never")))).toMatchObject({
      code: "approval-denied",
      data: { note: "never" },
    });
    expect(log).toEqual([]);
    const approved = await carried(g, paused(await runner().run(g, { n: 1 })), runner);
    expect(approved.state["sum"]).toBe(0);
    expect(log).toEqual(["gated(1)"]);
  });

  it("FLOW-25 FLOW-60 leaves nothing behind of runs within one that failed, or whose time was over", async () => {
    const clock = handClock();
    const { gated, other, tool } = effects();
    const hangs = tool("hangs", { idempotent: true, run: () => new Promise<number>(() => {}) });
    const inner = flow("inner", State)
      .call("ask", other, { args: (s) => ({ n: s.n }) })
      .build();
    const middle = flow("middle", State)
      .node("start", () => ({}))
      .node("boom", () => {
        throw new RangeError("no");
      })
      .subflow("in", inner, { input: (s) => ({ n: s.n }), into: () => ({}) })
      .edge("start", "boom")
      .edge("start", "in")
      .build();
    const hanging = flow("hanging", State)
      .node(
        "code",
        async (s, ctx) => {
          await Promise.all([ctx.run(inner, { n: s.n }), ctx.call(hangs, { n: 1 })]);
        },
        { runs: [inner] },
      )
      .build();
    const outer = flow("outer", State)
      .node("late", (s, ctx) => ctx.run(hanging, { n: s.n }).then(() => ({})), {
        runs: [hanging],
        timeoutMs: 10,
      })
      .node(
        "fails",
        async (s, ctx) => {
          const failed = await ctx.run(middle, { n: s.n }).then(
            () => 0,
            () => 1,
          );
          return { sum: failed + (await ctx.call(gated, { n: s.n })).got };
        },
        { runs: [middle] },
      )
      .failed("late", "fails")
      .build();
    const { runner, count } = world({ clock });
    const running = runner().run(outer, { n: 2 });
    await clock.move(10);
    const first = paused(await running);
    expect(first.pendings.map(({ path }) => path)).toEqual(["fails#1"]);
    expect(await count("pending")).toBe(1);
    const { state } = await carried(outer, first, runner);
    expect(state["sum"]).toBe(21);
  });

  it("FLOW-12 is tried again by the node around it, anew, and replays what had succeeded", async () => {
    const { log, tool, free } = effects();
    let good = false;
    const shaky = tool("shaky", { run: (n) => (good ? n : Promise.reject(new Error("not yet"))) });
    const inner = flow("inner", State)
      .node("a", async (s, ctx) => ({ sum: (await ctx.call(shaky, { n: s.n })).got }))
      .build();
    const done = flow("done", State)
      .node("a", async (s, ctx) => ({ sum: (await ctx.call(free, { n: s.n })).got }))
      .build();
    const outer = flow("outer", State)
      .node(
        "a",
        async (s, ctx) => {
          const first = await ctx.run(done, { n: s.n });
          const end = await ctx.run(inner, { n: s.n });
          return { sum: first.sum + end.sum };
        },
        { runs: [inner, done], retry: { attempts: 2, on: () => (good = true) } },
      )
      .build();
    const { runner, notices } = world();
    expect(stateOf(await runner().run(outer, { n: 1 })).sum).toBe(11);
    expect(log).toEqual(["free(1)", "shaky(1)", "shaky(1)"]);
    const paths = notices.flatMap(({ type, visit }) =>
      type === "visit-finished" && visit?.includes("inner") ? [visit] : [],
    );
    expect(paths).toEqual(["a#1/inner.0/a#1", "a#1/inner.1/a#1"]);
  });

  it("refuses a flow that the node does not declare, and an input that does not fit, as errors of the call", async () => {
    const inner = failing("x");
    const codes: string[] = [];
    const outer = flow("outer", State)
      .node(
        "a",
        async (_, ctx) => {
          const other = flow("failing", State)
            .node("a", () => ({}))
            .build();
          for (const run of [ctx.run(other, { n: 1 }), ctx.run(inner, { n: "1" as never })])
            await run.catch((error: { code: string }) => codes.push(error.code));
        },
        { runs: [inner] },
      )
      .build();
    stateOf(await world().runner().run(outer, { n: 1 }));
    expect(codes).toEqual(["undeclared-flow", "input-invalid"]);
  });

  it("FLOW-05 counts rounds over the whole run and visits within each nested one, and stops what is too deep", async () => {
    const loop = (times: number, options = {}) =>
      flow("loop", State)
        .node("turn", (s) => ({ sum: s.sum + 1 }), options)
        .route("turn", ["turn", "$end"], (s) => (s.sum < times ? "turn" : "$end"))
        .build();
    const around = (inner: Flow<S, z.input<typeof State>>, runs: number) =>
      flow("outer", State)
        .node(
          "a",
          async (_, ctx) => {
            for (let run = 0; run < runs; run++) await ctx.run(inner, { n: run });
          },
          { runs: [inner] },
        )
        .build();
    const { runner } = world();
    const bounded = runner({ roundsMax: 20, visitsMax: 6 });
    stateOf(await bounded.run(around(loop(6), 2), { n: 0 }));
    expect(await rejection(bounded.run(around(loop(6), 4), { n: 0 }))).toMatchObject({
      code: "round-budget",
    });
    expect(await rejection(bounded.run(around(loop(7), 1), { n: 0 }))).toMatchObject({
      code: "visit-budget",
      data: { node: "a#1/loop.0/turn#7" },
    });
    expect(
      await rejection(runner().run(around(loop(7, { maxVisits: 3 }), 1), { n: 0 })),
    ).toMatchObject({ code: "visit-budget", data: { node: "a#1/loop.0/turn#4" } });

    const endless: Flow<S, z.input<typeof State>> = flow("endless", State)
      .subflow("again", () => endless, { input: (s) => ({ n: s.n + 1 }), into: () => ({}) })
      .build();
    expect(await rejection(runner().run(endless, { n: 0 }))).toMatchObject({
      code: "depth-budget",
    });
  });
});
