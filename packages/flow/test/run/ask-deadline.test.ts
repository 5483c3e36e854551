// A question that may be answered for so long (WF-28).
import { memoryHome } from "@holdpoint/approvals";
import { describe, expect, it } from "vitest";

import {
  answer,
  END,
  flow,
  isFlowError,
  memoryRunLog,
  replies,
  type NodeContext,
} from "../../src/index.ts";
import { handClock } from "../support/clock.ts";
import { effects } from "../support/effects.ts";
import { asking, Evidence, text, Yes } from "../support/questions.ts";
import { State } from "../support/dying.ts";
import { asAnotherProcess, rejection, stateOf, waiting, world, yes } from "../support/world.ts";

const weekMs = 7 * 24 * 3_600_000;

function timed(durable: boolean) {
  const clock = handClock();
  const log = durable ? { log: memoryRunLog(memoryHome({ clock })) } : {};
  return { clock, ...world({ clock, ...log }) };
}

/** What came of a question: an answer, or that nobody gave one in time. */
async function heard(asked: Promise<{ readonly text: string }>): Promise<string> {
  try {
    return (await asked).text;
  } catch (error) {
    if (isFlowError(error, "answer-expired")) return "nobody";
    throw error;
  }
}

describe("a question with a deadline", () => {
  for (const durable of [false, true]) {
    const mode = durable ? "durable" : "portable";
    it(`WF-28 rejects at its moment and not before, once, and the code may go on without: ${mode}`, async () => {
      const { log, free } = effects();
      const { clock, runner, notices } = timed(durable);
      const f = asking(async (ctx) => {
        await ctx.call(free, { n: 1 });
        const said = await heard(ctx.ask(Evidence, { round: 0 }, { expiresInMs: weekMs }));
        await ctx.call(free, { n: 2 });
        return [said];
      });
      const first = waiting(await runner().run(f, { n: 1 }, { runId: "r" }));
      const until = clock.now() + weekMs;
      expect(first.pendings).toMatchObject([{ kind: "interrupt", name: "Evidence", until }]);
      expect(first.checkpoint.pendings).toMatchObject([{ kind: "interrupt", until }]);
      expect(clock.waiting).toBe(0);
      await clock.move(weekMs - 1);
      const kept = runner().loadCheckpoint(f, runner().dumpCheckpoint(first.checkpoint));
      const early = waiting(await runner().resume(f, kept));
      expect(early.pendings).toEqual(first.pendings);
      await clock.move(1);
      asAnotherProcess();
      expect(stateOf(await runner().resume(f, early.checkpoint)).said).toEqual(["nobody"]);
      expect(log).toEqual(["free(1)", "free(2)"]);
      const fired = notices.filter(({ type }) => type === "deadline-fired");
      expect(fired).toMatchObject([{ visit: "ask#1", ids: [first.pending.id] }]);
      const again = await rejection(runner().resume(f, early.checkpoint));
      expect(again.code).toBe(durable ? "resume-terminal" : "approval-already-decided");
    });

    it(`WF-28 takes an answer until then, and refuses one at that very moment: ${mode}`, async () => {
      const { clock, runner } = timed(durable);
      const f = asking(async (ctx) => [
        await heard(ctx.ask(Evidence, { round: 0 }, { expiresInMs: 1_000 })),
      ]);
      const asked = [await runner().run(f, { n: 1 }), await runner().run(f, { n: 2 })];
      const [first, second] = asked.map((result) => {
        const { checkpoint, pending } = waiting(result);
        const answers = replies({ [pending.id]: text("here") });
        return {
          id: pending.id,
          go: (how?: typeof answers) => runner().resume(f, checkpoint, how),
          answers,
        };
      });
      await clock.move(999);
      expect(stateOf(await first!.go(first!.answers)).said).toEqual(["here"]);
      await clock.move(1);
      const refused = await rejection(second!.go(second!.answers));
      expect(refused).toMatchObject({ code: "answer-expired", data: { id: second!.id } });
      expect(stateOf(await second!.go()).said).toEqual(["nobody"]);
    });

    it(`WF-28 fails the run where the code does not catch it: ${mode}`, async () => {
      const { clock, runner } = timed(durable);
      const f = asking(async (ctx) => [
        (await ctx.ask(Evidence, { round: 0 }, { expiresInMs: 1_000 })).text,
      ]);
      const { checkpoint } = waiting(await runner().run(f, { n: 1 }));
      await clock.move(1_000);
      const failed = await rejection(runner().resume(f, checkpoint));
      expect(failed).toMatchObject({
        code: "node-failed",
        cause: { code: "answer-expired", data: { interrupt: "Evidence", node: "ask#1" } },
      });
    });

    it(`WF-28 keeps its moment when the code runs again, and is over in the commit of another answer: ${mode}`, async () => {
      const { gated } = effects();
      const { clock, runner, notices } = timed(durable);
      const f = asking(async (ctx) => {
        const call = ctx.call(gated, { n: 1 });
        const long = ctx.ask(Yes, undefined, { expiresInMs: 2_000 });
        const short = heard(ctx.ask(Evidence, { round: 0 }, { expiresInMs: 1_000 }));
        return [String((await Promise.all([call, long]))[1]), await short];
      });
      const first = waiting(await runner().run(f, { n: 1 }));
      const [gate, long, short] = first.pendings;
      await clock.move(1_000);
      const late = { [gate!.id]: yes(), [short!.id]: text("late") };
      const refused = await rejection(runner().resume(f, first.checkpoint, replies(late)));
      expect(refused.code).toBe("answer-expired");
      const second = waiting(
        await runner().resume(f, first.checkpoint, replies({ [gate!.id]: yes() })),
      );
      expect(second.pendings).toMatchObject([{ id: long!.id, until: clock.now() + 1_000 }]);
      expect(notices.filter(({ type }) => type === "interrupted")).toHaveLength(2);
      const done = await runner().resume(f, second.checkpoint, answer(Yes, true));
      expect(stateOf(done).said).toEqual(["true", "nobody"]);
    });
  }

  it("WF-28 asks anew, for as long again, where the node is tried again", async () => {
    const { clock, runner } = timed(true);
    const f = asking(
      async (ctx) => [(await ctx.ask(Evidence, { round: 0 }, { expiresInMs: 1_000 })).text],
      2,
    );
    waiting(await runner().run(f, { n: 1 }, { runId: "r" }));
    await clock.move(1_500);
    const again = waiting(await runner().resume(f, "r"));
    expect(again.pendings).toMatchObject([{ kind: "interrupt", until: clock.now() + 1_000 }]);
    const late = { [again.pending.id]: text("second") };
    expect(stateOf(await runner().resume(f, "r", replies(late))).said).toEqual(["second"]);
  });

  it("WF-28 leads along an edge: a node that hears of it says where to", async () => {
    const { clock, runner } = timed(false);
    const collect = async (ctx: NodeContext) => {
      const note = await heard(ctx.ask(Evidence, { round: 0 }, { expiresInMs: 1_000 }));
      return { note };
    };
    const f = flow("f", State)
      .node("collect", (_, ctx) => collect(ctx), { asks: [Evidence] })
      .node("late", () => ({ note: "too late" }))
      .route("collect", ["late", END], ({ note }) => (note === "nobody" ? "late" : END))
      .build();
    const { checkpoint } = waiting(await runner().run(f, { n: 1 }));
    await clock.move(1_000);
    expect(stateOf(await runner().resume(f, checkpoint)).note).toBe("too late");
  });

  it("WF-28 goes by the time of the store where there is a log, and keeps its cursor", async () => {
    const store = handClock(5_000_000);
    const log = memoryRunLog(memoryHome({ clock: store }));
    const seen: unknown[] = [];
    const f = asking(async (ctx) => {
      seen.push(ctx.cursor(Evidence));
      const how = { cursor: { round: 7, said: [] }, expiresInMs: 1_000 };
      return [await heard(ctx.ask(Evidence, { round: 0 }, how))];
    });
    const behind = world({ clock: handClock(0), log });
    const first = waiting(await behind.runner().run(f, { n: 1 }, { runId: "r" }));
    expect(first.pending).toMatchObject({ until: 5_001_000 });
    const ahead = world({ clock: handClock(9_000_000), log });
    waiting(await ahead.runner().resume(f, "r"));
    await store.move(1_000);
    expect(stateOf(await behind.runner().resume(f, "r")).said).toEqual(["nobody"]);
    expect(seen).toEqual([{ restored: false }, { restored: true, value: { round: 7, said: [] } }]);
  });

  it("WF-28 is refused where it is no time: the code hears of it, and nobody is asked", async () => {
    const { runner } = timed(false);
    for (const expiresInMs of [0, -1, 1.5, Number.NaN, Infinity, "soon" as never]) {
      const f = asking(async (ctx) => {
        await ctx.ask(Yes, undefined, { expiresInMs });
      });
      const failed = await rejection(runner().run(f, { n: 1 }));
      expect(failed).toMatchObject({ cause: { code: "interrupt-invalid" } });
    }
  });

  it("WF-28 FLOW-64 is gone on from by a plan at its moment, and not before", async () => {
    const { clock, runner } = timed(true);
    const f = asking(async (ctx) => [
      await heard(ctx.ask(Evidence, { round: 0 }, { expiresInMs: 1_000 })),
    ]);
    waiting(await runner().run(f, { n: 1 }, { runId: "r" }));
    const will = async () => (await runner().plan(f, "r")).nodes.map((node) => node.will);
    expect(await will()).toEqual(["blocked"]);
    await clock.move(1_000);
    expect(await will()).toEqual(["re-run"]);
  });
});
