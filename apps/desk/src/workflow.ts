import { defineWorkflow } from "@holdpoint/workflows";
import { z } from "zod";

import type { RefundFlow } from "./flow.ts";
import { Money } from "./money.ts";
import { RefundRequest } from "./requests.ts";

/** What becomes of a request, as the outside is told. */
const Outcome = z.discriminatedUnion("kind", [
  z.object({ kind: z.literal("paid"), payment: z.string(), amount: Money }),
  z.object({ kind: z.literal("refused") }),
]);

/** The flow under a name and a version: what may come in, and what goes out. */
export function refundWorkflow(flow: RefundFlow) {
  return defineWorkflow({
    name: "refund",
    version: "1",
    description: "Pays a customer's money back, and asks people where it has to.",
    input: RefundRequest,
    flow,
    begin: (request) => ({ request }),
    output: Outcome,
    end: ({ payment, amount }): z.input<typeof Outcome> =>
      payment === undefined || amount === undefined
        ? { kind: "refused" }
        : { kind: "paid", payment, amount },
  });
}

export type RefundWorkflow = ReturnType<typeof refundWorkflow>;
