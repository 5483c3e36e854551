import {
  approve,
  DeferredApproval,
  deny,
  memoryApprovalStore,
  unverified,
} from "@holdpoint/approvals";
import { keyringOf } from "@holdpoint/seal";
import { defineTool } from "@holdpoint/tools";
import { describe, expect, it } from "vitest";
import { z } from "zod";

import {
  flow,
  FlowRunner,
  memoryRunLog,
  replies,
  type Replies,
  type RunResult,
} from "../src/index.ts";

const keyring = keyringOf(new Uint8Array(32).fill(7));
const dana = unverified("dana");

function desk() {
  const paid: unknown[] = [];
  const looked: unknown[] = [];
  const lookUp = defineTool({
    name: "look_up",
    description: "Looks an order up.",
    input: z.object({ id: z.string() }),
    output: z.object({ totalCents: z.int() }),
    execute: ({ id }) => {
      looked.push(id);
      return { totalCents: 20_000 };
    },
  });
  const pay = defineTool({
    name: "pay",
    description: "Pays money back.",
    input: z.object({ orderId: z.string(), cents: z.int() }),
    output: z.object({ refundId: z.string() }),
    confirm: ({ cents }) => cents > 10_000,
    execute: (args, { idempotencyKey }) => {
      paid.push({ ...args, idempotencyKey });
      return { refundId: `r-${args.orderId}` };
    },
  });
  const State = z.object({
    orderId: z.string(),
    cents: z.int().optional(),
    refundId: z.string().optional(),
  });
  const refund = flow("refund", State)
    .node("assess", async (state, ctx) => {
      const order = await ctx.call(lookUp, { id: state.orderId });
      return { cents: order.totalCents };
    })
    .gate("review", {
      payload: (s) => ({ orderId: s.orderId, cents: s.cents }),
      when: (s) => s.cents! > 15_000,
    })
    .call("pay", pay, {
      args: (s) => ({ orderId: s.orderId, cents: s.cents! }),
      into: (r) => ({ refundId: r.refundId }),
    })
    .path("assess", "review", "pay")
    .build();
  return { paid, looked, refund };
}

/** A yes to what a paused result shows. */
function named(result: RunResult): Replies {
  if (result.status !== "paused") throw new Error(result.status);
  return replies({ [result.pending.id]: approve({ by: dana }) });
}

describe("a thin run through every layer", () => {
  it("pauses at a gate and at a call, and pays once", async () => {
    const { paid, looked, refund } = desk();
    const store = memoryApprovalStore();
    const runner = () =>
      new FlowRunner({ approvals: new DeferredApproval(store, { keyring }), keyring });
    const first = await runner().run(refund, { orderId: "A-17" });
    if (first.status !== "paused") throw new Error("not paused");
    expect(first.pending.tool).toBe("node:refund.review");
    if (first.pending.kind !== "approval") throw new Error("no approval");
    expect(first.pending.request.arguments).toEqual({ orderId: "A-17", cents: 20_000 });
    const text = runner().dumpCheckpoint(first.checkpoint);
    const second = await runner().resume(
      refund,
      runner().loadCheckpoint(refund, text),
      approve({ by: dana }),
    );
    if (second.status !== "paused") throw new Error("not paused");
    expect(second.pending.tool).toBe("pay");
    expect(paid).toEqual([]);
    const done = await runner().resume(
      refund,
      structuredClone(second).checkpoint as never,
      approve({ by: dana }),
    );
    expect(done).toMatchObject({
      status: "completed",
      state: { refundId: "r-A-17", cents: 20_000 },
    });
    expect(paid).toHaveLength(1);
    expect(looked).toEqual(["A-17"]);
    await expect(
      runner().resume(refund, second.checkpoint, approve({ by: dana })),
    ).rejects.toMatchObject({ code: "approval-already-decided" });
    await expect(
      runner().resume(refund, first.checkpoint, deny({ by: dana })),
    ).rejects.toMatchObject({ code: "approval-already-decided" });
    expect(paid).toHaveLength(1);
  });

  it("goes on from a log", async () => {
    const { paid, looked, refund } = desk();
    const store = memoryApprovalStore();
    const log = memoryRunLog();
    const runner = () =>
      new FlowRunner({ approvals: new DeferredApproval(store, { keyring }), keyring, log });
    const first = await runner().run(refund, { orderId: "A-17" }, { runId: "run-1" });
    expect(first.status).toBe("paused");
    const second = await runner().resume(refund, "run-1", named(first));
    expect(second.status).toBe("paused");
    const again = await runner().adopt(refund, "run-1");
    expect(again.status).toBe("paused");
    const done = await runner().resume(refund, "run-1", named(second));
    expect(done).toMatchObject({ status: "completed", state: { refundId: "r-A-17" } });
    expect(paid).toHaveLength(1);
    expect(looked).toEqual(["A-17"]);
    const events = await runner().history(refund, "run-1");
    expect(events.map((event) => event.type)).toEqual(
      [
        [
          "run-started",
          "visit-started",
          "call-started",
          "call-finished",
          "visit-finished",
          "routed",
        ],
        ["visit-started", "approval-requested", "visit-waiting", "paused"],
        ["settling", "answered", "visit-finished", "routed"],
        ["visit-started", "approval-requested", "visit-waiting", "paused"],
        [
          "settling",
          "answered",
          "call-started",
          "call-finished",
          "visit-finished",
          "routed",
          "completed",
        ],
      ].flat(),
    );
  });
});
