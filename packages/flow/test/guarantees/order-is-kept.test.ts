import { defineTool } from "@holdpoint/tools";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { z } from "zod";

import {
  flow,
  FlowRunner,
  replies,
  type Flow,
  type FlowRunnerOptions,
  type RunResult,
} from "../../src/index.ts";
import { macrotaskRest } from "../../src/run/rest.ts";
import { countingIds, handClock, settle } from "../support/clock.ts";
import { effects } from "../support/effects.ts";
import { perform, program, programTools, type Piece, type Trace } from "../support/program.ts";
import {
  asAnotherProcess,
  keyring,
  paused,
  recordlessPort,
  rejection,
  stateOf,
  world,
  yes,
} from "../support/world.ts";

const State = z.object({ n: z.number(), note: z.string().optional() });
const Out = z.object({
  a: z.string().optional(),
  b: z.string().optional(),
  sum: z.string().optional(),
});

type Runner = (more?: FlowRunnerOptions) => FlowRunner;

/** Answers everything, some of it at each resume, through text and a fresh runner. */
async function through<F extends Flow>(
  f: F,
  start: RunResult<F>,
  runner: Runner,
  some: (index: number) => boolean,
  each: () => void = () => undefined,
): Promise<{ result: RunResult<F>; pauses: number }> {
  let result = start;
  let pauses = 0;
  while (result.status === "paused") {
    each();
    pauses += 1;
    const chosen = result.pendings.filter((_, index) => some(pauses + index));
    const ids = (chosen.length > 0 ? chosen : [result.pendings[0]!]).map(({ id }) => id);
    const text = runner().dumpCheckpoint(result.checkpoint);
    const fresh = runner();
    const answers = replies(Object.fromEntries(ids.map((id) => [id, yes()])));
    result = await fresh.resume(f, fresh.loadCheckpoint(f, text), answers);
  }
  return { result, pauses };
}

const fixed = (port: FlowRunnerOptions["approvals"]): Runner => {
  asAnotherProcess(); // the same ids and times in each: the same checkpoints
  const clock = handClock();
  const ids = countingIds("x");
  return (more) =>
    new FlowRunner({
      keyring,
      clock,
      ids,
      ...(port && { approvals: port }),
      ...more,
    });
};

