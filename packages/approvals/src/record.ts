/**
 * The life of a record, as pure functions from a record and an event to the next record (APR-20).
 *
 *   pending → decided (approved or denied) → consumed
 *   pending → consumed                         withdrawn: expired, superseded, cancelled, state-not-sealable
 *
 * R1 Nothing goes back, and a decision once made stands: `decided` and `consumed` keep it as it is.
 * R2 A consumed record names the attempt that consumed it. Denied, it has its outcome at once; approved, when its call has
 *    ended, and never another one (APR-21).
 * R3 Every transition yields exactly one audit fact (I11); a step that changes nothing yields none.
 * R4 Time comes in with the event. At `expiresAt` a pending record is over, whether or not it was swept (APR-13).
 * R5 One denial denies; approvals count once a person; a vote that comes too late is kept as late (APR-14).
 */

import { systemActor, type ActorRef } from "./actor.ts";
import type { Outcome, WithdrawReason } from "./decision.ts";
import type { RequestFacts } from "./request.ts";
import type { ApprovalRule } from "./rule.ts";

/** Arguments as a record holds them: their sealed text, and the digest of their canonical form. */
export interface BoundArguments {
  readonly text: string;
  readonly digest: string;
}

/** An edit: what a person put in, and what validation made of it, which is what runs (APR-16). */
export interface BoundEdit {
  readonly decided: BoundArguments;
  readonly effective: BoundArguments;
}

/** What somebody said about a record. All members are present, so that no reader meets an inherited one. */
export interface Vote {
  readonly approved: boolean;
  readonly by: ActorRef;
  readonly at: number;
  readonly note: string | undefined;
  readonly edited: BoundEdit | undefined;
  readonly forRun: boolean;
  /** The attempt that cast it: repeated, it is the same vote. */
  readonly attemptId: string;
}

/** A decision as a record holds it. */
export interface Standing extends Vote {
  readonly reason: WithdrawReason | undefined;
}

interface Common {
  readonly id: string;
  readonly facts: Omit<RequestFacts, "arguments" | "context">;
  /** Sealed text of the free context. */
  readonly context: string;
  readonly requestedAt: number;
  /** Undefined: it may be decided for ever. */
  readonly expiresAt: number | undefined;
  readonly requestKey: string;
  readonly proposed: BoundArguments;
  /** Digest of what the call itself proposed; differs from `proposed` where this record stands for an edit (APR-16). */
  readonly calledDigest: string;
  /** The record that this one replaces, its proposed set being that one's edit. */
  readonly replaces: string | undefined;
  readonly votes: readonly Vote[];
  readonly lateVotes: readonly Vote[];
}

export type PendingRecord = Common & { readonly state: "pending" };
export type DecidedRecord = Common & { readonly state: "decided"; readonly decision: Standing };
export type ConsumedRecord = Common & {
  readonly state: "consumed";
  readonly decision: Standing;
  readonly attemptId: string;
  readonly consumedAt: number;
  readonly outcome: Outcome | undefined;
  /** Why it ended so, where somebody said. */
  readonly endNote: string | undefined;
  /** The record that took its place (APR-16). */
  readonly replacedBy: string | undefined;
};
export type ApprovalRecord = PendingRecord | DecidedRecord | ConsumedRecord;

/** One transition, for the audit chain. */
export interface AuditFact {
  readonly kind:
    | "requested"
    | "voted"
    | "decided"
    | "consumed"
    | "withdrawn"
    | "concluded"
    | "late";
  readonly at: number;
  readonly by: ActorRef;
  readonly attemptId: string;
  readonly vote: Vote | undefined;
  readonly outcome: Outcome | undefined;
  readonly note: string | undefined;
  /** The other record of a replacement. */
  readonly link: string | undefined;
}

/** A record moved, and what the audit says of it. */
export interface Moved<R extends ApprovalRecord = ApprovalRecord> {
  readonly record: R;
  readonly facts: readonly AuditFact[];
}

/** What became of a vote. */
export type Voted =
  | ({ readonly status: "decided" } & Moved<DecidedRecord>)
  | ({ readonly status: "open"; readonly missing: number } & Moved<PendingRecord>)
  /** The same person approved before: nothing changes. */
  | { readonly status: "counted"; readonly missing: number }
  | { readonly status: "expired" };

/** A new record; with a vote that it begins with, and that leaves it open. */
export function filed(
  what: Omit<PendingRecord, "state" | "votes" | "lateVotes">,
  attemptId: string,
  first?: Vote,
): Moved<PendingRecord> {
  const votes = first === undefined ? [] : [first];
  const record: PendingRecord = { ...what, state: "pending", votes, lateVotes: [] };
  const by = what.facts.requestedBy ?? systemActor;
  const fact = factOf("requested", what.requestedAt, by, attemptId, { link: what.replaces });
  return { record, facts: [fact, ...votes.map((vote) => factOfVote("voted", vote))] };
}

/** When a request made now is over; undefined: never. */
export function expiryOf(requestedAt: number, { expiresInMs }: ApprovalRule): number | undefined {
  return expiresInMs === undefined ? undefined : requestedAt + expiresInMs;
}

/** Whether a pending record is over (R4). */
export function isExpired(record: ApprovalRecord, at: number): boolean {
  return record.state === "pending" && record.expiresAt !== undefined && at >= record.expiresAt;
}

/** How many people have yet to approve. */
export function missingVotes(record: ApprovalRecord): number {
  return record.state === "pending" ? missingAfter(record, record.votes) : 0;
}

