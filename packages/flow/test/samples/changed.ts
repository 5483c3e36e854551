import { approve, DeferredApproval, memoryApprovalStore, unverified } from "@holdpoint/approvals";
import { flow, FlowRunner, toMermaid, type Migration } from "@holdpoint/flow";
import { keyringOf } from "@holdpoint/seal";
import { z } from "zod";

const Order = z.object({ id: z.string(), checked: z.array(z.string()).default([]) });

const checked = (what: string) => () => ({ checked: [what] });

const order = flow("order", Order)
  .reduce("checked", (all, more) => [...all, ...more])
  .node("received", () => {})
  .node("stock", checked("stock"))
  .node("address", checked("address"))
  .node("customs", checked("customs"))
  .gate("ship", { payload: (s) => s, title: "Ship it?", join: true }) // once, after the longest way
  .path("received", "stock", "ship")
  .path("received", "address", "customs", "ship")
  .build();

const approvals = new DeferredApproval(memoryApprovalStore());
const keyring = keyringOf(new TextEncoder().encode("32 bytes that you keep somewhere"));
const dana = unverified("dana");

const runner = new FlowRunner({ approvals, keyring });
const first = await runner.run(order, { id: "A-17" }, { runId: "A-17" });
if (first.status !== "paused") throw new Error("it waits to be shipped");

export const drawing = toMermaid(order, first.checkpoint); // the nodes that are done, and the one that waits
export const plan = await runner.plan(order, first.checkpoint); // per node: keep, re-run or blocked, and why

// Another run that stands where this one waits, and asks for itself.
export const fork = await runner.fork(order, first.checkpoint, { runId: "A-17-again" });

// The flow as it is a month later: a node and a field have other names, and there is one node more.
const Parcel = z.object({
  id: z.string(),
  passed: z.array(z.string()),
  sent: z.boolean().default(false),
});
const parcel = flow("order", Parcel)
  .node("received", () => {})
  .gate("release", { payload: ({ id, passed }) => ({ id, checked: passed }) })
  .node("send", () => ({ sent: true }))
  .path("received", "release", "send")
  .build();

const toParcel: Migration = {
  flow: "order",
  from: order.digest, // written down when the old graph went out
  to: parcel.digest,
  nodes: { ship: "release" },
  state: ({ checked: passed, ...state }) => ({ ...state, passed, sent: false }),
};
const later = new FlowRunner({ approvals, keyring, migrations: [toParcel] });
const waiting = later.loadCheckpoint(parcel, runner.dumpCheckpoint(first.checkpoint));
export const end = await later.resume(parcel, waiting, approve({ by: dana }));