describe("outcomes reach the code in one order, and a re-run gets it again", () => {
  it("FLOW-46 shows concurrent branches, equal calls among them, the same values at every re-run (2,000 programs)", async () => {
    let resumes = 0;
    let seen = 0;
    await fc.assert(
      fc.asyncProperty(program, fc.nat(5), async (piece, luck) => {
        const trace: Trace = { effects: [], seen: [] };
        const tools = programTools(trace, true);
        const runs: string[][] = [];
        const f = flow("f", State)
          .node("a", async (_, ctx) => {
            trace.seen = [];
            runs.push(trace.seen);
            return { note: await perform(piece, ctx, tools, trace) };
          })
          .build();
        const runner = fixed(recordlessPort());
        const { pauses } = await through(
          f,
          await runner().run(f, { n: 1 }),
          runner,
          (index) => (index + luck) % 3 > 0,
        );
        resumes += pauses;
        // What one execution saw, the next one sees again, in that order, and then more.
        for (let index = 1; index < runs.length; index++) {
          const before = runs[index - 1]!;
          expect(runs[index]!.slice(0, before.length)).toEqual(before);
          seen += before.length;
        }
      }),
      { numRuns: 2_000, seed: 46 },
    );
    expect(resumes).toBeGreaterThan(1_000);
    expect(seen).toBeGreaterThan(1_000);
  });

  it("FLOW-62 ends a run that paused at every point as one that never did, with the same effects (function, gate and call nodes)", async () => {
    const sequential = fc.array(
      fc.oneof(
        fc.record({ do: fc.constant("call" as const), n: fc.nat(2), slow: fc.constant(0) }),
        fc.record({ do: fc.constant("gated" as const), n: fc.nat(2), slow: fc.constant(0) }),
        fc.record({ do: fc.constant("fail" as const), n: fc.nat(1) }),
        fc.constant({ do: "moment" as const }),
      ),
      { minLength: 1, maxLength: 5 },
    );
    let pauses = 0;
    await fc.assert(
      fc.asyncProperty(
        sequential,
        sequential,
        fc.boolean(),
        fc.nat(3),
        async (one, two, fork, luck) => {
          const make = (asks: boolean) => {
            const trace: Trace = { effects: [], seen: [] };
            const tools = programTools(trace, asks);
            const node =
              (of: readonly Piece[]) => async (_: unknown, ctx: Parameters<typeof perform>[1]) =>
                perform({ do: "sequence", of }, ctx, tools, trace);
            // Two visits at once share no counter: effects are compared within each, by their order.
            const b = flow("f", Out)
              .node("start", () => ({}))
              .node("a", async (s, ctx) => ({ a: await node(one)(s, ctx) }))
              .gate("look", { payload: (s) => ({ a: s.a ?? "" }) })
              .node("b", async (s, ctx) => ({ b: await node(two)(s, ctx) }))
              .call("sum", tools.gated, {
                args: (s) => ({ n: (s.a ?? "").length % 3, slow: 0 }),
                into: (r) => ({ sum: r.got }),
              });
            const f = fork
              ? b
                  .edge("start", "a")
                  .edge("start", "look")
                  .edge("look", "b")
                  .edge("a", "sum")
                  .build()
              : b.path("start", "a", "look", "b", "sum").build();
            return { f, trace };
          };
          const straight = make(false);
          const decided = {
            request: async () => ({
              status: "decided" as const,
              decision: { approved: true, by: { id: "dana", assurance: "none" as const }, at: 1 },
            }),
          };
          const never = stateOf(await fixed(decided)().run(straight.f, {}));
          const held = make(true);
          const runner = fixed(recordlessPort());
          const end = await through(
            held.f,
            await runner().run(held.f, {}),
            runner,
            (index) => (index + luck) % 2 > 0,
          );
          pauses += end.pauses;
          const order = (list: readonly string[]) => (fork ? list.toSorted() : list);
          expect(order(held.trace.effects)).toEqual(order(straight.trace.effects));
          expect(withoutDice(stateOf(end.result), fork)).toEqual(withoutDice(never, fork));
        },
      ),
      { numRuns: 300, seed: 62 },
    );
    expect(pauses).toBeGreaterThan(600);
  });

  it("FLOW-46 delivers one outcome at a time, each after the code that the last one woke has come to rest", async () => {
    const { tool } = effects();
    const order: string[] = [];
    const fast = tool("fast");
    const f = flow("f", State)
      .node("a", async (_, ctx) => {
        await Promise.all(
          [1, 2, 3].map(async (n) => {
            await ctx.call(fast, { n });
            order.push(`${n} woke`);
            for (let turn = 0; turn < 20; turn++) await Promise.resolve();
            order.push(`${n} rests`);
          }),
        );
      })
      .build();
    stateOf(await new FlowRunner().run(f, { n: 1 }));
    expect(order).toEqual(["1 woke", "1 rests", "2 woke", "2 rests", "3 woke", "3 rests"]);
  });

  it("FLOW-46 rests by whatever the platform gives", async () => {
    const { tool } = effects();
    const order: string[] = [];
    const fast = tool("fast");
    const f = flow("f", State)
      .node("a", async (_, ctx) => {
        await Promise.all(
          [1, 2].map(async (n) => {
            await ctx.call(fast, { n });
            order.push(`${n} woke`);
            for (let turn = 0; turn < 20; turn++) await Promise.resolve();
            order.push(`${n} rests`);
          }),
        );
      })
      .build();
    for (const rest of [macrotaskRest(), (next: () => void) => void setImmediate(next)])
      stateOf(await new FlowRunner({ rest }).run(f, { n: 1 }));
    const once = ["1 woke", "1 rests", "2 woke", "2 rests"];
    expect(order).toEqual([...once, ...once]);
  });

  it("FLOW-46 gives a re-run the order of the first run, though the tools are done in another", async () => {
    const { gated } = effects();
    const load = defineTool({
      name: "load",
      description: "takes its time",
      input: z.object({ n: z.number() }),
      execute: async ({ n }) => (await settle(3 - n), n),
    });
    const seen: number[][] = [];
    const f = flow("f", State)
      .node("a", async (_, ctx) => {
        const own: number[] = [];
        seen.push(own);
        await Promise.all([0, 1, 2].map(async (n) => void own.push(await ctx.call(load, { n }))));
        await ctx.call(gated, { n: 1 });
      })
      .build();
    const { runner } = world();
    const first = paused(await runner().run(f, { n: 1 }));
    stateOf(await runner().resume(f, first.checkpoint, yes()));
    expect(seen).toEqual([
      [2, 1, 0],
      [2, 1, 0],
    ]);
  });

  it("FLOW-41 tells a divergence with what was expected and what came, and runs the new call after all recorded ones were delivered", async () => {
    const { log, free, gated, tool } = effects();
    const added = tool("added");
    let changed = false;
    const f = flow("f", State)
      .node("a", async (_, ctx) => {
        if (changed) await ctx.call(added, { n: 5 });
        else await ctx.call(free, { n: 1 });
        await ctx.call(gated, { n: 2 });
      })
      .build();
    const { runner, notices } = world();
    const first = paused(await runner().run(f, { n: 1 }));
    changed = true;
    stateOf(await runner().resume(f, first.checkpoint, yes()));
    expect(log).toEqual(["free(1)", "added(5)", "gated(2)"]);
    expect(notices.filter(({ type }) => type === "replay-diverged")).toMatchObject([
      { visit: "a#1" },
    ]);
  });

  it("FLOW-41 fails there where the run is strict, before anything new runs", async () => {
    const { log, free, gated, tool } = effects();
    const added = tool("added");
    let changed = false;
    const f = flow("f", State)
      .node("a", async (_, ctx) => {
        if (changed) await ctx.call(added, { n: 5 });
        else await ctx.call(free, { n: 1 });
        await ctx.call(gated, { n: 2 });
      })
      .build();
    const { runner } = world({ strict: true });
    const first = paused(await runner().run(f, { n: 1 }));
    changed = true;
    const error = await rejection(runner({ strict: false }).resume(f, first.checkpoint, yes()));
    expect(error).toMatchObject({
      code: "node-failed",
      cause: { code: "replay-diverged", data: { expected: ["free/0"], came: ["added/0"] } },
    });
    expect(log).toEqual(["free(1)"]);
  });

  it("FLOW-41 notices a re-run that returns without asking for what is on record", async () => {
    const { log, free, gated } = effects();
    let changed = false;
    const f = flow("f", State)
      .node("a", async (_, ctx) => {
        if (changed) return { note: "short" };
        await ctx.call(free, { n: 1 });
        await ctx.call(gated, { n: 2 });
        return { note: "long" };
      })
      .build();
    for (const strict of [false, true]) {
      changed = false;
      const { runner, notices, outcomes } = world({ strict });
      const first = paused(await runner().run(f, { n: 1 }));
      changed = true;
      const end = await runner()
        .resume(f, first.checkpoint, yes())
        .catch((error: unknown) => error);
      expect(end).toMatchObject(
        strict
          ? { code: "node-failed", cause: { code: "replay-diverged" } }
          : { status: "completed" },
      );
      expect(notices.map(({ type }) => type)).toContain("replay-diverged");
      expect(await outcomes()).toEqual(["unused"]);
    }
    expect(log).toEqual(["free(1)", "free(1)"]);
  });

  it("FLOW-41 raises no alarm over healthy programs", async () => {
    const told: string[] = [];
    await fc.assert(
      fc.asyncProperty(program, async (piece) => {
        const trace: Trace = { effects: [], seen: [] };
        const tools = programTools(trace, true);
        const f = flow("f", State)
          .node("a", async (_, ctx) => ({ note: await perform(piece, ctx, tools, trace) }))
          .build();
        const runner = fixed(recordlessPort());
        const listening: Runner = () =>
          runner({ strict: true, onEvent: ({ type }) => void told.push(type) });
        await through(f, await listening().run(f, { n: 1 }), listening, () => true);
      }),
      { numRuns: 300, seed: 41 },
    );
    expect(told).toContain("step-recorded");
    expect(told.filter((type) => type === "replay-diverged")).toEqual([]);
  });
});

/** Where two visits run at once, whose dice fell first is nobody's promise. */
function withoutDice(state: object, fork: boolean): string {
  const text = JSON.stringify(state, Object.keys(state).toSorted());
  return fork ? text.replaceAll(/0\.\d+|:\d+/g, "·") : text;
}
