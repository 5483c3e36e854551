import assert from "node:assert/strict";
import { approve, DeferredApproval, memoryApprovalStore, requestOf } from "@holdpoint/approvals";
import { faultyStore, verified } from "@holdpoint/testing";

// The second commit, which records the decision, is applied, and its answer gets lost on the way back.
const real = memoryApprovalStore();
const { store, control } = faultyStore(real, [{ at: 2, kind: "lose-answer" }]);
const approvals = new DeferredApproval(store);

const call = { scope: "acme", runId: "r", node: "n#1", callId: "c", argumentKey: "k" };
const facts = { ...call, tool: "deploy", arguments: {}, requestedBy: undefined, rule: {} };
await approvals.request(
  requestOf({ kind: "tool", ...facts }, { id: "approval-1", requestedAt: 0 }),
  { signal: new AbortController().signal, prepare: () => undefined },
);
const decision = approve({ by: await verified("dana") });
const result = await approvals.records.decide({ scope: "acme", id: "approval-1", decision });

// It was asked again under the same attempt: decided once, and told so.
assert.equal(result.status, "decided");
assert.deepEqual(control.struck, [{ number: 2, kind: "lose-answer" }]);
const audit = await approvals.records.verifyAudit("acme", "approval-1");
assert(audit.status === "whole" && audit.entries.length === 2);
