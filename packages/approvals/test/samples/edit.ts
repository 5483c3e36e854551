import assert from "node:assert/strict";
import {
  approve,
  DeferredApproval,
  diffArguments,
  editedArguments,
  memoryApprovalStore,
  requestOf,
  unverified,
  type EditPort,
} from "@holdpoint/approvals";

// Your own check of edited arguments; `@holdpoint/tools` makes one of your tools' schemas.
const edits: EditPort = {
  validate({ arguments: args }) {
    const { cents } = args as { cents: number };
    if (!(cents > 0)) return { status: "invalid", issues: ["cents: has to be positive"] };
    // What the edited arguments need themselves: above 100.00, somebody of finance.
    const rule = { approvers: ["role:finance"] };
    return {
      status: "valid",
      arguments: { cents, currency: "EUR" },
      ...(cents > 10_000 && { rule }),
    };
  },
};
const approvals = new DeferredApproval(memoryApprovalStore(), { edits });

const call = { scope: "acme", runId: "r", node: "n#1", callId: "c", argumentKey: "k" };
const facts = { ...call, arguments: { cents: 4_200 }, requestedBy: undefined, rule: {} };
await approvals.request(
  requestOf({ kind: "tool", tool: "issue_refund", ...facts }, { id: "approval-1", requestedAt: 0 }),
  { signal: new AbortController().signal, prepare: () => undefined },
);

const edited = editedArguments("issue_refund", { cents: 2_100 });
const decision = approve({ by: unverified("dana"), edited });
await approvals.records.decide({ scope: "acme", id: "approval-1", decision });

// Asked for, put in its place, and what runs: all three are on record.
const view = await approvals.records.show("acme", "approval-1");
const { proposed, decided, effective } = view!.arguments();
assert.deepEqual([proposed, decided], [{ cents: 4_200 }, { cents: 2_100 }]);
assert.deepEqual(diffArguments(proposed, effective), [
  { path: "cents", before: 4_200, after: 2_100 },
  { path: "currency", after: "EUR" },
]);
