import { describe, expect, it } from "vitest";
import { z } from "zod";

import { flow, memoryRunLog, replies, type Flow } from "../../src/index.ts";
import { carried } from "../support/carried.ts";
import { handClock, settle } from "../support/clock.ts";
import { effects } from "../support/effects.ts";
import { paused, rejection, stateOf, world, yes } from "../support/world.ts";

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
