import type { ActorRef } from "./actor.ts";
import type { DecisionRecord, Outcome } from "./decision.ts";
import type { RecordAccess } from "./record-access.ts";
import type { OpenRecord } from "./record-codec.ts";
import { isExpired, missingVotes, type ApprovalRecord, type Vote } from "./record.ts";
import type { ApprovalRequest } from "./request.ts";
import type { ApprovalRule } from "./rule.ts";
import type { ApprovalState } from "./store.ts";

/** A vote as it is shown: without the arguments of an edit. */
export interface ShownVote {
  readonly approved: boolean;
  readonly by: ActorRef;
  readonly at: number;
  readonly note?: string;
  /** Whether it put other arguments in place of those asked for. */
  readonly edited: boolean;
}

/** The three sets of arguments on record (APR-16). */
export interface ArgumentSets {
  /** Asked for, and shown. */
  readonly proposed: unknown;
  /** What a person put in their place. */
  readonly decided?: unknown;
  /** What runs, or ran, or would run if approved as it stands. */
  readonly effective: unknown;
}

const inspect = Symbol.for("nodejs.util.inspect.custom");

/** A record for people to read. Printed forms hold no arguments; `arguments()` is the one way to them (APR-02). */
export class ApprovalView {
  readonly id: string;
  readonly scope: string;
  readonly state: ApprovalState;
  readonly version: number;
  readonly kind: "tool" | "gate";
  readonly tool: string;
  readonly runId: string;
  readonly node: string;
  readonly callId: string;
  readonly requestedBy: ActorRef | undefined;
  readonly requestedAt: number;
  readonly expiresAt: number | undefined;
  /** Pending and past its time: nobody can decide it any more, and it counts as denied (APR-13). */
  readonly expired: boolean;
  readonly rule: ApprovalRule;
  readonly argumentsDigest: string;
  readonly votes: readonly ShownVote[];
  /** Votes that came after the decision. */
  readonly lateVotes: readonly ShownVote[];
  /** How many people have yet to approve. */
  readonly missing: number;
  readonly decision: (ShownVote & Pick<DecisionRecord, "reason">) | undefined;
  readonly outcome: Outcome | undefined;
  /** Why it ended so, where somebody said. */
  readonly endNote: string | undefined;
  /** The attempt that spent it. */
  readonly attemptId: string | undefined;
  readonly replaces: string | undefined;
  readonly replacedBy: string | undefined;
  readonly #access: RecordAccess;
  readonly #record: ApprovalRecord;

  constructor(access: RecordAccess, { record, version }: OpenRecord, now: number) {
    const { facts } = record;
    this.id = record.id;
    this.scope = facts.scope;
    this.state = record.state;
    this.version = version;
    this.kind = facts.kind;
    this.tool = facts.tool;
    this.runId = facts.runId;
    this.node = facts.node;
    this.callId = facts.callId;
    this.requestedBy = facts.requestedBy;
    this.requestedAt = record.requestedAt;
    this.expiresAt = record.expiresAt;
    this.expired = isExpired(record, now);
    this.rule = facts.rule;
    this.argumentsDigest = record.proposed.digest;
    this.votes = record.votes.map(shownVote);
    this.lateVotes = record.lateVotes.map(shownVote);
    this.missing = missingVotes(record);
    this.decision = record.state === "pending" ? undefined : shownDecision(record.decision);
    this.outcome = record.state === "consumed" ? record.outcome : undefined;
    this.endNote = record.state === "consumed" ? record.endNote : undefined;
    this.attemptId = record.state === "consumed" ? record.attemptId : undefined;
    this.replaces = record.replaces;
    this.replacedBy = record.state === "consumed" ? record.replacedBy : undefined;
    this.#access = access;
    this.#record = record;
    Object.freeze(this);
  }

  /** The request as it was asked, arguments and context included. */
  request(): ApprovalRequest {
    return this.#access.requestOf(this.#record);
  }

  /** The arguments: freshly built, the caller's own. */
  arguments(): ArgumentSets {
    const { codec } = this.#access;
    const { facts, proposed } = this.#record;
    const edited = this.#record.state === "pending" ? undefined : this.#record.decision.edited;
    const read = (bound: typeof proposed): unknown => codec.read(bound, facts.tool);
    if (edited === undefined) return { proposed: read(proposed), effective: read(proposed) };
    return {
      proposed: read(proposed),
      decided: read(edited.decided),
      effective: read(edited.effective),
    };
  }

  toString(): string {
    return `approval ${this.id} (${this.tool}, run ${this.runId}): ${this.state}`;
  }

  [inspect](): string {
    return this.toString();
  }
}

function shownVote({ approved, by, at, note, edited }: Vote): ShownVote {
  return {
    approved,
    by,
    at,
    ...(note === undefined ? {} : { note }),
    edited: edited !== undefined,
  };
}

function shownDecision(decision: Vote & { readonly reason: DecisionRecord["reason"] | undefined }) {
  const { reason } = decision;
  return { ...shownVote(decision), ...(reason === undefined ? {} : { reason }) };
}
