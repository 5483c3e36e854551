import { defineTool, type AnyTool } from "@holdpoint/tools";
import { describe, expect, it } from "vitest";
import { z } from "zod";

import { flow, inDoubt, memoryRunLog, replies } from "../../src/index.ts";
import { handClock } from "../support/clock.ts";
import { dana, paused, rejection, stateOf, waiting, world, yes } from "../support/world.ts";

const State = z.object({ n: z.number(), note: z.string().optional() });

/** A node whose approved call is cut off by the node's time limit, and tried again if `attempts` says so. */
function cutOff(how: {
  readonly idempotent: boolean;
  readonly attempts: number;
  readonly name?: string;
}) {
  let entered = 0;
  const slow = defineTool({
    name: how.name ?? "slow",
    description: "does not end the first time",
    input: z.object({}),
    output: z.string(),
    confirm: true,
    idempotent: how.idempotent,
    execute: () => ((entered += 1), entered === 1 ? new Promise<never>(() => {}) : "done"),
  });
  const f = flow("f", State)
    .node("a", async (_, ctx) => ({ note: await ctx.call(slow, {}) }), {
      timeoutMs: 1_000,
      ...(how.attempts > 1 && { retry: { attempts: how.attempts, on: () => true } }),
    })
    .build();
  return { f, slow, entered: () => entered };
}

const says = {
  ran: (tool: AnyTool) => inDoubt.ran(tool, "found out", { by: dana }),
  "did not run": () => inDoubt.didNotRun({ by: dana }),
  failed: () => inDoubt.failed({ by: dana }),
};
const ends = {
  ran: ["executed", 1],
  "did not run": ["executed", 2],
  failed: ["failed", 1],
};

describe("an approved call that was cut off", () => {
  it("FLOW-76 APR-21 ends on its approval's record as the person says, or as it ends when it runs again", async () => {
    for (const log of [undefined, memoryRunLog()]) {
      for (const what of ["ran", "did not run", "failed"] as const) {
        const clock = handClock();
        const { f, slow, entered } = cutOff({ idempotent: false, attempts: 2 });
        const { runner, outcomes } = world({ clock, ...(log !== undefined && { log }) });
        const first = paused(await runner().run(f, { n: 1 }));
        const resuming = runner().resume(f, first.checkpoint, yes());
        await clock.move(1_000);
        const { pending, checkpoint } = waiting(await resuming);
        expect([pending.kind, await outcomes()]).toEqual(["in-doubt", ["undefined"]]);
        await runner()
          .resume(f, checkpoint, replies({ [pending.id]: says[what](slow) }))
          .catch(() => undefined);
        expect([what, [...(await outcomes()), entered()]]).toEqual([what, ends[what]]);
      }
    }
  });

  it("FLOW-76 APR-21 ends each of several as was said of it, in one resume", async () => {
    for (const log of [undefined, memoryRunLog()]) {
      const clock = handClock();
      const one = cutOff({ idempotent: false, attempts: 1, name: "one" });
      const two = cutOff({ idempotent: false, attempts: 1, name: "two" });
      const f = flow("f", State)
        .node(
          "a",
          async (_, ctx) => {
            const calls = [ctx.call(one.slow, {}), ctx.call(two.slow, {})];
            const ends = await Promise.allSettled(calls);
            return { note: ends.map(({ status }) => status).join() };
          },
          { timeoutMs: 1_000, retry: { attempts: 2, on: () => true } },
        )
        .build();
      const { runner, port } = world({ clock, ...(log !== undefined && { log }) });
      const first = paused(await runner().run(f, { n: 1 }));
      const both = Object.fromEntries(first.pendings.map(({ id }) => [id, yes()]));
      const resuming = runner().resume(f, first.checkpoint, replies(both));
      await clock.move(1_000);
      const { pendings, checkpoint } = waiting(await resuming);
      const said = pendings.map(({ id }, at) => [
        id,
        at === 0 ? says.ran(one.slow) : says.failed(),
      ]);
      const end = await runner().resume(f, checkpoint, replies(Object.fromEntries(said)));
      expect(stateOf(end).note).toBe("fulfilled,rejected");
      const records = first.pendings.map(({ id }) => port.records.read("default", id));
      expect(await Promise.all(records)).toMatchObject([
        { outcome: "executed" },
        { outcome: "failed" },
      ]);
    }
  });

  it("FLOW-76 APR-21 ends as executed where an idempotent one ran again by itself", async () => {
    for (const log of [undefined, memoryRunLog()]) {
      const clock = handClock();
      const { f, entered } = cutOff({ idempotent: true, attempts: 2 });
      const { runner, outcomes } = world({ clock, ...(log !== undefined && { log }) });
      const first = paused(await runner().run(f, { n: 1 }));
      const resuming = runner().resume(f, first.checkpoint, yes());
      await clock.move(1_000);
      expect((await resuming).status).toBe("completed");
      expect([await outcomes(), entered()]).toEqual([["executed"], 2]);
    }
  });

  it("FLOW-12 APR-21 ends as failed where nothing can run it again", async () => {
    const clock = handClock();
    const { f } = cutOff({ idempotent: false, attempts: 1 });
    const { runner, outcomes } = world({ clock });
    const first = paused(await runner().run(f, { n: 1 }));
    const resuming = rejection(runner().resume(f, first.checkpoint, yes()));
    await clock.move(1_000);
    expect(await resuming).toMatchObject({ cause: { code: "timed-out" } });
    expect(await outcomes()).toEqual(["failed"]);
  });
});
