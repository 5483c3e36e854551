import { describe, expect, it } from "vitest";
import { z } from "zod";

import { flow, memoryRunLog, type RunNotice } from "../../src/index.ts";
import { Watch, Watched } from "../../src/run/watch.ts";
import { settle } from "../support/clock.ts";
import { effects } from "../support/effects.ts";
import { no, paused, rejection, stateOf, world, yes } from "../support/world.ts";

const State = z.object({ n: z.number(), secret: z.string(), sum: z.number().optional() });
const input = { n: 1, secret: "canary-4711" };

function sample() {
  const { free, gated } = effects();
  return flow("f", State)
    .node("a", async (s, ctx) => {
      const words = await ctx.step("think", () => `about ${s.secret}`);
      const { got } = await ctx.call(free, { n: words.length });
      return { sum: (await ctx.call(gated, { n: got })).got };
    })
    .gate("look", { payload: (s) => s.secret })
    .path("a", "look")
    .build();
}

async function all(watch: AsyncIterable<RunNotice>): Promise<RunNotice[]> {
  const notices: RunNotice[] = [];
  for await (const notice of watch) notices.push(notice);
  return notices;
}

describe("watching a run", () => {
  it("FLOW-08 tells everything in order, under contiguous revisions, without any data", async () => {
    const { runner, notices } = world();
    const watching = runner();
    const f = sample();
    const seen = all(watching.watch("r"));
    const first = paused(await watching.run(f, input, { runId: "r" }));
    expect((await seen).map(({ type }) => type)).toEqual([
      "run-started",
      "visit-started",
      "step-recorded",
      "call-finished",
      "approval-requested",
      "visit-waiting",
      "paused",
    ]);
    const more = all(watching.watch("r"));
    paused(await watching.resume(f, first.checkpoint, yes()));
    expect((await more).map(({ type }) => type)).toEqual([
      "answered",
      "call-finished",
      "visit-finished",
      "routed",
      "visit-started",
      "approval-requested",
      "visit-waiting",
      "paused",
    ]);
    const told = [...(await seen), ...(await more)];
    expect(told).toEqual(notices);
    expect(told.map(({ revision }) => revision)).toEqual(told.map((_, index) => index + 1));
    expect(told.every(({ runId }) => runId === "r")).toBe(true);
    expect(JSON.stringify(told)).not.toMatch(/canary|about/);
    expect(told.every((notice) => Object.isFrozen(notice))).toBe(true);
  });

  it("FLOW-08 lets a reader lag, and gives it everything from the run's memory all the same", async () => {
    const { runner } = world();
    const watching = runner();
    const watch = watching.watch("r");
    paused(await watching.run(sample(), input, { runId: "r" }));
    await settle();
    const read: string[] = [];
    for await (const { type } of watch) {
      read.push(type);
      await settle(1);
    }
    expect(read).toHaveLength(7);
    expect(read.at(-1)).toBe("paused");
  });

  it("FLOW-08 holds nothing up and keeps nothing for a reader that left, waits, or never began", async () => {
    const { runner } = world();
    const watching = runner();
    const left = watching.watch("r");
    const waits = left.next();
    await left.return!();
    expect(await waits).toEqual({ done: true, value: undefined });
    expect(await left.next()).toEqual({ done: true, value: undefined });
    const never = watching.watch("r");
    await never.return!();
    const begun = watching.watch("r");
    const run = watching.run(sample(), input, { runId: "r" });
    for await (const { type } of begun) if (type === "visit-started") break;
    paused(await run);
    const late = watching.watch("r");
    const next = late.next();
    await settle();
    // Nothing of the time before: nobody watched any more.
    expect(await Promise.race([next, settle(2).then(() => "nothing")])).toBe("nothing");
    await late.return!();
  });

  it("FLOW-08 forgets a run's notices when its last reader is gone, and not before", async () => {
    let forgotten = 0;
    const watched = new Watched(() => void (forgotten += 1));
    const notice = (type: RunNotice["type"]): RunNotice => ({
      type,
      runId: "r",
      revision: 1,
      at: 1,
    });
    const [one, two, never] = [new Watch(watched), new Watch(watched), new Watch(watched)];
    const waits = two.next();
    watched.give(notice("run-started"));
    expect((await waits).value).toMatchObject({ type: "run-started" });
    await one.return();
    await one.return();
    await never.return();
    expect(forgotten).toBe(0);
    watched.give(notice("completed"));
    expect(await two.next()).toMatchObject({ done: false, value: { type: "completed" } });
    expect(forgotten).toBe(1);
    expect(await two.next()).toEqual({ done: true, value: undefined });
  });

  it("FLOW-08 does not await listeners, reports those that throw, and changes nothing for them", async () => {
    const heard: string[] = [];
    const { runner, logged } = world({
      onEvent: [
        () => {
          throw new Error("listener");
        },
        async () => {
          await settle(1);
          throw new Error("late listener");
        },
        ({ type }) => void heard.push(type),
      ],
    });
    paused(await runner().run(sample(), input));
    await settle(10);
    expect(heard).toHaveLength(7);
    expect(logged).toHaveLength(14);
    expect(logged[0]).toMatchObject({
      message: "a listener of run events failed",
      facts: { type: "run-started" },
    });
  });

  it("FLOW-08 tells of a durable run once its events stand in the log", async () => {
    const log = memoryRunLog();
    const behind: number[] = [];
    const heads: Promise<void>[] = [];
    const { runner } = world({
      log,
      onEvent: ({ revision, runId }) =>
        void heads.push(
          log
            .head("default", runId)
            .then((head) => void (head < revision && behind.push(revision))),
        ),
    });
    paused(await runner().run(sample(), input));
    await Promise.all(heads);
    expect(heads.length).toBeGreaterThan(6);
    expect(behind).toEqual([]);
  });

  it("FLOW-45 gives the logger no arguments, state or notes", async () => {
    const { gated } = effects();
    const f = flow("f", State)
      .node("a", async (_, ctx) => {
        ctx.defer(() => {
          throw new Error("canary-4711");
        });
        await ctx.call(gated, { n: 4711 });
      })
      .build();
    const { runner, logged } = world({ onEvent: () => Promise.reject(new Error("canary-4711")) });
    const first = paused(await runner().run(f, input));
    await rejection(runner().resume(f, first.checkpoint, no("canary-4711")));
    await settle();
    expect(logged.length).toBeGreaterThan(3);
    expect(JSON.stringify(logged)).not.toContain("4711");
    stateOf(
      await runner().run(
        flow("g", State)
          .node("a", () => ({}))
          .build(),
        input,
      ),
    );
  });
});
