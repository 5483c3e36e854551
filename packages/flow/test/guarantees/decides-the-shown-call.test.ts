import { defineTool, edited, editsOf } from "@holdpoint/tools";
import { approve } from "@holdpoint/approvals";
import { describe, expect, it } from "vitest";
import { z } from "zod";

import { flow, isFlowError, replies } from "../../src/index.ts";
import { effects } from "../support/effects.ts";
import { dana, no, paused, rejection, stateOf, world, yes } from "../support/world.ts";

const State = z.object({ n: z.number(), sum: z.number().optional(), note: z.string().optional() });

describe("a decision goes to the call that was shown", () => {
  it("FLOW-35 runs with the arguments that were shown, not with others drawn anew", async () => {
    let drawn = 0;
    const ran: string[] = [];
    const send = defineTool({
      name: "send",
      description: "sends",
      input: z.object({ id: z.string().default(() => `id-${(drawn += 1)}`) }),
      confirm: true,
      execute: ({ id }) => void ran.push(id),
    });
    const f = flow("f", State)
      .node("a", async (_, ctx) => {
        await ctx.call(send, {});
      })
      .build();
    const { runner } = world();
    const first = paused(await runner().run(f, { n: 1 }));
    expect(first.pending.request.arguments).toEqual({ id: "id-1" });
    drawn = 40;
    await runner().resume(f, first.checkpoint, yes());
    expect(ran).toEqual(["id-1"]);
  });

  it("FLOW-39 runs an edit, and the journal answers the call as it was requested", async () => {
    const { log, gated, other } = effects();
    const { runner } = world({ edits: editsOf([gated]) });
    const seen: number[] = [];
    const f = flow("f", State)
      .node("a", async (s, ctx) => {
        const { got } = await ctx.call(gated, { n: s.n });
        seen.push(got);
        await ctx.call(other, { n: s.n });
      })
      .build();
    const first = paused(await runner().run(f, { n: 1 }));
    const edit = approve({ by: dana, edited: edited(gated, { n: 7 }) });
    const second = paused(await runner().resume(f, first.checkpoint, edit));
    stateOf(await runner().resume(f, second.checkpoint, yes()));
    expect(log).toEqual(["gated(7)", "other(1)"]);
    expect(seen).toEqual([70, 70]);
  });

  it("FLOW-39 refuses an edit made for another tool, and spends nothing", async () => {
    const { log, gated, other } = effects();
    const { runner, count } = world({ edits: editsOf([gated, other]) });
    const f = flow("f", State)
      .node("a", async (s, ctx) => {
        await ctx.call(gated, { n: s.n });
      })
      .build();
    const first = paused(await runner().run(f, { n: 1 }));
    const edit = approve({ by: dana, edited: edited(other, { n: 7 }) });
    expect(await rejection(runner().resume(f, first.checkpoint, edit))).toMatchObject({
      code: "edits-not-allowed",
    });
    expect(await count("pending")).toBe(1);
    stateOf(await runner().resume(f, first.checkpoint, yes()));
    expect(log).toEqual(["gated(1)"]);
  });

  it("CASE-066 FLOW-35 asks again for other arguments, and leaves the answer unused", async () => {
    const { log, gated } = effects();
    let n = 100;
    const f = flow("f", State)
      .node("a", async (_, ctx) => {
        await ctx.call(gated, { n });
      })
      .build();
    const { runner, outcomes, notices } = world();
    const first = paused(await runner().run(f, { n: 1 }));
    n = 101;
    const second = paused(await runner().resume(f, first.checkpoint, yes()));
    expect(second.pending.request.arguments).toEqual({ n: 101 });
    expect(log).toEqual([]);
    expect(await outcomes()).toEqual(["unused"]);
    expect(notices.map(({ type }) => type)).toContain("answer-unused");
    stateOf(await runner().resume(f, second.checkpoint, yes()));
    expect(log).toEqual(["gated(101)"]);
  });

  it("FLOW-35 asks again for another tool, and for the equal call of another run", async () => {
    const { log, gated, other } = effects();
    let tool: typeof gated | typeof other = gated;
    const f = flow("f", State)
      .node("a", async (_, ctx) => {
        await ctx.call(tool, { n: 1 });
      })
      .build();
    const { runner, outcomes } = world();
    const first = paused(await runner().run(f, { n: 1 }, { runId: "one" }));
    tool = other;
    const second = paused(await runner().resume(f, first.checkpoint, yes()));
    expect(second.pendings).toMatchObject([{ tool: "other", request: { arguments: { n: 1 } } }]);
    expect(second.pending.id).not.toBe(first.pending.id);
    const twin = paused(await runner().run(f, { n: 1 }, { runId: "two" }));
    stateOf(await runner().resume(f, second.checkpoint, yes()));
    expect(log).toEqual(["other(1)"]);
    // The other run's question is its own, and an answer to this run's answers nothing there.
    const mixed = replies({ [second.pending.id]: yes() });
    expect(await rejection(runner().resume(f, twin.checkpoint, mixed))).toMatchObject({
      code: "answer-unknown",
    });
    expect(paused(await runner().resume(f, twin.checkpoint)).pending.id).toBe(twin.pending.id);
    expect(log).toEqual(["other(1)"]);
    expect((await outcomes()).toSorted()).toEqual(["executed", "unused"]);
  });

  it("FLOW-36 raises a denial at its call, where the node may catch it, and else ends the run with it", async () => {
    const { log, gated } = effects();
    const { runner, outcomes } = world();
    const caught = flow("f", State)
      .node("a", async (s, ctx) => {
        try {
          await ctx.call(gated, { n: s.n });
        } catch (error) {
          return { note: isFlowError(error, "approval-denied") ? String(error.data["note"]) : "?" };
        }
        return {};
      })
      .build();
    const first = paused(await runner().run(caught, { n: 1 }));
    expect(stateOf(await runner().resume(caught, first.checkpoint, no("too dear"))).note).toBe(
      "too dear",
    );
    const uncaught = flow("g", State)
      .call("a", gated, { args: { n: 1 } })
      .build();
    const second = paused(await runner().run(uncaught, { n: 1 }));
    const error = await rejection(runner().resume(uncaught, second.checkpoint, no()));
    expect(error).toMatchObject({
      name: "ApprovalDenied",
      code: "approval-denied",
      data: { flow: "g", runId: second.runId, node: "a#1", tool: "gated" },
    });
    expect(log).toEqual([]);
    expect(await outcomes()).toEqual(["denied", "denied"]);
  });
});
