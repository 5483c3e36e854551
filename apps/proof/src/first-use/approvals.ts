// A request is filed, stays pending under its id, is decided, and hands back the decision.
import {
  approve,
  DeferredApproval,
  memoryApprovalStore,
  memoryHome,
  requestOf,
  unverified,
} from "@holdpoint/approvals";

const port = new DeferredApproval(memoryApprovalStore(memoryHome()));
const request = requestOf(
  {
    kind: "tool",
    tool: "issue_refund",
    scope: "acme",
    runId: "run-1",
    node: "pay#1",
    callId: "run-1/pay#1/issue_refund/1",
    argumentKey: "key",
    arguments: { orderId: "A-17", cents: 1234 },
    requestedBy: undefined,
    rule: {},
  },
  { id: "approval-1", requestedAt: 0 },
);
const how = { signal: new AbortController().signal, prepare: () => undefined };

const first = await port.request(request, how);
if (first.status !== "pending") throw new Error(`a new request is ${first.status}`);
if (JSON.stringify(request).includes("1234")) throw new Error("a request prints its arguments");

const decision = approve({ by: unverified("dana") });
await port.records.decide({ scope: "acme", id: "approval-1", decision });
const second = await port.request(request, how);
if (second.status !== "decided" || !second.decision.approved) {
  throw new Error("the decision does not answer");
}
