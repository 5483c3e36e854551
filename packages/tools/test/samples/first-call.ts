import { defineTool, Executor } from "@holdpoint/tools";
import { z } from "zod";

const payments = {
  refund: async (orderId: string, cents: number, key: string) => `${orderId}:${cents}:${key}`,
};

const issueRefund = defineTool({
  name: "issue_refund",
  description: "Pay money back to a customer's card.",
  input: z.object({ orderId: z.string(), cents: z.int().positive() }),
  output: z.object({ refundId: z.string() }),
  timeoutMs: 10_000,
  execute: async ({ orderId, cents }, { idempotencyKey }) => ({
    refundId: await payments.refund(orderId, cents, idempotencyKey),
  }),
});

const executor = new Executor();

export const { refundId } = await executor.call(
  issueRefund,
  { orderId: "A-17", cents: 4900 },
  { idempotencyKey: "request-1" },
);

// Every ending as a value instead of an error; plain data, without the arguments.
export const refused = await executor.tryCall(issueRefund, { orderId: "A-17", cents: -1 });
