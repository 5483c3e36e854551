import assert from "node:assert/strict";
import {
  deny,
  DeferredApproval,
  memoryApprovalStore,
  requestOf,
  unverified,
} from "@holdpoint/approvals";

const approvals = new DeferredApproval(memoryApprovalStore());
const { records } = approvals;

// Everything that happens in a scope, as it happens; keep the cursor to go on from there after a restart.
const stop = new AbortController();
const seen: string[] = [];
const watching = (async () => {
  const after = await records.cursor("acme");
  for await (const event of records.watch("acme", { after, signal: stop.signal })) {
    seen.push(`${event.type} ${event.id}`);
    if (event.type === "approval.decided") stop.abort();
  }
})();

const call = { scope: "acme", runId: "r", node: "n#1", callId: "c", argumentKey: "k" };
const facts = { ...call, arguments: {}, requestedBy: undefined, rule: {} };
await approvals.request(
  requestOf({ kind: "tool", tool: "deploy", ...facts }, { id: "approval-1", requestedAt: 0 }),
  { signal: stop.signal, prepare: () => undefined },
);

// What waits, oldest first, page by page.
const waiting = await records.list("acme", { filter: { state: "pending" }, limit: 20 });
assert.deepEqual(
  waiting.items.map((item) => item.id),
  ["approval-1"],
);

const decision = deny({ by: unverified("dana"), note: "Friday" });
await records.decide({ scope: "acme", id: "approval-1", decision });
await watching;
assert.deepEqual(seen, ["approval.requested approval-1", "approval.decided approval-1"]);

// Who did what, when: a chain of sealed entries, checked against the record.
const audit = await records.verifyAudit("acme", "approval-1");
assert(audit.status === "whole");
assert.deepEqual(
  audit.entries.map((entry) => [entry.kind, entry.by.id]),
  [
    ["requested", "system"],
    ["decided", "dana"],
  ],
);
