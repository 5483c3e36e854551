import { describe, expect, it } from "vitest";
import { z } from "zod";

import {
  appendWrite,
  flow,
  isFlowError,
  memoryRunLog,
  replies,
  type Flow,
  type NodeContext,
} from "../../src/index.ts";
import { carried } from "../support/carried.ts";
import { handClock, settle } from "../support/clock.ts";
import { effects } from "../support/effects.ts";
import { no, paused, recordlessPort, rejection, stateOf, world, yes } from "../support/world.ts";

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
    expect(paths).toEqual(["a#1/inner.1/a#1", "a#1/inner.2/a#1"]);
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

describe("a flow within is a part of the graph", () => {
  const make = (payload: string, name = "inner") => {
    const inner = flow(name, State)
      .gate("review", { payload: (s) => ({ n: s.n }), approvers: [payload] })
      .build();
    return {
      node: flow("outer", State)
        .node("a", (_, ctx) => ctx.run(inner, { n: 1 }).then(() => ({})), { runs: [inner] })
        .build(),
      subflow: flow("outer", State)
        .subflow("a", inner, { input: (s) => ({ n: s.n }), into: () => ({}) })
        .build(),
    };
  };

  it("FLOW-51 refuses a run whose flow within changed, naming the node, before anything is spent", async () => {
    for (const kind of ["node", "subflow"] as const) {
      const was = make("dana")[kind];
      const is = make("erin")[kind];
      expect(was.digest).toBe(make("dana")[kind].digest);
      expect(was.digest).not.toBe(is.digest);
      const { runner, count } = world();
      const first = paused(await runner().run(was, { n: 1 }));
      expect(await rejection(runner().resume(is, first.checkpoint, yes()))).toMatchObject({
        code: "graph-version-mismatch",
        data: { differs: ["node:a"] },
      });
      expect(await count("pending")).toBe(1);
    }
  });

  it("FLOW-51 knows a flow that contains itself, and one that it contains around a circle", () => {
    const tree = (version: string): Flow<S, z.input<typeof State>> => {
      const self: Flow<S, z.input<typeof State>> = flow("tree", State, { version })
        .node("leaf", () => ({}))
        .node("branch", (s, ctx) => ctx.run(self, { n: s.n - 1 }).then(() => ({})), {
          runs: [() => other],
        })
        .edge("leaf", "branch")
        .build();
      const other: Flow<S, z.input<typeof State>> = flow("other", State)
        .subflow("back", () => self, { input: (s) => ({ n: s.n }), into: () => ({}) })
        .build();
      return self;
    };
    expect(tree("1").digest).toBe(tree("1").digest);
    expect(tree("1").digest).not.toBe(tree("2").digest);
  });

  it("FLOW-34 runs a flow that contains itself, as deep as its input says, with a gate at the bottom", async () => {
    const tree: Flow<S, z.input<typeof State>> = flow("tree", State)
      .gate("bottom", { payload: (s) => s.n, when: (s) => s.n === 0 })
      .node(
        "grow",
        async (s, ctx) => {
          if (s.n === 0) return { sum: 1 };
          const two = [ctx.run(tree, { n: s.n - 1 }), ctx.run(tree, { n: s.n - 1 })];
          return { sum: (await Promise.all(two)).reduce((sum, end) => sum + end.sum, 0) };
        },
        { runs: [() => tree] },
      )
      .edge("bottom", "grow")
      .build();
    const { runner } = world();
    const first = paused(await runner().run(tree, { n: 3 }));
    expect(first.pendings).toHaveLength(8);
    expect(first.pendings.map(({ path }) => path)).toEqual(
      first.pendings.map(({ path }) => path).toSorted(),
    );
    const { state, pauses } = await carried(tree, first, runner, { pick: (n) => [n - 1] });
    expect(pauses).toBe(8);
    expect(state["sum"]).toBe(8);
  });

  it("names what can't be within, at build or at the first use", () => {
    const builder = flow("inner", State).node("a", () => ({}));
    const wrong = flow("outer", State).node("a", () => ({}), { runs: [builder as never] });
    expect(() => wrong.build()).toThrow(/'a' runs something that is no built flow/);
    const twice = flow("outer", State)
      .node("a", () => ({}), { runs: [builder.build(), builder.build()] })
      .build();
    expect(() => twice.digest).toThrow(/declares two flows 'inner'/);
    const late = flow("outer", State)
      .node("a", () => ({}), { runs: [() => ({}) as never] })
      .build();
    expect(() => late.digest).toThrow(/no built flow/);
  });

  it("FLOW-44 refuses at the start what nobody could answer, two levels within", async () => {
    const outer = flow("outest", State)
      .subflow("in", make("dana").node, { input: (s) => ({ n: s.n }), into: () => ({}) })
      .build();
    const { FlowRunner } = await import("../../src/index.ts");
    expect(await rejection(new FlowRunner().run(outer, { n: 1 }))).toMatchObject({
      code: "no-approver",
      data: { flow: "inner", node: "review" },
    });
  });
});

