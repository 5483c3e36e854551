import assert from "node:assert/strict";
import {
  approve,
  DeferredApproval,
  identityPort,
  memoryApprovalStore,
  requestOf,
} from "@holdpoint/approvals";

const store = memoryApprovalStore();
const approvals = new DeferredApproval(store);

// A call wants to run. What it asks for is filed, sealed, and bound to exactly these arguments.
const request = requestOf(
  {
    kind: "tool",
    tool: "issue_refund",
    scope: "acme",
    runId: "run-1",
    node: "pay#1",
    callId: "run-1/pay#1/issue_refund/1",
    argumentKey: "A-17/4200",
    arguments: { orderId: "A-17", cents: 4_200 },
    requestedBy: { id: "rita", assurance: "verified" },
    rule: { approvers: ["role:finance"], excludeRequester: true, expiresInMs: 86_400_000 },
  },
  { id: "approval-1", requestedAt: Date.now() },
);
const how = { signal: new AbortController().signal, prepare: () => undefined };
const asked = await approvals.request(request, how);
assert.deepEqual(asked, { status: "pending", approvalId: "approval-1" });

// A person decides, perhaps days later. Who they are comes from your identity port and from nowhere else.
const people = identityPort((session) =>
  session === "cookie-of-dana" ? { id: "dana", roles: ["finance"] } : undefined,
);
const dana = await people.authenticate("cookie-of-dana");
await approvals.records.decide({
  scope: "acme",
  id: "approval-1",
  decision: approve({ by: dana, note: "checked with the customer" }),
});

// The call asks again, gets the decision unspent, and spends it in one commit before it runs.
const again = await approvals.request(request, how);
assert(again.status === "decided" && again.decision.approved);
const { argumentsDigest } = request;
const spend = { scope: "acme", id: "approval-1", attemptId: "attempt-1", argumentsDigest };
const plan = await approvals.records.settle(spend);
assert(plan.status === "ready");
const committed = await store.commit("attempt-1", plan.writes);
assert.equal(committed.status, "done");

// Nobody can use it a second time.
const second = await approvals.records.settle({ ...spend, attemptId: "attempt-2" });
assert(second.status === "stands" && !second.mine);
