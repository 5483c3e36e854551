import assert from "node:assert/strict";
import { flow, FlowRunner, memoryRunLog } from "@holdpoint/flow";
import { atEvent, faultyStore } from "@holdpoint/testing";
import { z } from "zod";

const bill = flow("bill", z.object({ cents: z.number(), sent: z.boolean().optional() }))
  .node("fee", async ({ cents }, ctx) => ({ cents: await ctx.step("fee", () => cents + 1) }))
  .node("send", () => ({ sent: true }))
  .path("fee", "send")
  .build();

// The process that logs event 3 dies right after: nothing that it asks is answered any more.
const log = memoryRunLog();
const { store, control } = faultyStore(log, [{ at: atEvent(3), kind: "die-after" }]);
const first = new FlowRunner({ log: store });
await Promise.race([first.run(bill, { cents: 4 }, { runId: "bill-1" }), control.died]);
assert(control.dead);

// The next one begins with nothing in its memory, over the store beneath.
const result = await new FlowRunner({ log }).adopt(bill, "bill-1");
assert(result.status === "completed");
assert.deepEqual(result.state, { cents: 5, sent: true });
