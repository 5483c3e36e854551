/**
 * Recording what a person says, now: `decide` on the way of an inbox or a command, and the sweep of what expired.
 *
 * D1 Each move is one compare-and-set; whoever is refused reads again and is told what stands (APR-20).
 * D2 The same attempt again gets the same answer, and the same person saying the same again is told that it stands.
 * D3 A late vote in a quorum is recorded as late, and its caster is told what stands (APR-14).
 */

import type { Decision, DecisionRecord } from "./decision.ts";
import { ApprovalAlreadyDecided, ApprovalError } from "./errors.ts";
import { limits } from "./limits.ts";
import type { RecordAccess } from "./record-access.ts";
import type { OpenRecord } from "./record-codec.ts";
import {
  missingAfter,
  votedLate,
  withdrawn,
  type ApprovalRecord,
  type ConsumedRecord,
  type DecidedRecord,
  type PendingRecord,
  type Vote,
} from "./record.ts";
import { checkedId } from "./request.ts";
import { statements } from "./store.ts";
import { ballotOf, cast, denialWrites } from "./voting.ts";

export interface DecideHow {
  readonly scope: string;
  readonly id: string;
  readonly decision: Decision;
  /** Names this delivery of the decision: repeated under the same id, it gets the same answer. Default: a fresh one. */
  readonly attemptId?: string;
  /** Digest of the arguments that the person was shown; compared with the record's own where given (APR-25). */
  readonly argumentsDigest?: string;
}

/**
 * With the run that the record is of. `decided`: by this. `open`: the vote counts, `missing` people have yet to approve. `already`: the same person had said the
 * same. `superseded`: the edit needs somebody else, who is asked under the id `by`.
 */
export type DecideResult = Decided & { readonly runId: string };

type Decided =
  | { readonly status: "decided"; readonly decision: DecisionRecord }
  | { readonly status: "open"; readonly missing: number }
  | { readonly status: "already"; readonly decision: DecisionRecord }
  | { readonly status: "superseded"; readonly by: string };

export async function decideRecord(access: RecordAccess, how: DecideHow): Promise<DecideResult> {
  const attemptId = how.attemptId ?? access.ids.id();
  checkedId(attemptId, "attempt id");
  for (let races = 0; races < limits.racesMax; races += 1) {
    const result = await decideOnce(access, how, attemptId);
    if (result !== undefined) return result;
  }
  throw new ApprovalError("store-unavailable", `the approval ${how.id} moves without an end`, {
    approvalId: how.id,
  });
}

/** Under which attempt a decision is brought, and when: by the store's clock, as its record was read. */
interface Delivery {
  readonly attemptId: string;
  readonly at: number;
}

/** Reads and decides; undefined where somebody moved the record meanwhile (D1). */
async function decideOnce(
  access: RecordAccess,
  how: DecideHow,
  attemptId: string,
): Promise<DecideResult | undefined> {
  const { found: opened, now: at } = await access.loadNow(how.scope, how.id);
  if (opened === undefined) throw notFound(how.id);
  const { record } = opened;
  assertShown(record, how);
  const decided =
    answerOf(access, record, attemptId) ?? // D2
    (record.state === "pending"
      ? await decidePending(access, { ...opened, record }, how.decision, { attemptId, at })
      : await decideLate(access, { ...opened, record }, how.decision, { attemptId, at }));
  return decided && { ...decided, runId: record.facts.runId };
}

async function decidePending(
  access: RecordAccess,
  opened: OpenRecord<PendingRecord>,
  decision: Decision,
  { attemptId, at }: Delivery,
): Promise<Decided | undefined> {
  const { record } = opened;
  const ballot = await ballotOf(access, record, { decision, attemptId, at });
  const outcome = await cast(access, opened, ballot);
  if (outcome.status === "expired") throw expired(record);
  if (outcome.status === "counted") return { status: "open", missing: outcome.missing };
  const writes =
    outcome.status === "superseded"
      ? outcome.writes
      : [
          ...access.codec.writes(opened, outcome, { attemptId, before: record.expiresAt }),
          ...(outcome.status === "decided" ? denialWrites(record, ballot.vote) : []),
        ];
  const committed = await access.commit(attemptId, writes);
  if (committed.status === "refused") {
    if (committed.refusal.because === "late") throw expired(record);
    if (writes[committed.write]?.statement === statements.appendAudit) throw putBack(record);
    return undefined;
  }
  if (committed.repeated) return undefined; // D2: its twin was faster, and may have opened another record
  if (outcome.status === "superseded") return { status: "superseded", by: outcome.by };
  if (outcome.status === "open") return { status: "open", missing: outcome.missing };
  return {
    status: "decided",
    decision: access.decisionOf(outcome.record, outcome.record.decision),
  };
}

