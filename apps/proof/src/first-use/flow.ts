// A flow pauses at a gate, is stored as a text, and goes on from it once, running nothing twice.
import { approve, flow, FlowRunner, isFlowError, unverified } from "@holdpoint/flow";
import * as z from "zod";

let assessed = 0;
const State = z.object({ orderId: z.string(), cents: z.int().optional(), paid: z.boolean() });
const refund = flow("refund", State)
  .node("assess", () => {
    assessed += 1;
    return { cents: 1234 };
  })
  .gate("review", { payload: ({ orderId, cents }) => ({ orderId, cents }) })
  .node("pay", () => ({ paid: true }))
  .path("assess", "review", "pay")
  .build();

const runner = new FlowRunner({
  approvals: { request: () => Promise.resolve({ status: "pending" as const }) },
  checkpointKey: new Uint8Array(32).fill(7),
});
const first = await runner.run(refund, { orderId: "A-17", paid: false });
if (first.status !== "paused") throw new Error(`the flow is ${first.status}`);
const text = runner.dumpCheckpoint(first.checkpoint);

let refusal: unknown;
try {
  runner.loadCheckpoint(refund, text.replace("A-17", "A-18"));
} catch (error) {
  refusal = error;
}
if (!isFlowError(refusal)) throw new Error("a changed checkpoint loads");

const by = unverified("dana");
const done = await runner.resume(refund, runner.loadCheckpoint(refund, text), approve({ by }));
if (done.status !== "completed" || !done.state.paid || done.state.cents !== 1234) {
  throw new Error("the flow did not end as it should");
}
if (assessed !== 1) throw new Error(`assessed ${assessed} times`);

const again = await runner
  .resume(refund, runner.loadCheckpoint(refund, text), approve({ by }))
  .then(
    () => undefined,
    (error: unknown) => error,
  );
if (again === undefined) throw new Error("a checkpoint resumed twice");
