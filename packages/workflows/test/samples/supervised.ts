import { approve, memoryRunLog, unverified } from "@holdpoint/flow";
import { memoryApprovalStore, memoryHome } from "@holdpoint/approvals";
import {
  memoryLeaseStore,
  memoryOutbox,
  memoryRunRegistry,
  Supervisor,
  type Delivery,
} from "@holdpoint/workflows";

import { refund } from "./first-run.ts";

// `openSqlite("desk.db")` is such a store too, and one that several processes share.
const home = memoryHome();
const store = {
  approvals: memoryApprovalStore(home),
  log: memoryRunLog(home),
  runs: memoryRunRegistry(home),
  leases: memoryLeaseStore(home),
  outbox: memoryOutbox(home),
};

export const told: Delivery[] = [];
const desk = new Supervisor({
  store,
  definitions: [refund],
  session: "desk",
  notify: (delivery) => void told.push(delivery),
});

await desk.activate(); // takes the session, and goes on with what a crash left
const { runId } = await desk.start("refund", { orderId: "A-17" }, { key: "request-1" });
const waiting = await desk.settled(runId);
export const why = await desk.explain(runId);

await desk.decide(waiting.waitsFor[0]!.id, approve({ by: unverified("dana") }));
export const done = await desk.settled(runId); // the run went on by itself
export const left = await desk.shutdown(); // gives the session back
