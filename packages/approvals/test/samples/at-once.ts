import assert from "node:assert/strict";
import { approve, askApproval, requestOf, rulesApproval, unverified } from "@holdpoint/approvals";

// Small refunds pass, deploys don't, and whatever else comes is asked in the terminal.
const terminal = askApproval((request) =>
  request.rule.title === undefined ? undefined : approve({ by: unverified("dana") }),
);
const approvals = rulesApproval(
  [
    { tool: "deploy", verdict: "deny", note: "not from here" },
    { tool: "issue_refund", when: (args) => centsOf(args) <= 1_000, verdict: "approve" },
  ],
  { fallback: terminal },
);

function centsOf(args: unknown): number {
  return typeof args === "object" && args !== null && "cents" in args ? Number(args.cents) : NaN;
}

const ask = async (tool: string, cents: number, title?: string) => {
  const rule = title === undefined ? {} : { title };
  const call = { scope: "acme", runId: "r", node: "n#1", callId: "c", argumentKey: "k" };
  const facts = { ...call, tool, arguments: { cents }, requestedBy: undefined, rule };
  const request = requestOf({ kind: "tool", ...facts }, { id: "approval-1", requestedAt: 0 });
  const how = { signal: new AbortController().signal, prepare: () => undefined };
  const answer = await approvals.request(request, how);
  return answer.status === "decided" ? answer.decision.approved : answer.status;
};

assert.equal(await ask("issue_refund", 500), true);
assert.equal(await ask("deploy", 0), false);
assert.equal(await ask("issue_refund", 5_000, "Refund over 10.00"), true);
assert.equal(await ask("issue_refund", 5_000), "pending");