/** Record and trail move in one commit: a trail that is ahead of its record was not put back with it (STORE-12). */
function putBack({ id }: PendingRecord): ApprovalError {
  const message = `the approval ${id} was put back: its audit trail says that it was decided before`;
  return new ApprovalError("record-tampered", message, { approvalId: id });
}

/** Too late: told what stands, or, where it is what they said themselves, that it does. */
async function decideLate(
  access: RecordAccess,
  opened: OpenRecord<DecidedRecord | ConsumedRecord>,
  decision: Decision,
  { attemptId, at }: Delivery,
): Promise<Decided | undefined> {
  const { record } = opened;
  const standing = access.decisionOf(record, record.decision);
  if (record.decision.reason === "expired") throw expired(record);
  const { vote } = await ballotOf(access, record, { decision, attemptId, at });
  if (saidBefore(record, vote)) return { status: "already", decision: standing };
  if (keepsLate(record, vote)) {
    const writes = access.codec.writes(opened, votedLate(record, vote), { attemptId }); // D3
    const committed = await access.commit(attemptId, writes);
    if (committed.status === "refused") return undefined;
  }
  throw new ApprovalAlreadyDecided(record.id, standing);
}

/** Whether this person is one of those whose word made the standing decision, and says the same now. */
function saidBefore(record: DecidedRecord | ConsumedRecord, vote: Vote): boolean {
  return (
    vote.approved === record.decision.approved &&
    record.votes.some(
      (earlier) =>
        earlier.by.id === vote.by.id &&
        earlier.approved === vote.approved &&
        earlier.edited?.decided.digest === vote.edited?.decided.digest,
    )
  );
}

function keepsLate(record: DecidedRecord | ConsumedRecord, vote: Vote): boolean {
  if ((record.facts.rule.quorum ?? 1) < 2 || record.lateVotes.length >= limits.votesMax)
    return false;
  return !record.lateVotes.some((late) => late.by.id === vote.by.id);
}

/** The answer that this very attempt got, where it was applied (D2). */
function answerOf(
  access: RecordAccess,
  record: ApprovalRecord,
  attemptId: string,
): Decided | undefined {
  if (record.state === "consumed" && record.replacedBy !== undefined) {
    return record.attemptId === attemptId
      ? { status: "superseded", by: record.replacedBy }
      : undefined;
  }
  const at = record.votes.findIndex((vote) => vote.attemptId === attemptId);
  if (at === -1) return undefined;
  if (record.state !== "pending" && record.decision.attemptId === attemptId) {
    return { status: "decided", decision: access.decisionOf(record, record.decision) };
  }
  return { status: "open", missing: missingAfter(record, record.votes.slice(0, at + 1)) };
}

function assertShown(record: ApprovalRecord, { argumentsDigest }: DecideHow): void {
  if (argumentsDigest === undefined || argumentsDigest === record.proposed.digest) return;
  throw new ApprovalError(
    "arguments-differ",
    `the approval ${record.id} is of other arguments than those shown`,
    { approvalId: record.id },
  );
}

/** Ends up to `limit` expired records of a scope. Answers the ids of those that this call ended. */
export async function sweepExpired(
  access: RecordAccess,
  scope: string,
  limit: number,
): Promise<readonly string[]> {
  const now = await access.store.now();
  const filter = { state: "pending", expiresBefore: now + 1 } as const; // at the very instant it is over
  const rows = await access.store.list(scope, filter, { order: "expiring", limit });
  const swept: string[] = [];
  for (const row of rows) {
    const opened = access.examine(scope, row);
    // One that can't be trusted is for somebody to look at; it holds up none of the others.
    if (!("record" in opened) || opened.record.state !== "pending") continue;
    const attemptId = access.ids.id();
    const moved = withdrawn(opened.record, { reason: "expired", attemptId, at: now });
    const committed = await access.commit(
      attemptId,
      access.codec.writes(opened, moved, { attemptId }),
    );
    if (committed.status === "done") swept.push(row.key);
  }
  return swept;
}

function notFound(id: string): ApprovalError {
  return new ApprovalError("approval-not-found", `there is no approval ${id} in this scope`, {
    approvalId: id,
  });
}

function expired(record: ApprovalRecord): ApprovalError {
  return new ApprovalError("approval-expired", `the approval ${record.id} expired undecided`, {
    approvalId: record.id,
    runId: record.facts.runId,
  });
}
