/**
 * What a crash or a lost store left half done, put right before the run goes on (FLOW-76, FLOW-77).
 *
 * C1 A settle that was announced and not confirmed (P3 of `spend.ts`) is repeated under its own attempt id: that attempt alone
 *    may, so nothing is spent twice. What another attempt took meanwhile is no answer; nor is another decision than the one
 *    that was announced: whoever announced it may still be at work, and takes what stands under its attempt id for its own.
 * C2 An announced attempt stays known for ever. Its commit may arrive late, or while somebody else announces another one: a
 *    record that it consumed is spent for this run, and answers it.
 */
import { sealableDecision, type ApprovalRecords, type DecisionRecord } from "@holdpoint/approvals";
import type { Sealer } from "@holdpoint/seal";

import { FlowError } from "../errors.ts";
import { alongTriesMax } from "../limits.ts";
import { commitKnown } from "./commit.ts";
import type { Answered, DecisionAnswered } from "./event.ts";
import type { LiveRun } from "./live.ts";
import { openWaits, waitsOf } from "./pending.ts";
import { isApproval } from "./wait.ts";

export async function recover(live: LiveRun): Promise<void> {
  const records = live.parts.approvals?.records;
  if (records === undefined) return;
  const { revision } = live.state;
  await repeatAnnounced(live, records);
  await takeLate(live, records);
  if (live.state.revision > revision) await live.flush();
}

// C1
async function repeatAnnounced(live: LiveRun, records: ApprovalRecords): Promise<void> {
  const { settling } = live.state;
  if (settling === undefined) return;
  const { attemptId } = settling;
  const answers: Answered[] = [];
  let whole = true;
  for (const answer of settling.answers) {
    if (answer.kind !== "approval" || answer.approvalId === undefined) continue;
    const decision = await settledAs(live, records, answer, attemptId);
    if (decision === undefined) whole = false;
    else answers.push({ ...answer, decision: sealableDecision(decision) });
  }
  // An attempt is all or nothing: what has no record stands only with everything that has one.
  if (whole) answers.push(...settling.answers.filter(({ kind }) => kind !== "approval"));
  live.emit({ type: "answered", attemptId, answers });
}

/** The decision that an attempt spends, now or before; `undefined`: it can't. */
async function settledAs(
  live: LiveRun,
  records: ApprovalRecords,
  { approvalId, argumentsDigest, callId, decision: announced }: DecisionAnswered,
  attemptId: string,
): Promise<DecisionRecord | undefined> {
  const { sealer } = live.parts;
  const { scope, runId } = live.state.seed;
  const isGate = waitsOf(live.state)
    .filter(isApproval)
    .some(({ wait }) => wait.callId === callId && wait.facts.kind === "gate");
  const outcome = isGate ? ({ outcome: "passed" } as const) : {};
  const how = { scope, id: approvalId!, attemptId, argumentsDigest, ...outcome };
  for (let tries = 0; tries < alongTriesMax; tries++) {
    const plan = await records.settle(how);
    if (plan.status === "stands" && plan.mine) return plan.decision;
    if (plan.status !== "ready" || !isSame(plan.decision, announced, sealer)) return undefined;
    const known = await commitKnown(records.store, attemptId, plan.writes);
    if (known.status === "done") return plan.decision;
  }
  const message = `the approval ${approvalId} of run ${runId} moves without an end`;
  throw new FlowError("store-unavailable", message, { runId });
}

function isSame(one: DecisionRecord, other: DecisionRecord, sealer: Sealer): boolean {
  const terms = ({ approved, by, edited, reason }: DecisionRecord): string =>
    sealer.digest([approved, by.id, reason, edited === undefined ? [] : [edited.arguments]]);
  return terms(one) === terms(other);
}

// C2
async function takeLate(live: LiveRun, records: ApprovalRecords): Promise<void> {
  const { announced, seed } = live.state;
  if (announced === undefined) return;
  for (const { path: visit, wait } of openWaits(live.state).filter(isApproval)) {
    const { approvalId, callId, argumentsDigest, foreign } = wait;
    if (approvalId === undefined || foreign === true) continue;
    const stands = await records.read(seed.scope, approvalId);
    if (stands?.state !== "consumed" || !announced.includes(stands.attemptId)) continue;
    const { attemptId } = stands;
    const answer: DecisionAnswered = {
      kind: "approval",
      visit,
      callId,
      approvalId,
      argumentsDigest,
      decision: sealableDecision(stands.decision),
    };
    live.emit({ type: "answered", attemptId, answers: [answer] });
  }
}
