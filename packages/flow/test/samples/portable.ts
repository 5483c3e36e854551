import { approve, DeferredApproval, memoryApprovalStore, unverified } from "@holdpoint/approvals";
import { flow, FlowRunner } from "@holdpoint/flow";
import { keyringOf } from "@holdpoint/seal";
import { defineTool } from "@holdpoint/tools";
import { z } from "zod";

export const paidBack: string[] = [];

const lookUpOrder = defineTool({
  name: "look_up_order",
  description: "Find an order.",
  input: z.object({ id: z.string() }),
  output: z.object({ totalCents: z.int() }),
  execute: () => ({ totalCents: 250_000 }),
});

const issueRefund = defineTool({
  name: "issue_refund",
  description: "Pay money back to a customer's card.",
  input: z.object({ orderId: z.string(), cents: z.int().positive() }),
  output: z.object({ refundId: z.string() }),
  confirm: ({ cents }) => cents > 10_000, // ask a person above 100.00
  execute: ({ orderId, cents }, { idempotencyKey }) => {
    paidBack.push(`${orderId}: ${cents} under ${idempotencyKey.length} characters of key`);
    return { refundId: `refund of ${orderId}` };
  },
});

const RefundState = z.object({
  orderId: z.string(),
  cents: z.int().optional(),
  refundId: z.string().optional(),
});

const refund = flow("refund", RefundState)
  .node("assess", async (state, ctx) => {
    const order = await ctx.call(lookUpOrder, { id: state.orderId }); // journaled: never runs twice
    return { cents: order.totalCents };
  })
  .gate("review", {
    payload: (s) => ({ orderId: s.orderId, cents: s.cents }),
    when: (s) => s.cents! > 100_000,
  })
  .call("pay", issueRefund, {
    args: (s) => ({ orderId: s.orderId, cents: s.cents! }),
    into: (r) => ({ refundId: r.refundId }),
  })
  .path("assess", "review", "pay")
  .build();

const keyring = keyringOf(new TextEncoder().encode("32 bytes that you keep somewhere"));
const approvals = new DeferredApproval(memoryApprovalStore(), { keyring });
const dana = unverified("dana"); // or somebody whom your identity port authenticated

const runner = new FlowRunner({ approvals, keyring });
let result = await runner.run(refund, { orderId: "A-17" });

export const asked: string[] = [];
while (result.status === "paused") {
  asked.push(result.pending.tool);
  const text = runner.dumpCheckpoint(result.checkpoint); // keep it wherever you like
  // … another process, a day later, with the same keys
  const later = new FlowRunner({ approvals, keyring });
  const checkpoint = later.loadCheckpoint(refund, text);
  result = await later.resume(refund, checkpoint, approve({ by: dana }));
}

export const end = result.state;
