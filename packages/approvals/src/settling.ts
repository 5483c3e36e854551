/**
 * Plans of what a runner commits: settle, withdraw, conclude. Nothing here changes a store.
 *
 * S1 The arguments that will run are the record's own, by digest, before anything is planned (APR-25).
 * S2 A spent record answers only the attempt that spent it (APR-20).
 * S3 An expired record counts as denied (APR-13): without a decision the denial is spent, a decision is refused by it.
 */

import type { Write } from "./commit.ts";
import { checkedNote, decisionTerms, type Decision } from "./decision.ts";
import { ApprovalError } from "./errors.ts";
import type { ConcludeHow, RecordState, SettleHow, SettlePlan, WithdrawHow } from "./port.ts";
import type { RecordAccess } from "./record-access.ts";
import type { OpenRecord } from "./record-codec.ts";
import {
  concluded,
  consumed,
  endsApproved,
  isExpired,
  missingVotes,
  withdrawn,
  type ApprovalRecord,
  type ConsumedRecord,
  type DecidedRecord,
  type PendingRecord,
  type Vote,
} from "./record.ts";
import type { AsOf } from "./store.ts";
import { ballotOf, cast, denialWrites, verdictOf } from "./voting.ts";

/** What stands, without arguments. */
export async function readState(
  access: RecordAccess,
  scope: string,
  id: string,
): Promise<RecordState | undefined> {
  const opened = await access.loadStanding(scope, id);
  if (opened === undefined) return undefined;
  const { record } = opened;
  const argumentsDigest = record.proposed.digest;
  if (record.state === "pending") return { state: "pending", argumentsDigest };
  const decision = access.decisionOf(record, record.decision);
  if (record.state === "decided") return { state: "decided", argumentsDigest, decision };
  const { attemptId, outcome } = record;
  return { state: "consumed", argumentsDigest, decision, attemptId, outcome };
}

export async function planSettle(access: RecordAccess, how: SettleHow): Promise<SettlePlan> {
  const { scope, id, decision } = how;
  // A decision is about the very record whose arguments its maker was shown, not about one that took its place.
  const { found: opened, now: at } = await (decision === undefined
    ? access.loadStandingNow(scope, id)
    : access.loadNow(scope, id));
  if (opened === undefined) return { status: "missing" };
  const { record } = opened;
  assertSameArguments(record, how.argumentsDigest); // S1
  switch (record.state) {
    case "consumed":
      return settleConsumed(access, record, how.attemptId);
    case "decided":
      return settleDecided(access, { ...opened, record }, how, at);
    case "pending":
      return settlePending(access, { ...opened, record }, how, at);
  }
}

// S2
function settleConsumed(
  access: RecordAccess,
  record: ConsumedRecord,
  attemptId: string,
): SettlePlan {
  const mine = record.attemptId === attemptId;
  if (mine && record.replacedBy !== undefined) {
    return { status: "open", missing: 1, writes: [], supersededBy: record.replacedBy };
  }
  return { status: "stands", decision: access.decisionOf(record, record.decision), mine };
}

function assertSameArguments(record: ApprovalRecord, argumentsDigest: string): void {
  const edited = record.state === "pending" ? undefined : record.decision.edited;
  const own = [record.proposed.digest, record.calledDigest, edited?.effective.digest];
  if (own.includes(argumentsDigest)) return;
  throw new ApprovalError(
    "arguments-differ",
    `the approval ${record.id} is of other arguments than those that would run`,
    { approvalId: record.id },
  );
}

async function settleDecided(
  access: RecordAccess,
  opened: OpenRecord<DecidedRecord>,
  how: SettleHow,
  at: number,
): Promise<SettlePlan> {
  const { record } = opened;
  const decision = access.decisionOf(record, record.decision);
  if (how.decision !== undefined && !agrees(access, record, how.decision)) {
    return { status: "stands", decision, mine: false };
  }
  const { edited } = record.decision;
  // APR-03: what was valid when it was decided has to be valid now; what validation made of it then is what runs.
  if (edited !== undefined) await verdictOf(access, record, edited.decided, record.decision);
  return ready(access, opened, record, { how, at, facts: [], before: undefined });
}

/** Whether a decision that is brought says what already stands. */
function agrees(access: RecordAccess, record: DecidedRecord, decision: Decision): boolean {
  const { approved, edited } = decisionTerms(decision);
  const digest = edited === undefined ? undefined : access.codec.bind(edited.arguments).digest;
  return approved === record.decision.approved && digest === record.decision.edited?.decided.digest;
}

