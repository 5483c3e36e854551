import { flow, memoryRunLog, unverified } from "@holdpoint/flow";
import { memoryApprovalStore, memoryHome } from "@holdpoint/approvals";
import { defineTool, ToolError } from "@holdpoint/tools";
import { defineWorkflow, memoryRunRegistry, Workflows } from "@holdpoint/workflows";
import { z } from "zod";

export const lookedUp: string[] = [];
let tries = 0;

const lookUp = defineTool({
  name: "look_up",
  description: "Looks an order up.",
  input: z.object({ orderId: z.string() }),
  output: z.object({ cents: z.int() }),
  execute: ({ orderId }) => {
    lookedUp.push(orderId);
    return { cents: 700 };
  },
});

const pay = defineTool({
  name: "pay",
  description: "Pays money back.",
  input: z.object({ cents: z.int() }),
  output: z.object({ refundId: z.string() }),
  execute: () => {
    tries += 1;
    if (tries < 4) throw new ToolError("the bank is closed", { retryable: tries === 1 });
    return { refundId: "R-1" };
  },
});

const payment = defineWorkflow({
  name: "payment",
  version: "1",
  input: z.object({ orderId: z.string() }),
  flow: flow("payment", z.object({ orderId: z.string(), refundId: z.string().optional() }))
    .node("work", async ({ orderId }, ctx) => {
      const { cents } = await ctx.call(lookUp, { orderId });
      return ctx.call(pay, { cents });
    })
    .build(),
  retry: { attempts: 3 }, // by itself, for failures that say they are worth it
});

const home = memoryHome();
const store = {
  approvals: memoryApprovalStore(home),
  log: memoryRunLog(home),
  runs: memoryRunRegistry(home),
};
const desk = new Workflows({ store, definitions: [payment] });

const { runId } = await desk.start("payment", { orderId: "A-17" });
export const failed = await desk.settled(runId); // its second try said that it is worth no third

await desk.retry(runId, { by: unverified("dana") });
await desk.settled(runId);
await desk.retry(runId, { by: unverified("dana") });
export const done = await desk.settled(runId); // the order was looked up once
