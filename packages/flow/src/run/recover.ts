/**
 * What a crash or a lost store left half done, put right before the run goes on (FLOW-76, FLOW-77).
 *
 * C1 A settle that was announced and not confirmed (P3 of `spend.ts`) is repeated under its own attempt id: that attempt alone
 *    may, so nothing is spent twice. What another attempt took meanwhile is no answer; nor is another decision than the one
 *    that was announced: whoever announced it may still be at work, and takes what stands under its attempt id for its own.
 * C3 It is repeated whole, in one commit, or not at all: a store takes one row of an attempt for all of it, so whoever announced
 *    it would be told that everything of it stands when only a part does.
 * C2 An announced attempt stays known for ever. Its commit may arrive late, or while somebody else announces another one: a
 *    record that it consumed is spent for this run, and answers it.
 */
import {
  sealableDecision,
  type ApprovalRecords,
  type DecisionRecord,
  type SettleHow,
  type Write,
} from "@holdpoint/approvals";
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

// C1, C3
async function repeatAnnounced(live: LiveRun, records: ApprovalRecords): Promise<void> {
  const { settling } = live.state;
  if (settling === undefined) return;
  const { attemptId } = settling;
  const recorded = settling.answers.filter(isRecorded);
  const decisions = await settledAs(live, records, recorded, attemptId);
  const answers: Answered[] = recorded.flatMap((answer) => {
    const decision = decisions.get(answer);
    return decision === undefined ? [] : [{ ...answer, decision: sealableDecision(decision) }];
  });
  // What has no record stands only with everything that has one.
  if (answers.length === recorded.length)
    answers.push(...settling.answers.filter(({ kind }) => kind !== "approval"));
  live.emit({ type: "answered", attemptId, answers });
}

type Recorded = DecisionAnswered & { readonly approvalId: string };

function isRecorded(answer: Answered): answer is Recorded {
  return answer.kind === "approval" && answer.approvalId !== undefined;
}

/** The decisions that an attempt spent, or spends now: all of them in one commit (C3), or none. */
async function settledAs(
  live: LiveRun,
  records: ApprovalRecords,
  answers: readonly Recorded[],
  attemptId: string,
): Promise<ReadonlyMap<Recorded, DecisionRecord>> {
  for (let tries = 0; tries < alongTriesMax; tries++) {
    const spent = new Map<Recorded, DecisionRecord>();
    const ready = new Map<Recorded, DecisionRecord>();
    const writes: Write[] = [];
    for (const answer of answers) {
      const plan = await records.settle(howOf(live, answer, attemptId));
      if (plan.status === "stands" && plan.mine) spent.set(answer, plan.decision);
      if (plan.status !== "ready" || !isSame(plan.decision, answer.decision, live.parts.sealer))
        continue;
      ready.set(answer, plan.decision);
      writes.push(...plan.writes);
    }
    if (ready.size < answers.length || writes.length === 0) return spent;
    const known = await commitKnown(records.store, attemptId, writes);
    if (known.status === "done") return ready;
  }
  const { runId } = live.state.seed;
  throw new FlowError(
    "store-unavailable",
    `what was announced for run ${runId} moves without an end`,
    {
      runId,
    },
  );
}

function howOf(
  live: LiveRun,
  { approvalId, argumentsDigest, callId }: Recorded,
  attemptId: string,
): SettleHow {
  const isGate = waitsOf(live.state)
    .filter(isApproval)
    .some(({ wait }) => wait.callId === callId && wait.facts.kind === "gate");
  const outcome = isGate ? ({ outcome: "passed" } as const) : {};
  return { scope: live.state.seed.scope, id: approvalId, attemptId, argumentsDigest, ...outcome };
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