describe("what a nested run showed", () => {
  it("FLOW-63 refuses a payload, an argument or an input within that would be another now, before the spend", async () => {
    let more = 0;
    const { log, gated } = effects();
    const inner = flow("inner", State)
      .gate("review", { payload: (s) => ({ n: s.n + (what === "payload" ? more : 0) }) })
      .call("pay", gated, { args: (s) => ({ n: s.n + (what === "args" ? more : 0) }) })
      .edge("review", "pay")
      .build();
    const outer = flow("outer", State)
      .subflow("in", inner, {
        input: (s) => ({ n: s.n + (what === "input" ? more : 0) }),
        into: () => ({}),
      })
      .build();
    let what: "payload" | "args" | "input" | undefined;
    const expected = {
      payload: { node: "in#1/inner.0/review#1", field: "payload" },
      args: { node: "in#1/inner.0/pay#1", field: "args" },
      input: { node: "in#1", field: "input" },
    };
    for (what of ["payload", "args", "input"] as const) {
      more = 0;
      const { runner, count } = world();
      let now = paused(await runner().run(outer, { n: 1 }));
      if (what === "args") now = paused(await runner().resume(outer, now.checkpoint, yes()));
      more = 1;
      expect(await rejection(runner().resume(outer, now.checkpoint, yes()))).toMatchObject({
        code: "graph-version-mismatch",
        data: expected[what],
      });
      expect(await count("pending")).toBe(1);
    }
    expect(log).toEqual([]);
  });

  it("FLOW-38 withdraws what a run had asked that the code does not begin again, and says so", async () => {
    const tools = effects();
    const inner = checked(tools);
    let asksFor = 1;
    const outer = flow("outer", State)
      .node(
        "a",
        async (_, ctx) => {
          await Promise.all([
            ctx.call(tools.other, { n: 5 }),
            ctx.run(inner, { n: asksFor }).then(() => undefined),
          ]);
        },
        { runs: [inner] },
      )
      .build();
    const { runner, notices, count, outcomes } = world();
    const first = paused(await runner().run(outer, { n: 0 }));
    const [other, review] = first.pendings.map(({ id }) => id) as [string, string];
    asksFor = 2;
    const strict = await rejection(
      runner({ strict: true })
        .run(outer, { n: 0 })
        .then(async (result) => {
          asksFor = 3;
          const [wanted] = paused(result).pendings;
          return runner().resume(
            outer,
            paused(result).checkpoint,
            replies({ [wanted!.id]: yes() }),
          );
        }),
    );
    expect(strict.cause).toMatchObject({
      code: "replay-diverged",
      data: { came: ["other/0", "inner/0"] },
    });
    asksFor = 2;
    tools.log.length = 0;
    notices.length = 0;
    const second = paused(
      await runner().resume(outer, first.checkpoint, replies({ [other]: yes() })),
    );
    expect(tools.log.toSorted()).toEqual(["free(2)", "other(5)"]);
    expect(second.pendings.map(({ path }) => path)).toEqual(["a#1/inner.1/review#1"]);
    expect(second.pendings[0]!.id).not.toBe(review);
    expect(notices.map(({ type }) => type)).toEqual(
      expect.arrayContaining(["replay-diverged", "superseded", "nested-dropped"]),
    );
    expect(await count("pending")).toBe(1);
    expect(await outcomes()).toContain("superseded");
    await carried(outer, second, runner);
    expect(tools.log.slice(2)).toEqual(["gated(2)"]);
  });

  it("FLOW-38 asks again under a new id, on request, for calls of functions within, and keeps those of gates and call nodes", async () => {
    const tools = effects();
    const inner = flow("inner", State)
      .node("start", () => ({}))
      .node("code", async (_, ctx) => {
        await Promise.all([ctx.call(tools.gated, { n: 1 }), ctx.call(tools.gated, { n: 2 })]);
      })
      .gate("review", { payload: (s) => s.n })
      .edge("start", "code")
      .edge("start", "review")
      .build();
    const outer = flow("outer", State)
      .subflow("in", inner, { input: (s) => ({ n: s.n }), into: () => ({}) })
      .build();
    const { runner, count } = world();
    const first = paused(await runner().run(outer, { n: 1 }));
    const [one, two, review] = first.pendings.map(({ id }) => id) as [string, string, string];
    const second = paused(
      await runner().resume(outer, first.checkpoint, replies({ [one]: yes() }), {
        unanswered: "supersede",
      }),
    );
    const ids = second.pendings.map(({ id }) => id);
    expect(ids).toHaveLength(2);
    expect(ids[1]).toBe(review);
    expect(ids[0]).not.toBe(two);
    expect(await count("pending")).toBe(2);
    await carried(outer, second, runner);
    expect(tools.log).toEqual(["gated(1)", "gated(2)"]);
  });
});

