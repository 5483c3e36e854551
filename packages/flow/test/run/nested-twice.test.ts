import type { ApprovalPort } from "@holdpoint/approvals";
import { describe, expect, it } from "vitest";
import { z } from "zod";

import { flow } from "../../src/index.ts";
import { breakingStore } from "../support/breaking-store.ts";
import { handClock, settle } from "../support/clock.ts";
import { effects } from "../support/effects.ts";
import { stateOf, world, yes } from "../support/world.ts";

const State = z.object({ n: z.number(), sum: z.number().default(0) });

describe("one nested run", () => {
  it("FLOW-12 FLOW-34 is not gone on with before what was cut off of it has come to rest", async () => {
    const clock = handClock();
    const store = breakingStore();
    const { log, free } = effects();
    const inner = flow("inner", State)
      .gate("look", { payload: (s) => s.n })
      .node("after", async (s, ctx) => ({ sum: (await ctx.call(free, { n: s.n })).got }))
      .path("look", "after")
      .build();
    const outer = flow("outer", State)
      .node("a", async (s, ctx) => ({ sum: (await ctx.run(inner, { n: s.n })).sum }), {
        runs: [inner],
        timeoutMs: 10,
        retry: { attempts: 2, on: () => true },
      })
      .build();
    const { port, runner, outcomes, notices } = world({ clock, store });
    // A person who decides at once; the store takes its time over spending that decision.
    let go: () => void = () => undefined;
    const late = new Promise<void>((resolve) => (go = resolve));
    const decided: ApprovalPort = {
      records: port.records,
      async request(request, how) {
        const first = await port.request(request, how);
        const id = first.approvalId!;
        if (first.status === "pending")
          await port.records.decide({ scope: "default", id, decision: yes() });
        const answer = await port.request(request, how);
        store.meanwhile(() => late);
        return answer;
      },
    };
    const running = runner({ approvals: decided }).run(outer, { n: 1 });
    await settle(5);
    await clock.move(10); // the first attempt is cut off, and the second begins
    await settle(5);
    go();
    expect(stateOf(await running).sum).toBe(10);
    expect(log).toEqual(["free(1)"]);
    expect(await outcomes()).toEqual(["passed"]);
    const ends = notices.filter(
      ({ type, visit }) => type === "visit-finished" && visit?.endsWith("look#1"),
    );
    expect(ends).toHaveLength(1);
  });
});