async function settlePending(
  access: RecordAccess,
  opened: OpenRecord<PendingRecord>,
  how: SettleHow,
  at: number,
): Promise<SettlePlan> {
  const { record } = opened;
  const { attemptId } = how;
  if (how.decision === undefined) {
    return isExpired(record, at)
      ? spendExpired(access, opened, attemptId, at)
      : { status: "pending" };
  }
  if (hasVoteOf(record, attemptId)) {
    return { status: "open", missing: missingVotes(record), writes: [] };
  }
  const ballot = await ballotOf(access, record, { decision: how.decision, attemptId, at });
  const outcome = await cast(access, opened, ballot);
  const before = record.expiresAt;
  switch (outcome.status) {
    case "expired":
      return { status: "stands", decision: access.expiredDecision(record, at), mine: false }; // S3
    case "counted":
      return { status: "open", missing: outcome.missing, writes: [] };
    case "open": {
      const writes = access.codec.writes(opened, outcome, { attemptId, before });
      return { status: "open", missing: outcome.missing, writes };
    }
    case "superseded":
      return { status: "open", missing: 1, writes: outcome.writes, supersededBy: outcome.by };
    case "decided":
      return ready(access, opened, outcome.record, { how, at, facts: outcome.facts, before });
  }
}

// S3
function spendExpired(
  access: RecordAccess,
  opened: OpenRecord<PendingRecord>,
  attemptId: string,
  at: number,
): SettlePlan {
  const moved = withdrawn(opened.record, { reason: "expired", attemptId, at });
  return {
    status: "ready",
    decision: access.expiredDecision(opened.record, at),
    writes: access.codec.writes(opened, moved, { attemptId }),
  };
}

function ready(
  access: RecordAccess,
  opened: OpenRecord,
  record: DecidedRecord,
  step: {
    readonly how: SettleHow;
    readonly at: number;
    readonly facts: ReturnType<typeof consumed>["facts"];
    readonly before: number | undefined;
  },
): SettlePlan {
  const { attemptId, outcome } = step.how;
  if (outcome !== undefined && !endsApproved(outcome)) throw outcomeError(record.id, outcome);
  const spent = consumed(record, attemptId, step.at, outcome);
  const moved = { record: spent.record, facts: [...step.facts, ...spent.facts] };
  return {
    status: "ready",
    decision: access.decisionOf(record, record.decision),
    writes: [
      ...access.codec.writes(opened, moved, { attemptId, before: step.before }),
      ...(step.facts.length === 0 ? [] : denialWrites(record, record.decision)),
    ],
  };
}

function hasVoteOf(record: ApprovalRecord, attemptId: string): boolean {
  return record.votes.some((vote: Vote) => vote.attemptId === attemptId);
}

export async function planWithdraw(
  access: RecordAccess,
  { scope, id, attemptId, reason, note }: WithdrawHow,
): Promise<readonly Write[]> {
  const { found: opened, now: at } = await loadKnown(access, scope, id);
  const { record } = opened;
  if (record.state === "consumed") return [];
  if (reason === "expired" && record.state === "pending" && !isExpired(record, at)) {
    throw outcomeError(id, reason);
  }
  return access.codec.writes(
    opened,
    withdrawn(record, { reason, attemptId, at, note: checkedNote(note) }),
    { attemptId },
  );
}

export async function planConclude(
  access: RecordAccess,
  { scope, id, attemptId, outcome, note }: ConcludeHow,
): Promise<readonly Write[]> {
  const { found: opened, now: at } = await loadKnown(access, scope, id);
  const { record } = opened;
  if (record.state !== "consumed" || record.attemptId !== attemptId) {
    throw new ApprovalError("attempt-differs", `the attempt did not consume the approval ${id}`, {
      approvalId: id,
    });
  }
  if (record.outcome === outcome) return [];
  if (record.outcome !== undefined || !endsApproved(outcome)) throw outcomeError(id, outcome);
  const moved = concluded(record, { outcome, attemptId, at, note: checkedNote(note) });
  return access.codec.writes(opened, moved, { attemptId });
}

async function loadKnown(
  access: RecordAccess,
  scope: string,
  id: string,
): Promise<AsOf<OpenRecord>> {
  const { found, now } = await access.loadStandingNow(scope, id);
  if (found !== undefined) return { found, now };
  throw new ApprovalError("approval-not-found", `there is no approval ${id} in this scope`, {
    approvalId: id,
  });
}

function outcomeError(id: string, outcome: string): ApprovalError {
  return new ApprovalError("outcome-invalid", `the approval ${id} can't end as ${outcome}`, {
    approvalId: id,
  });
}
