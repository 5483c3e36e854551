// A decision that edits is handed out with its arguments hidden; whichever way it comes, the journal seals what runs.
import { approve, askApproval, type ApprovalPort } from "@holdpoint/approvals";
import { edited, editsOf } from "@holdpoint/tools";
import { describe, expect, it } from "vitest";
import { z } from "zod";

import { flow, memoryRunLog } from "../../src/index.ts";
import { breakingStore } from "../support/breaking-store.ts";
import { effects } from "../support/effects.ts";
import { dana, paused, rejection, stateOf, world, yes } from "../support/world.ts";

const State = z.object({ n: z.number(), got: z.number().optional() });

/** A flow of two gated calls: the second pauses, so that what the first ran under is sealed. */
function twoCalls() {
  const { log, gated, other } = effects();
  const f = flow("f", State)
    .node("a", async (s, ctx) => {
      const { got } = await ctx.call(gated, { n: s.n });
      await ctx.call(other, { n: s.n });
      return { got };
    })
    .build();
  const edit = approve({ by: dana, edited: edited(gated, { n: 7 }) });
  return { log, gated, f, edit };
}

describe("edits are kept", () => {
  it("FLOW-39 seals an edit that its port gave at once", async () => {
    const { log, gated, f, edit } = twoCalls();
    const { runner, port } = world();
    const atOnce = askApproval(() => edit, { edits: editsOf([gated]) });
    const approvals: ApprovalPort = {
      request: (request, how) => (request.tool === "gated" ? atOnce : port).request(request, how),
      records: port.records,
    };
    const first = paused(await runner({ approvals }).run(f, { n: 1 }));
    const text = runner().dumpCheckpoint(first.checkpoint);
    const loaded = runner().loadCheckpoint(f, text);
    expect(stateOf(await runner({ approvals }).resume(f, loaded, yes()))).toEqual({
      n: 1,
      got: 70,
    });
    expect(log).toEqual(["gated(7)", "other(1)"]);
  });

  it("FLOW-39 seals an edit that was on record before the call asked", async () => {
    const { log, gated, f, edit } = twoCalls();
    const { runner, port } = world({ edits: editsOf([gated]) });
    const asked = paused(await runner().run(f, { n: 1 }, { runId: "same" }));
    await port.records.decide({ scope: "default", id: asked.pending.id, decision: edit });
    const first = paused(await runner().run(f, { n: 1 }, { runId: "same" }));
    const text = runner().dumpCheckpoint(first.checkpoint);
    const loaded = runner().loadCheckpoint(f, text);
    expect(stateOf(await runner().resume(f, loaded, yes()))).toEqual({ n: 1, got: 70 });
    expect(log).toEqual(["gated(7)", "other(1)"]);
  });

  it("FLOW-77 seals an edit whose settle was announced and not confirmed", async () => {
    const { log, gated, f, edit } = twoCalls();
    const store = breakingStore();
    const runs = memoryRunLog();
    const { runner, port } = world({ store, edits: editsOf([gated]), log: runs });
    const asked = paused(await runner().run(f, { n: 1 }, { runId: "run-1" }));
    await port.records.decide({ scope: "default", id: asked.pending.id, decision: edit });
    store.fail(...Array.from({ length: 9 }, () => "down" as const));
    expect(await rejection(runner().resume(f, "run-1"))).toMatchObject({
      code: "store-unavailable",
    });
    expect(log).toEqual([]);
    store.reset();
    const { checkpoint } = paused(await runner().adopt(f, "run-1"));
    expect(stateOf(await runner().resume(f, checkpoint, yes()))).toEqual({ n: 1, got: 70 });
    expect(log).toEqual(["gated(7)", "other(1)"]);
  });
});