/** How many people had yet to approve when these votes were in. */
export function missingAfter(record: ApprovalRecord, votes: readonly Vote[]): number {
  const people = new Set(votes.map((vote) => vote.by.id));
  return (record.facts.rule.quorum ?? 1) - people.size;
}

/** A vote on a pending record. The voter is eligible: that is checked before. */
export function voted(record: PendingRecord, vote: Vote): Voted {
  if (isExpired(record, vote.at)) return { status: "expired" };
  if (!vote.approved) return decided(record, vote); // R5
  if (record.votes.some((earlier) => earlier.by.id === vote.by.id)) {
    return { status: "counted", missing: missingVotes(record) }; // R5
  }
  const open: PendingRecord = { ...record, votes: [...record.votes, vote] };
  const missing = missingVotes(open);
  if (missing === 0) return decided(record, vote);
  return { status: "open", record: open, facts: [factOfVote("voted", vote)], missing };
}

function decided(record: PendingRecord, vote: Vote): Voted {
  const decision: Standing = { ...vote, reason: undefined };
  const votes = [...record.votes, vote];
  return {
    status: "decided",
    record: { ...record, state: "decided", votes, decision },
    facts: [factOfVote("decided", vote)],
  };
}

/** Spends a decision under an attempt, with the outcome of an approved one where it is known already (R2). */
export function consumed(
  record: DecidedRecord,
  attemptId: string,
  at: number,
  known?: Outcome,
): Moved<ConsumedRecord> {
  const outcome = record.decision.approved ? known : "denied";
  const fact = factOf("consumed", at, systemActor, attemptId, { outcome });
  return { record: spent(record, record.decision, { attemptId, at, outcome }), facts: [fact] };
}

/**
 * Ends a record that nobody will use: a pending one is denied for `reason`; one that is decided keeps its decision (R1) and
 * is unused, or denied as it was.
 */
export function withdrawn(
  record: PendingRecord | DecidedRecord,
  how: {
    readonly reason: WithdrawReason;
    readonly attemptId: string;
    readonly at: number;
    readonly note?: string | undefined;
    readonly replacedBy?: string;
    readonly vote?: Vote;
  },
): Moved<ConsumedRecord> {
  const { reason, attemptId, at, note, replacedBy, vote } = how;
  const outcome = outcomeWithdrawn(record, reason);
  const decision =
    record.state === "decided" ? record.decision : denialOf(record, reason, attemptId, at);
  const by = vote?.by ?? systemActor;
  return {
    record: spent(record, decision, { attemptId, at, outcome, note, replacedBy }),
    facts: [factOf("withdrawn", at, by, attemptId, { outcome, note, link: replacedBy, vote })],
  };
}

function outcomeWithdrawn(record: PendingRecord | DecidedRecord, reason: WithdrawReason): Outcome {
  if (record.state === "pending") return reason;
  return record.decision.approved ? "unused" : "denied";
}

/** The denial of a record that ends without a person's no. An expiry is as of its time, whenever it was noticed. */
export function denialOf(
  record: PendingRecord,
  reason: WithdrawReason,
  attemptId: string,
  at: number,
): Standing {
  return {
    approved: false,
    by: systemActor,
    at: reason === "expired" ? (record.expiresAt ?? at) : at,
    note: undefined,
    edited: undefined,
    forRun: false,
    attemptId,
    reason,
  };
}

/** Whether this is how the call of an approved record can end (APR-21). */
export function endsApproved(outcome: Outcome): boolean {
  return approvedOutcomes.has(outcome);
}

/** Puts the outcome on an approved, consumed record. */
export function concluded(
  record: ConsumedRecord,
  how: {
    readonly outcome: Outcome;
    readonly attemptId: string;
    readonly at: number;
    readonly note: string | undefined;
  },
): Moved<ConsumedRecord> {
  const { outcome, attemptId, at, note } = how;
  const fact = factOf("concluded", at, systemActor, attemptId, { outcome, note });
  return { record: { ...record, outcome, endNote: note }, facts: [fact] };
}

/** A vote after the decision: kept, and without effect (R5). */
export function votedLate(record: DecidedRecord | ConsumedRecord, vote: Vote): Moved {
  const lateVotes = [...record.lateVotes, vote];
  return { record: { ...record, lateVotes }, facts: [factOfVote("late", vote)] };
}

const approvedOutcomes: ReadonlySet<Outcome> = new Set(["executed", "failed", "passed", "unused"]);

function spent(
  record: PendingRecord | DecidedRecord,
  decision: Standing,
  how: {
    readonly attemptId: string;
    readonly at: number;
    readonly outcome: Outcome | undefined;
    readonly note?: string | undefined;
    readonly replacedBy?: string | undefined;
  },
): ConsumedRecord {
  return {
    ...record,
    state: "consumed",
    decision,
    attemptId: how.attemptId,
    consumedAt: how.at,
    outcome: how.outcome,
    endNote: how.note,
    replacedBy: how.replacedBy,
  };
}

function factOfVote(kind: "voted" | "decided" | "late", vote: Vote): AuditFact {
  return factOf(kind, vote.at, vote.by, vote.attemptId, { vote });
}

function factOf(
  kind: AuditFact["kind"],
  at: number,
  by: ActorRef,
  attemptId: string,
  more: Partial<Pick<AuditFact, "vote" | "outcome" | "note" | "link">>,
): AuditFact {
  return {
    kind,
    at,
    by,
    attemptId,
    vote: more.vote,
    outcome: more.outcome,
    note: more.note,
    link: more.link,
  };
}
