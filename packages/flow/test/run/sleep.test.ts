import { memoryHome } from "@holdpoint/approvals";
import { describe, expect, it } from "vitest";

import { flow, memoryRunLog, replies, type NodeContext, type RunLog } from "../../src/index.ts";
import { handClock, settle } from "../support/clock.ts";
import { State } from "../support/dying.ts";
import { effects } from "../support/effects.ts";
import { asAnotherProcess, rejection, stateOf, waiting, world, yes } from "../support/world.ts";

const sleeping = (body: (ctx: NodeContext) => Promise<unknown>) =>
  flow("f", State)
    .node("a", async (_, ctx) => ({ note: String(await body(ctx)) }))
    .build();
const year = 365 * 24 * 3_600_000;

/** A world whose clock is moved by hand; with a log, the store's clock is that one too. */
function timed(durable: boolean) {
  const clock = handClock();
  const log = durable ? { log: memoryRunLog(memoryHome({ clock })) } : {};
  return { clock, ...world({ clock, ...log }) };
}

describe("a sleep", () => {
  for (const durable of [false, true]) {
    const mode = durable ? "durable" : "portable";
    it(`pauses until its moment, for longer than any timer, and holds none: ${mode}`, async () => {
      const { log, free } = effects();
      const { clock, runner, notices } = timed(durable);
      const f = sleeping(async (ctx) => {
        await ctx.call(free, { n: 1 });
        await ctx.sleep(year);
        return (await ctx.call(free, { n: 2 })).got;
      });
      const first = waiting(await runner().run(f, { n: 1 }, { runId: "r" }));
      const until = clock.now() + year;
      expect(first.pendings).toMatchObject([{ kind: "sleep", path: "a#1", tool: "sleep", until }]);
      expect(first.checkpoint.pendings).toMatchObject([{ kind: "sleep", until }]);
      expect(clock.waiting).toBe(0);
      await clock.move(year - 1);
      const kept = runner().loadCheckpoint(f, runner().dumpCheckpoint(first.checkpoint));
      const early = waiting(await runner().resume(f, kept));
      expect(early.pendings).toEqual(first.pendings);
      await clock.move(1);
      asAnotherProcess();
      expect(stateOf(await runner().resume(f, early.checkpoint)).note).toBe("20");
      expect(log).toEqual(["free(1)", "free(2)"]);
      const told = notices.filter(({ type }) => type === "deadline-fired");
      expect(told).toMatchObject([{ visit: "a#1", ids: [first.pending.id] }]);
    });

    it(`FLOW-54 ends once: ${mode}`, async () => {
      const { log, free, gated } = effects();
      const { clock, runner } = timed(durable);
      const f = sleeping(async (ctx) => {
        await ctx.sleep(1_000);
        await ctx.call(free, { n: 1 });
        await ctx.call(gated, { n: 2 });
      });
      const { checkpoint } = waiting(await runner().run(f, { n: 1 }));
      await clock.move(1_000);
      const next = waiting(await runner().resume(f, checkpoint));
      const again = await rejection(runner().resume(f, checkpoint));
      expect(again.code).toBe(durable ? "revision-conflict" : "approval-already-decided");
      stateOf(await runner().resume(f, next.checkpoint, yes()));
      expect(log).toEqual(["free(1)", "gated(2)"]);
    });

    it(`keeps its moment when the code runs again, and ends with an answer to something else: ${mode}`, async () => {
      const { gated } = effects();
      const { clock, runner, notices } = timed(durable);
      const f = sleeping(async (ctx) => {
        const call = ctx.call(gated, { n: 1 });
        await Promise.all([ctx.sleep(1_000), ctx.sleep(new Date(clock.now() + 500)), call]);
        return "awake";
      });
      const first = waiting(await runner().run(f, { n: 1 }));
      const [call, long, short] = first.pendings;
      expect([long, short]).toMatchObject([
        { kind: "sleep", until: clock.now() + 1_000 },
        { kind: "sleep", until: clock.now() + 500 },
      ]);
      await clock.move(500);
      // A bare answer goes with the one thing that can be answered; the short sleep ends in the same commit.
      const second = waiting(await runner().resume(f, first.checkpoint, yes()));
      expect(second.pendings).toEqual([long]);
      const asked = notices.filter(({ type }) => type === "sleeping");
      expect(asked).toHaveLength(2);
      const answers = replies({ [long!.id]: yes() });
      const refused = await rejection(runner().resume(f, second.checkpoint, answers));
      expect(refused.code).toBe("answer-invalid");
      const spent = await rejection(runner().resume(f, second.checkpoint, yes()));
      expect(spent.code).toBe("answer-unknown");
      await clock.move(500);
      expect(stateOf(await runner().resume(f, second.checkpoint)).note).toBe("awake");
      expect(call!.kind).toBe("approval");
    });
  }

  it("goes by the time of the store where there is a log, which all processes share", async () => {
    const store = handClock(5_000_000);
    const log = memoryRunLog(memoryHome({ clock: store }));
    const f = sleeping((ctx) => ctx.sleep(1_000));
    const behind = world({ clock: handClock(0), log });
    const first = waiting(await behind.runner().run(f, { n: 1 }, { runId: "r" }));
    expect(first.pending).toMatchObject({ until: 5_001_000 });
    const ahead = world({ clock: handClock(9_000_000), log });
    waiting(await ahead.runner().resume(f, "r"));
    await store.move(1_000);
    stateOf(await behind.runner().resume(f, "r"));
  });

  it("is over at once where its moment has passed, and fails where no date can name it", async () => {
    const { runner } = timed(false);
    const past = sleeping(async (ctx) => {
      await ctx.sleep(0);
      await ctx.sleep(new Date(5));
      return "awake";
    });
    expect(stateOf(await runner().run(past, { n: 1 })).note).toBe("awake");
    for (const wrong of [Number.NaN, Infinity, new Date(Number.NaN), "soon" as never]) {
      const failed = await rejection(
        runner().run(
          sleeping((ctx) => ctx.sleep(wrong)),
          { n: 1 },
        ),
      );
      expect(failed).toMatchObject({ cause: { code: "input-invalid" } });
    }
  });

  it("lasts whole milliseconds, and never less than it was asked for", async () => {
    const { clock, runner } = timed(false);
    const f = sleeping((ctx) => ctx.sleep(0.5));
    const first = waiting(await runner().run(f, { n: 1 }));
    expect(first.pending).toMatchObject({ until: clock.now() + 1 });
  });

  it("does not begin where the time of its node was over before the store had said what time it is", async () => {
    const { clock, runner, notices } = timed(false);
    const inner = memoryRunLog(memoryHome({ clock }));
    let tell: () => void = () => undefined;
    const late = new Promise<number>((resolve) => (tell = () => resolve(clock.now())));
    let slow = true;
    const log: RunLog = { ...inner, now: () => (slow ? late : inner.now()) };
    let attempts = 0;
    let go: () => void = () => undefined;
    const held = new Promise<void>((resolve) => (go = resolve));
    const f = flow("f", State)
      .node(
        "a",
        async (_, ctx) => {
          attempts += 1;
          if (attempts === 1) await ctx.sleep(year);
          slow = false;
          await ctx.step("wait", () => held);
          return { note: "done" };
        },
        { timeoutMs: 10, retry: { attempts: 2, on: () => true } },
      )
      .build();
    const running = runner({ log }).run(f, { n: 1 }, { runId: "r" });
    await clock.move(10);
    tell();
    await settle();
    go();
    expect(stateOf(await running).note).toBe("done");
    expect(attempts).toBe(2);
    expect(notices.map(({ type }) => type)).not.toContain("sleeping");
  });

  it("is taken when it is asked for: a date that is changed later changes nothing", async () => {
    const { runner } = timed(false);
    const f = sleeping(async (ctx) => {
      const until = new Date(2_000_000);
      const slept = ctx.sleep(until);
      until.setTime(9_000_000);
      await slept;
    });
    expect(waiting(await runner().run(f, { n: 1 })).pending).toMatchObject({ until: 2_000_000 });
  });
});
