import { flow } from "@holdpoint/flow";
import { defineTool } from "@holdpoint/tools";
import { z } from "zod";

import { orders, payments } from "./payments.ts";

const lookUpOrder = defineTool({
  name: "look_up_order",
  description: "Look an order up.",
  input: z.object({ id: z.string() }),
  output: z.object({ totalCents: z.int() }),
  idempotent: true,
  execute: ({ id }) => ({ totalCents: orders.get(id)?.totalCents ?? 0 }),
});

const issueRefund = defineTool({
  name: "issue_refund",
  description: "Pay money back to a customer's card.",
  input: z.object({ orderId: z.string(), cents: z.int().positive() }),
  output: z.object({ refundId: z.string() }),
  confirm: ({ cents }) => cents > 10_000, // ask a person above 100.00
  execute: ({ orderId, cents }, { idempotencyKey }) =>
    payments.refund(orderId, cents, { idempotencyKey }),
});

const RefundState = z.object({
  orderId: z.string(),
  cents: z.int().optional(),
  refundId: z.string().optional(),
});

export const refund = flow("refund", RefundState)
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
