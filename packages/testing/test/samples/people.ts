import assert from "node:assert/strict";
import { DeferredApproval, memoryApprovalStore, memoryHome, requestOf } from "@holdpoint/approvals";
import { scriptedPeople, testClock, testIds } from "@holdpoint/testing";

// A day passes in no time: the clock moves when the script says so.
const clock = testClock();
const store = memoryApprovalStore(memoryHome({ clock }));
const approvals = new DeferredApproval(store, { ids: testIds(1) });
const { records } = approvals;

const call = { scope: "acme", runId: "r", node: "n#1", callId: "c", argumentKey: "k" };
const rule = { quorum: 2, approvers: ["role:finance"], expiresInMs: 86_400_000 };
const facts = {
  ...call,
  tool: "issue_refund",
  arguments: { cents: 4_200 },
  requestedBy: undefined,
};
await approvals.request(
  requestOf({ kind: "tool", ...facts, rule }, { id: "approval-1", requestedAt: clock.now() }),
  { signal: new AbortController().signal, prepare: () => undefined },
);

const people = scriptedPeople(
  [
    { who: "mallory", says: "approve" },
    { who: "dana", roles: ["finance"], says: "approve", note: "fine" },
    { who: "erik", roles: ["finance"], says: "approve", afterMs: 86_399_999 },
  ],
  { records, scope: "acme", clock },
);
const said = await people.all();
assert.deepEqual(
  said.map((one) => ("refused" in one ? one.refused.code : one.result.status)),
  ["actor-not-eligible", "open", "decided"],
);
