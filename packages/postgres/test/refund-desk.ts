import { flow } from "@holdpoint/flow";
import { keyringOf } from "@holdpoint/seal";
import { defineTool } from "@holdpoint/tools";
import type { Pool } from "pg";
import { z } from "zod";

export const keyring = keyringOf(new Uint8Array(32).fill(7));

/** A flow that asks, pays and ends; what it pays is in a table that outlives a process, each payment under its key. */
export function refundDesk(pool: Pool, schema: string) {
  const pay = defineTool({
    name: "pay",
    description: "Pays money back.",
    input: z.object({ orderId: z.string() }),
    output: z.object({ refundId: z.string() }),
    idempotent: true,
    async execute({ orderId }, { idempotencyKey }) {
      await pool.query(`INSERT INTO ${schema}_paid VALUES ($1)`, [idempotencyKey]);
      return { refundId: `r-${orderId}` };
    },
  });
  const refund = flow("refund", z.object({ orderId: z.string(), refundId: z.string().optional() }))
    .gate("review", { payload: (state) => ({ orderId: state.orderId }) })
    .call("pay", pay, {
      args: (state) => ({ orderId: state.orderId }),
      into: (result) => ({ refundId: result.refundId }),
    })
    .path("review", "pay")
    .build();
  return { refund };
}
