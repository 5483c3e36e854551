import { defineTool, ToolError } from "@holdpoint/tools";
import { describe, expect, it } from "vitest";
import { z } from "zod";

import { answer, flow, inDoubt, memoryRunLog, replies, type FlowRunner } from "../../src/index.ts";
import { handClock } from "../support/clock.ts";
import { effects } from "../support/effects.ts";
import { asking, Evidence, Said, text } from "../support/questions.ts";
import { dana, rejection, stateOf, waiting, world, yes } from "../support/world.ts";

const State = z.object({
  n: z.number(),
  got: z.array(z.number()).optional(),
  note: z.string().optional(),
});

/** A tool that fails for each number as often as is said, and writes each entry down with its key. */
function failing(...times: readonly number[]) {
  const entered: string[] = [];
  const keys = new Map<number, Set<string>>();
  const left = [...times];
  const fail = defineTool({
    name: "fail",
    description: "fails at first",
    input: z.object({ n: z.number() }),
    output: z.object({ got: z.number() }),
    execute: ({ n }, { idempotencyKey }) => {
      entered.push(`fail(${n})`);
      keys.set(n, (keys.get(n) ?? new Set()).add(idempotencyKey));
      left[n] = (left[n] ?? 0) - 1;
      if (left[n]! >= 0) throw new ToolError("broken");
      return { got: n };
    },
  });
  return { fail, entered, keys };
}

const again = async (runner: FlowRunner, f: Parameters<FlowRunner["history"]>[0]) => {
  const last = (await runner.history(f, "r")).findLast(({ type }) => type === "run-retried");
  return last?.type === "run-retried"
    ? last.again.map(({ visit, name }) => `${visit} ${name}`)
    : [];
};

