import { approve, DeferredApproval, memoryApprovalStore, unverified } from "@holdpoint/approvals";
import { defineTool, edited, editsOf, Executor } from "@holdpoint/tools";
import { z } from "zod";

const issueRefund = defineTool({
  name: "issue_refund",
  description: "Pay money back to a customer's card.",
  input: z.object({ orderId: z.string(), cents: z.int().positive() }),
  confirm: ({ cents }) => {
    if (cents > 1_000_000) return { forbid: "more than anybody may pay back" };
    return cents > 10_000 && { title: "Large refund", useWithinMs: 3_600_000 };
  },
  execute: ({ orderId, cents }) => `${orderId}: paid back ${cents}`,
});

const approvals = new DeferredApproval(memoryApprovalStore(), { edits: editsOf([issueRefund]) });
const executor = new Executor({ approvals });

// The same run and the same input name the same call: it finds its approval again.
const run = { runId: "ticket-81" };
const call = () => executor.tryCall(issueRefund, { orderId: "A-17", cents: 90_000 }, run);

export const waits = await call();
if (waits.ok || waits.approvalId === undefined) throw new Error("somebody has to decide first");

await approvals.records.decide({
  scope: "default",
  id: waits.approvalId,
  decision: approve({
    by: unverified("dana"),
    note: "half of it is enough",
    edited: edited(issueRefund, { orderId: "A-17", cents: 45_000 }),
  }),
});

export const done = await call();
