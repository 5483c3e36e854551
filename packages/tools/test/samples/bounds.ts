import {
  allowedTools,
  budget,
  defineTool,
  Executor,
  memoryLedger,
  registerErrorClass,
  tally,
  ToolError,
} from "@holdpoint/tools";
import { z } from "zod";

/** Rebuilt as this class wherever it is caught: live, from a record, in another process. */
class GatewayBusy extends ToolError {
  static override readonly errorName = "GatewayBusy";
}
registerErrorClass("GatewayBusy", GatewayBusy);

let attempts = 0;
const charge = defineTool({
  name: "charge",
  description: "Charge a card.",
  input: z.object({ card: z.object({ number: z.string() }), cents: z.int() }),
  cost: ({ cents }) => cents,
  secrets: ["card.number"],
  idempotent: true,
  retry: { attempts: 3, backoffMs: 10 },
  execute: ({ card, cents }) => {
    attempts += 1;
    if (attempts === 1) throw new GatewayBusy(`no line for ${card.number}`, { retryable: true });
    return cents;
  },
});

export const ledger = memoryLedger();
const executor = new Executor({
  guards: [allowedTools([charge]), budget({ calls: 10, cost: 5000 })],
  ledger,
});

// One tally a run; the budget counts over all its calls.
const run = { runId: "checkout-5", spent: tally() };
const card = { number: "4929-1374" };
export const paid = await executor.call(charge, { card, cents: 4900 }, run);
export const tooMuch = await executor.tryCall(charge, { card, cents: 200 }, run);