describe("a retry of what failed within a node", () => {
  it("WF-29 FLOW-33 attempts the items of a map anew that failed, their calls replayed, and no other", async () => {
    const { log: made, free } = effects();
    const { fail, entered, keys } = failing(0, 1, 0, 2);
    const f = flow("f", State)
      .map("each", {
        over: () => [0, 1, 2, 3],
        each: async (n, ctx) => {
          await ctx.call(free, { n });
          return (await ctx.call(fail, { n })).got;
        },
        into: ({ values }) => ({ got: [...values] }),
      })
      .build();
    const { runner } = world({ log: memoryRunLog(), concurrency: 1 });
    await rejection(runner().run(f, { n: 1 }, { runId: "r" }));
    expect(await rejection(runner().retry(f, "r"))).toMatchObject({ code: "node-failed" });
    expect(stateOf(await runner().retry(f, "r")).got).toEqual([0, 1, 2, 3]);
    expect(made).toEqual(["free(0)", "free(1)", "free(2)", "free(3)"]);
    expect(entered).toEqual([0, 1, 2, 3, 1, 3, 3].map((n) => `fail(${n})`));
    expect([...keys.values()].map(({ size }) => size)).toEqual([1, 1, 1, 1]);
    expect(await again(runner(), f)).toEqual(["each#1 each", "each#1[3] failed", "each#1[3] fail"]);
  });

  it("WF-29 FLOW-33 attempts calls of a map anew, those that were skipped as well, where the map itself failed", async () => {
    const { fail, entered } = failing(0, 1);
    let refuses = true;
    const f = flow("f", State)
      .mapCall("each", fail, {
        over: () => [0, 1],
        args: (n) => ({ n }),
        onError: "skip",
        into: ({ values }) => {
          if (refuses) throw new Error("too few");
          return { got: values.map(({ got }) => got) };
        },
      })
      .build();
    const { runner } = world({ log: memoryRunLog() });
    await rejection(runner().run(f, { n: 1 }, { runId: "r" }));
    refuses = false;
    expect(stateOf(await runner().retry(f, "r")).got).toEqual([0, 1]);
    expect(entered.toSorted()).toEqual(["fail(0)", "fail(1)", "fail(1)"]);
  });

  it("WF-29 FLOW-34 goes on within nested runs, at any depth, where they failed", async () => {
    const { log: made, free } = effects();
    const { fail, entered, keys } = failing(0, 0, 2);
    const inner = flow("inner", State)
      .node("deep", async ({ n }, ctx) => {
        await ctx.call(free, { n: 1 });
        return { n: (await ctx.call(fail, { n })).got };
      })
      .build();
    const middle = flow("middle", State)
      .node("before", async (_, ctx) => void (await ctx.call(free, { n: 2 })))
      .subflow("within", inner, { input: ({ n }) => ({ n }), into: ({ n }) => ({ n }) })
      .path("before", "within")
      .build();
    const f = flow("f", State)
      .node(
        "outer",
        async (_, ctx) => {
          await ctx.call(free, { n: 3 });
          const { n } = await ctx.run(middle, { n: 2 });
          return { n };
        },
        { runs: [middle] },
      )
      .build();
    const { runner, notices } = world({ log: memoryRunLog() });
    await rejection(runner().run(f, { n: 1 }, { runId: "r" }));
    await rejection(runner().retry(f, "r"));
    expect(stateOf(await runner().retry(f, "r")).n).toBe(2);
    expect(made).toEqual(["free(3)", "free(2)", "free(1)"]);
    expect([entered, keys.get(2)!.size]).toEqual([["fail(2)", "fail(2)", "fail(2)"], 1]);
    // Three frames began once each, and no other took their place.
    expect(notices.filter(({ type }) => type === "nested-started")).toHaveLength(2);
    expect(await again(runner(), f)).toEqual([
      "outer#1 outer",
      "outer#1 middle",
      "outer#1/middle.0/within#1 within",
      "outer#1/middle.0/within#1 inner",
      "outer#1/middle.0/within#1/inner.0/deep#1 deep",
      "outer#1/middle.0/within#1/inner.0/deep#1 fail",
    ]);
  });

  it("WF-29 FLOW-12 leaves what a failed edge took over, and what a node's own retry gave up before", async () => {
    const { fail, entered } = failing(0, 1, 0, 9);
    const inner = flow("inner", State)
      .node("deep", async ({ n }, ctx) => ({ n: (await ctx.call(fail, { n })).got }))
      .build();
    let breaks = true;
    const f = flow("f", State)
      .node("hopeless", async (_, ctx) => void (await ctx.call(fail, { n: 3 })))
      .node("mended", () => ({ note: "mended" }))
      .node(
        "stubborn",
        async (_, ctx) => {
          const { n } = await ctx.run(inner, { n: 1 });
          if (breaks) throw new Error("broken");
          return { n };
        },
        { runs: [inner], retry: { attempts: 2, on: () => breaks } },
      )
      .failed("hopeless", "mended")
      .edge("mended", "stubborn")
      .build();
    const { runner } = world({ log: memoryRunLog() });
    await rejection(runner().run(f, { n: 0 }, { runId: "r" }));
    const before = entered.length;
    breaks = false;
    expect(stateOf(await runner().retry(f, "r"))).toEqual({ n: 1, note: "mended" });
    expect(entered.length).toBe(before); // the nested run of the second attempt had completed
    expect(await again(runner(), f)).toEqual(["stubborn#1 stubborn"]);
  });
});

