import {
  DeferredApproval,
  memoryApprovalStore,
  memoryHome,
  requestOf,
  type ApprovalRequest,
  type ApprovalRule,
  type ApprovalStore,
  type EditPort,
  type RequestHow,
} from "@holdpoint/approvals";

import { testClock, testIds } from "../src/index.ts";

export const scope = "acme";

const edits: EditPort = {
  validate: ({ arguments: args }) => ({ status: "valid", arguments: args }),
};

/** A deferred port over a memory store, on a test clock. */
export function stage(wrap: (store: ApprovalStore) => ApprovalStore = (store) => store) {
  const clock = testClock();
  const store = memoryApprovalStore(memoryHome({ clock }));
  const port = new DeferredApproval(wrap(store), { ids: testIds(), edits });
  return { clock, store, port, records: port.records, scope };
}

export function request(
  id: string,
  rule: ApprovalRule = {},
  tool = "issue_refund",
): ApprovalRequest {
  return requestOf(
    {
      kind: "tool",
      tool,
      scope,
      runId: "run-1",
      node: "pay#1",
      callId: `call-of-${id}`,
      argumentKey: "key",
      arguments: { cents: 4_200 },
      requestedBy: { id: "rita", assurance: "verified" },
      rule,
    },
    { id, requestedAt: 0 },
  );
}

export const how = (): RequestHow => ({
  signal: new AbortController().signal,
  prepare: () => undefined,
});
