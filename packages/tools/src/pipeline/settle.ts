/**
 * Using up an approval where no runner does it: a call outside a flow.
 *
 * U1 Nothing runs before the record is known to be used by this very attempt (APR-20, APR-26).
 * U2 A commit whose answer was lost is asked about again under the same attempt; still unknown,
 *    nothing runs.
 * U3 Afterwards the record gets its outcome. That the call has run can't be undone: a store that
 *    does not take the outcome is an event, and the record stays used.
 */
import type { CommitOutcome, Outcome, Write } from "@holdpoint/approvals";

import { ToolDispatchError, type ToolErrorCode } from "../errors.ts";
import type { LiveCall } from "./live-call.ts";
import { settleRoundsMax, unknownCommitsMax } from "../limits.ts";
import type { CallOutcome } from "../order.ts";

/** Whether this call's approval has a record that the executor itself has to keep. */
export function keepsRecord({ order, approval, ports }: LiveCall): boolean {
  return (
    order.dispatch === undefined &&
    approval?.id !== undefined &&
    ports.approvals?.records !== undefined
  );
}

export async function settle(call: LiveCall): Promise<CallOutcome | undefined> {
  const { order, ports } = call;
  const approval = call.approval!;
  const records = ports.approvals!.records!;
  const attemptId = ports.ids.id();
  const how = {
    scope: order.scope,
    id: approval.id!,
    attemptId,
    argumentsDigest: approval.request?.argumentsDigest ?? call.approvedDigest(approval),
  };
  for (let round = 0; round < settleRoundsMax; round++) {
    const plan = await records.settle(how);
    if (plan.status === "stands" && !plan.mine)
      return unusable(call, "approval-spent", "it was used before");
    if (plan.status === "stands") return taken(call, attemptId);
    if (plan.status === "missing") {
      return unusable(call, "approval-not-found", "there is no record of it"); // CASE-056
    }
    if (plan.status !== "ready") {
      return unusable(call, "approval-undecided", "its record says that people have yet to decide");
    }
    const done = await commit(call, attemptId, plan.writes);
    if (done.status === "done") return taken(call, attemptId);
    if (done.status === "unknown") {
      return unusable(call, "approval-unknown", "the store's answer was lost"); // U2
    }
    // Refused: something else stands by now; the next plan says what.
  }
  return unusable(call, "approval-unknown", "its record kept changing");
}

function taken(call: LiveCall, attemptId: string): undefined {
  call.approval = { ...call.approval!, settled: attemptId };
}

/** Puts the outcome on the record, or takes back an approval that nobody has used (U3). */
export async function conclude(call: LiveCall, outcome: CallOutcome): Promise<void> {
  if (!keepsRecord(call) || outcome.status === "denied" || outcome.status === "pending") return;
  const { order, ports, approval } = call;
  const records = ports.approvals!.records!;
  const attemptId = approval!.settled ?? ports.ids.id();
  const of = { scope: order.scope, id: approval!.id!, attemptId };
  try {
    let writes: readonly Write[];
    if (approval!.settled !== undefined) {
      writes = await records.conclude({ ...of, outcome: endOf(outcome) });
    } else if (outcome.status === "failed" && outcome.unused !== undefined) {
      writes = await records.withdraw({ ...of, reason: outcome.unused.reason });
    } else return;
    // A commit of its own: the settle's attempt has what it wrote, and repeating it would write
    // nothing.
    const done = await commit(call, ports.ids.id(), writes);
    if (done.status !== "done") call.tell({ kind: "dropped", what: "approval-outcome" });
  } catch {
    call.tell({ kind: "dropped", what: "approval-outcome" });
  }
}

function endOf(outcome: Extract<CallOutcome, { status: "ok" | "failed" }>): Outcome {
  if (outcome.status === "ok") return "executed";
  return outcome.executed ? "failed" : "unused";
}

async function commit(
  { ports }: LiveCall,
  attemptId: string,
  writes: readonly Write[],
): Promise<CommitOutcome> {
  const { store } = ports.approvals!.records!;
  let outcome = await store.commit(attemptId, writes);
  for (let asked = 1; outcome.status === "unknown" && asked < unknownCommitsMax; asked++) {
    outcome = await store.commit(attemptId, writes);
  }
  return outcome;
}

function unusable(call: LiveCall, code: ToolErrorCode, why: string): CallOutcome {
  const tool = call.record.name;
  const approvalId = call.approval!.id;
  const error = new ToolDispatchError(`the approval of '${tool}' can't be used: ${why}`, {
    code,
    attributes: { tool, approvalId },
  });
  return call.failed(error);
}
