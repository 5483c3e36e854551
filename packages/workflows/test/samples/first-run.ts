import { approve, flow, memoryRunLog, unverified } from "@holdpoint/flow";
import { memoryApprovalStore, memoryHome } from "@holdpoint/approvals";
import { defineWorkflow, memoryRunRegistry, Workflows } from "@holdpoint/workflows";
import { z } from "zod";

const RefundState = z.object({ orderId: z.string(), refundId: z.string().optional() });

const refundFlow = flow("refund", RefundState)
  .gate("review", { payload: (state) => ({ orderId: state.orderId }) })
  .node("pay", (state) => ({ refundId: `refund of ${state.orderId}` }))
  .path("review", "pay")
  .build();

export const refund = defineWorkflow({
  name: "refund",
  version: "1",
  input: z.object({ orderId: z.string() }),
  output: z.object({ refundId: z.string() }),
  flow: refundFlow,
  end: (state) => ({ refundId: state.refundId ?? "none" }),
});

// Stores of one home commit together. These end with the process; others bring the same three ports.
const home = memoryHome();
export const store = {
  approvals: memoryApprovalStore(home),
  log: memoryRunLog(home),
  runs: memoryRunRegistry(home),
};

const desk = new Workflows({ store, definitions: [refund] });

const { runId } = await desk.start("refund", { orderId: "A-17" }, { key: "request-1" });
export const waiting = await desk.settled(runId);

// Whoever decides needs the approval's id, and no run: the waiting run goes on by itself, once.
const [approval] = waiting.waitsFor;
await desk.decide(approval!.id, approve({ by: unverified("dana") }));

export const done = await desk.settled(runId);
export const output = await desk.output(refund, runId);
