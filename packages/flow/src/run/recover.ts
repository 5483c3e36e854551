/**
 * What a crash left half done, put right before the run goes on (FLOW-76, FLOW-77).
 */
import { sealableDecision } from "@holdpoint/approvals";

import { commitKnown } from "./commit.ts";
import type { Answered } from "./event.ts";
import type { LiveRun } from "./live.ts";

/**
 * A settle that was announced and not confirmed (P3 of `spend.ts`) is repeated under its own attempt id: that attempt alone
 * may, so nothing is spent twice.
 */
export async function recover(live: LiveRun): Promise<void> {
  const { settling, seed } = live.state;
  const records = live.parts.approvals?.records;
  if (settling === undefined || records === undefined) return;
  const answers: Answered[] = [];
  let whole = true;
  for (const answer of settling.answers) {
    if (answer.kind !== "approval") continue;
    const { approvalId, argumentsDigest } = answer;
    if (approvalId === undefined) continue;
    const how = {
      scope: seed.scope,
      id: approvalId,
      attemptId: settling.attemptId,
      argumentsDigest,
    };
    const plan = await records.settle(how);
    if (plan.status === "ready") await commitKnown(records.store, settling.attemptId, plan.writes);
    if (plan.status === "ready" || (plan.status === "stands" && plan.mine))
      answers.push({ ...answer, decision: sealableDecision(plan.decision) });
    else whole = false;
  }
  // An attempt is all or nothing: what has no record stands only with everything that has one.
  if (whole) answers.push(...settling.answers.filter(({ kind }) => kind !== "approval"));
  live.emit({ type: "answered", attemptId: settling.attemptId, answers });
  await live.flush();
}
