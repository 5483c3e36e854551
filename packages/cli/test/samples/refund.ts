import { flow } from "@holdpoint/flow";
import { defineTool } from "@holdpoint/tools";
import { defineWorkflow } from "@holdpoint/workflows";
import { z } from "zod";

/** Payments of this process; one that is over 900 fails as long as `down` is set. */
export const bank = { paid: [] as { orderId: string; cents: number }[], down: true };

export const pay = defineTool({
  name: "pay",
  description: "Pay money back.",
  input: z.object({ orderId: z.string(), cents: z.int().positive() }),
  output: z.object({ ok: z.boolean() }),
  confirm: true,
  idempotent: true,
  execute: ({ orderId, cents }) => {
    if (cents > 900 && bank.down) throw new Error("the bank is down");
    bank.paid.push({ orderId, cents });
    return { ok: true };
  },
});

const State = z.object({ orderId: z.string(), cents: z.int(), ok: z.boolean().optional() });

export const refund = defineWorkflow({
  name: "refund",
  version: "1",
  input: z.object({ orderId: z.string(), cents: z.int() }),
  flow: flow("refund", State)
    .node("assess", ({ cents }) => ({ cents }))
    .call("pay", pay, {
      args: ({ orderId, cents }) => ({ orderId, cents }),
      into: ({ ok }) => ({ ok }),
    })
    .path("assess", "pay")
    .build(),
});