describe("time and aborts reach within", () => {
  it("FLOW-12 TOOL-13 a time limit around a nested run stops it whole, and takes back what it asked", async () => {
    const clock = handClock();
    const { log, tool, gated } = effects();
    const slow = tool("slow", { idempotent: true, run: (n) => settle(50).then(() => n) });
    const inner = flow("inner", State)
      .node("start", () => ({}))
      .node("waits", async (_, ctx) => void (await ctx.call(gated, { n: 1 })))
      .node("slow", async (_, ctx) => {
        await ctx.call(slow, { n: 1 });
        log.push("never");
      })
      .edge("start", "waits")
      .edge("start", "slow")
      .build();
    const outer = flow("outer", State)
      .node("a", (_, ctx) => ctx.run(inner, { n: 1 }).then(() => ({})), {
        runs: [inner],
        timeoutMs: 10,
      })
      .build();
    const { runner, count } = world({ clock });
    const running = rejection(runner().run(outer, { n: 1 }));
    await clock.move(10);
    expect((await running).cause).toMatchObject({ code: "timed-out", data: { node: "a#1" } });
    await settle(60);
    expect(log).toEqual(["slow(1)"]);
    expect(await count("pending")).toBe(0);
  });

  it("TOOL-13 a cut-off run within is not tried again while an effect in it may have happened", async () => {
    for (const idempotent of [true, false]) {
      const clock = handClock();
      const { log, tool } = effects();
      let hangs = true;
      const slow = tool("slow", {
        idempotent,
        run: (n) => (hangs ? new Promise<number>(() => {}) : n),
      });
      const inner = flow("inner", State)
        .node("slow", async (s, ctx) => ({ sum: (await ctx.call(slow, { n: s.n })).got }))
        .build();
      const outer = flow("outer", State)
        .node("a", (s, ctx) => ctx.run(inner, { n: s.n }).then(({ sum }) => ({ sum })), {
          runs: [inner],
          timeoutMs: 10,
          retry: { attempts: 2, on: () => !(hangs = false) },
        })
        .failed("a", "$end")
        .build();
      const running = world({ clock }).runner().run(outer, { n: 3 });
      await clock.move(10);
      expect(stateOf(await running).sum).toBe(idempotent ? 3 : 0);
      expect(log).toHaveLength(idempotent ? 2 : 1);
    }
  });

  it("FLOW-07 an abort ends it, and a log goes on from there", async () => {
    const { log, tool } = effects();
    const controller = new AbortController();
    const stops = tool("stops", {
      idempotent: true,
      run: (n) =>
        n === 2 && !controller.signal.aborted ? (controller.abort(), settle(3).then(() => n)) : n,
    });
    const inner = flow("inner", State)
      .node("one", async (_, ctx) => ({ sum: (await ctx.call(stops, { n: 1 })).got }))
      .node("two", async (s, ctx) => ({ sum: s.sum + (await ctx.call(stops, { n: 2 })).got }))
      .edge("one", "two")
      .build();
    const outer = flow("outer", State)
      .subflow("in", inner, { input: (s) => ({ n: s.n }), into: ({ sum }) => ({ sum }) })
      .build();
    const { runner } = world({ log: memoryRunLog() });
    const options = { runId: "r", signal: controller.signal };
    const aborted = await rejection(runner().run(outer, { n: 1 }, options));
    expect(aborted).toMatchObject({ code: "aborted" });
    expect(stateOf(await runner().adopt(outer, "r")).sum).toBe(3);
    expect(log).toEqual(["stops(1)", "stops(2)", "stops(2)"]);
  });
});

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
