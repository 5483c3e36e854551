// A workflow is started under a key, waits for a person, and goes on by itself in objects that know only its stores.
import { memoryApprovalStore, memoryHome } from "@holdpoint/approvals";
import { approve, flow, memoryRunLog, unverified } from "@holdpoint/flow";
import {
  defineWorkflow,
  isWorkflowError,
  memoryRunRegistry,
  Workflows,
} from "@holdpoint/workflows";
import * as z from "zod";

const State = z.object({ orderId: z.string(), paid: z.boolean().optional() });
const refund = defineWorkflow({
  name: "refund",
  version: "1",
  input: z.object({ orderId: z.string() }),
  flow: flow("refund", State)
    .gate("review", { payload: ({ orderId }) => ({ orderId }) })
    .node("pay", () => ({ paid: true }))
    .path("review", "pay")
    .build(),
});

const home = memoryHome();
const store = {
  approvals: memoryApprovalStore(home),
  log: memoryRunLog(home),
  runs: memoryRunRegistry(home),
};
const desk = new Workflows({ store, definitions: [refund] });
const one = await desk.start("refund", { orderId: "A-17" }, { key: "request-1" });
const two = await desk.start("refund", { orderId: "A-17" }, { key: "request-1" });
if (one.runId !== two.runId) throw new Error("one key started two runs");

const other = await desk.start("refund", { orderId: "A-18" }, { key: "request-1" }).then(
  () => undefined,
  (error: unknown) => error,
);
if (!isWorkflowError(other)) throw new Error("one key took two inputs");

const waiting = await desk.settled(one.runId);
await desk.decide(waiting.waitsFor[0]!.id, approve({ by: unverified("dana") }));
const done = await desk.settled(one.runId);
if (done.status !== "completed") throw new Error(`the run is ${done.status}`);
