import type { Decision } from "@holdpoint/approvals";

import type { Parts } from "./parts.ts";

/** A decision on record. `already`: the same person had said the same before. */
export interface DecisionTaken {
  readonly status: "accepted" | "already";
  readonly runId: string;
  /** People who have yet to approve before the run goes on. */
  readonly missing?: number;
  /** The approval that stands in this one's place, because the edit needs somebody else. */
  readonly supersededBy?: string;
}

/**
 * Records what a person says, and has the waiting run resumed, once (WF-24): resolves when the decision is on record. `wake` is told
 * of the run, and of the approval where it was decided by this very call.
 * @throws ApprovalAlreadyDecided; ApprovalError `approval-not-found`, `approval-expired`, `actor-…`, `edits-…`, `store-unavailable`
 */
export async function decideApproval(
  { approvals, access }: Parts,
  approvalId: string,
  decision: Decision,
  wake: (runId: string, decided: string | undefined) => void,
): Promise<DecisionTaken> {
  const { records } = approvals;
  const { scope } = access;
  const result = await records.decide({ scope, id: approvalId, decision });
  const { runId } = result;
  switch (result.status) {
    case "open":
      return { status: "accepted", runId, missing: result.missing };
    case "superseded":
      return { status: "accepted", runId, supersededBy: result.by };
    case "decided":
    case "already":
      wake(runId, result.status === "decided" ? approvalId : undefined);
      return { status: result.status === "decided" ? "accepted" : "already", runId };
  }
}