describe("what else stood open when a run failed", () => {
  it("WF-29 FLOW-22 asks once more what nobody had answered, and keeps what was answered", async () => {
    const { fail } = failing(0, 1);
    const f = flow("f", Said)
      .node("start", () => {})
      .node(
        "ask",
        async (_, ctx) => {
          const one = await ctx.ask(Evidence, { round: 1 });
          const two = await ctx.ask(Evidence, { round: 2 });
          return { said: [one.text, two.text] };
        },
        { asks: [Evidence] },
      )
      .node(
        "fails",
        async (_, ctx) => {
          await ctx.ask(Evidence, { round: 3 });
          await ctx.call(fail, { n: 1 });
        },
        { asks: [Evidence] },
      )
      .edge("start", "ask")
      .edge("start", "fails")
      .build();
    const { runner } = world({ log: memoryRunLog() });
    const first = waiting(await runner().run(f, { n: 1 }, { runId: "r" }));
    const [ask, fails] = first.pendings;
    const both = replies({
      [ask!.id]: text("one"),
      [fails!.id]: text("go"),
    });
    await rejection(runner().resume(f, first.checkpoint, both));
    const anew = waiting(await runner().retry(f, "r"));
    expect(anew.pendings.map(({ path, kind }) => [path, kind])).toEqual([["ask#1", "interrupt"]]);
    const done = await runner().resume(f, "r", replies({ [anew.pending.id]: text("two") }));
    expect(stateOf(done).said).toEqual(["one", "two"]);
  });

  it("WF-29 FLOW-76 asks a person what became of a call that had begun, and never enters it again by itself", async () => {
    const never = new Promise<never>(() => {});
    let entered = 0;
    const slow = defineTool({
      name: "slow",
      description: "never ends the first time",
      input: z.object({}),
      output: z.object({ got: z.number() }),
      execute: () => ((entered += 1), entered === 1 ? never : { got: 5 }),
    });
    const clock = handClock();
    const f = flow("f", State)
      .node("work", async (_, ctx) => ({ n: (await ctx.call(slow, {})).got }), { timeoutMs: 100 })
      .build();
    const { runner } = world({ log: memoryRunLog(), clock });
    const failed = rejection(runner().run(f, { n: 1 }, { runId: "r" }));
    await clock.move(100);
    expect(await failed).toMatchObject({ cause: { code: "timed-out" } });
    const doubt = waiting(await runner().retry(f, "r"));
    expect([doubt.pending.kind, entered]).toEqual(["in-doubt", 1]);
    const said = replies({ [doubt.pending.id]: inDoubt.didNotRun({ by: dana }) });
    expect([stateOf(await runner().resume(f, "r", said)).n, entered]).toEqual([5, 2]);
  });

  it("WF-29 FLOW-76 lets an approved call that had begun run under its approval, once a person said that it did not run", async () => {
    const never = new Promise<never>(() => {});
    let entered = 0;
    const slow = defineTool({
      name: "slow",
      description: "never ends the first time",
      input: z.object({}),
      output: z.object({ got: z.number() }),
      confirm: true,
      execute: () => ((entered += 1), entered === 1 ? never : { got: 5 }),
    });
    const clock = handClock();
    const f = flow("f", State)
      .node("work", async (_, ctx) => ({ n: (await ctx.call(slow, {})).got }), { timeoutMs: 100 })
      .build();
    const { runner, outcomes } = world({ log: memoryRunLog(), clock });
    const { checkpoint } = waiting(await runner().run(f, { n: 1 }, { runId: "r" }));
    const failed = rejection(runner().resume(f, checkpoint, yes()));
    await clock.move(100);
    await failed;
    const { pendings } = waiting(await runner().retry(f, "r"));
    expect([pendings.map(({ kind }) => kind), entered]).toEqual([["in-doubt"], 1]);
    const said = replies({ [pendings[0]!.id]: inDoubt.didNotRun({ by: dana }) });
    expect([stateOf(await runner().resume(f, "r", said)).n, entered]).toEqual([5, 2]);
    expect(await outcomes()).toEqual(["executed"]);
  });

  it("WF-29 FLOW-76 lets stand what a person said of a call in doubt, a failure too", async () => {
    const never = new Promise<never>(() => {});
    let entered = 0;
    const slow = defineTool({
      name: "slow",
      description: "never ends",
      input: z.object({}),
      output: z.object({ got: z.number() }),
      execute: () => ((entered += 1), never),
    });
    const clock = handClock();
    const f = flow("f", State)
      .node("work", async (_, ctx) => ({ n: (await ctx.call(slow, {})).got }), {
        timeoutMs: 100,
        retry: { attempts: 2, on: () => true },
      })
      .build();
    const { runner } = world({ log: memoryRunLog(), clock });
    const running = runner().run(f, { n: 1 }, { runId: "r" });
    await clock.move(100);
    const { pending } = waiting(await running);
    const failed = replies({ [pending.id]: inDoubt.failed({ by: dana }) });
    await rejection(runner().resume(f, "r", failed));
    expect(await rejection(runner().retry(f, "r"))).toMatchObject({ cause: { code: "in-doubt" } });
    expect(entered).toBe(1);
  });

  it("WF-29 FLOW-22 finds the cursor again of a question that was answered", async () => {
    let fails = true;
    const seen: boolean[] = [];
    const f = asking(async (ctx) => {
      const at = ctx.cursor(Evidence);
      seen.push(at.restored);
      const cursor = { round: 1, said: [] };
      const { text: said } = await ctx.ask(Evidence, { round: 1 }, { cursor });
      if (fails) throw new Error("broken");
      return [said];
    });
    const { runner } = world({ log: memoryRunLog() });
    const first = waiting(await runner().run(f, { n: 1 }, { runId: "r" }));
    await rejection(runner().resume(f, first.checkpoint, answer(Evidence, { text: "a" })));
    fails = false;
    expect(stateOf(await runner().retry(f, "r")).said).toEqual(["a"]);
    expect(seen).toEqual([false, true, true]);
  });
});
