import type { Committer, Write } from "./commit.ts";
import type { Decision, DecisionRecord, Outcome, WithdrawReason } from "./decision.ts";
import type { ApprovalRequest } from "./request.ts";

/**
 * The way to a person, or to whatever stands in for one.
 *
 * It **returns** its answer; it throws `store-unavailable` only (APR-10).
 */
export interface ApprovalPort {
  /**
   * Asks whether this call may run.
   *
   * A port that is about to file a record calls `prepare()` first, each time, and lets its failure pass: whatever a later resume
   * needs is sealed there, so that nobody is asked for what could not go on afterwards, or by a run that was left meanwhile. A
   * port that answers at once never calls it.
   */
  request(request: ApprovalRequest, how: RequestHow): Promise<PortAnswer>;
  /** The records behind the port, where it keeps any. A port without them can't refuse a second use in another process. */
  readonly records?: ApprovalRecords;
}

export interface RequestHow {
  readonly signal: AbortSignal;
  prepare(): void | Promise<void>;
}

/**
 * `decided` and unspent: where `approvalId` is given, the writes of `records.settle` must commit (with what they allow) before
 * anything runs.
 */
export type PortAnswer =
  | {
      readonly status: "decided";
      readonly decision: DecisionRecord;
      readonly approvalId?: string;
      readonly recorded?: RecordedArguments;
    }
  | {
      readonly status: "pending";
      readonly approvalId?: string;
      readonly recorded?: RecordedArguments;
    };

/**
 * What an earlier asking of the same call put on record, where this one drew other arguments (a random default): those were
 * shown, so those run, and `settle` takes their digest.
 */
export interface RecordedArguments {
  /** Read by its name alone, where the port is one of this package. */
  readonly arguments: unknown;
  readonly argumentsDigest: string;
}

/**
 * What a runner needs of the records behind a port. It gets writes and commits them itself, with its own. A commit that is
 * refused spent nothing: ask again for the writes, or for what stands. A record that was replaced because of an edit is read,
 * settled, withdrawn and concluded as the one that took its place; a decision that is brought is for the very record it names.
 */
export interface ApprovalRecords {
  readonly store: Committer;
  /** What stands, with its seal checked. `undefined` where this scope has no such record. */
  read(scope: string, id: string): Promise<RecordState | undefined>;
  /**
   * The writes that consume a record under an attempt, deciding it first where it is pending and a decision is brought.
   * Changes nothing by itself. @throws ApprovalError where this actor may not decide, or the edit can't stand.
   */
  settle(how: SettleHow): Promise<SettlePlan>;
  /** The writes that deny and consume a record that is not consumed yet (APR-20). */
  withdraw(how: WithdrawHow): Promise<readonly Write[]>;
  /** The writes that put the outcome on a consumed record (APR-21). */
  conclude(how: ConcludeHow): Promise<readonly Write[]>;
}

export interface SettleHow {
  readonly scope: string;
  readonly id: string;
  readonly attemptId: string;
  /** Brought by the caller; absent: the one on record. */
  readonly decision?: Decision;
  /** Digest of the arguments that will be shown as approved: compared with the record's own (APR-25). */
  readonly argumentsDigest: string;
  /** How an approved call ended, where that is known in the same commit (a gate: `passed`); else `conclude` says it later. */
  readonly outcome?: Outcome;
}

/**
 * `ready`: commit `writes`, then `decision` is spent. `open`: `writes` record a vote that leaves the quorum open; with
 * `supersededBy`, they close this record and open that one, whose proposed arguments are the edit: its approval has to be
 * asked of somebody else (APR-16), and the call waits on.
 * `stands`: another decision stands, or it is spent (`mine`: by this very attempt, which may go on).
 */
export type SettlePlan =
  | {
      readonly status: "ready";
      readonly decision: DecisionRecord;
      readonly writes: readonly Write[];
    }
  | {
      readonly status: "open";
      readonly missing: number;
      readonly writes: readonly Write[];
      readonly supersededBy?: string;
    }
  | { readonly status: "stands"; readonly decision: DecisionRecord; readonly mine: boolean }
  | { readonly status: "pending" }
  | { readonly status: "missing" };

export interface WithdrawHow {
  readonly scope: string;
  readonly id: string;
  readonly attemptId: string;
  readonly reason: WithdrawReason;
  /** Why, for the record: ids and codes, no arguments. */
  readonly note?: string;
}

export interface ConcludeHow {
  readonly scope: string;
  readonly id: string;
  readonly attemptId: string;
  readonly outcome: Outcome;
  /** Why, for the record: ids and codes, no arguments. */
  readonly note?: string;
}

/** What a record says, without its arguments. */
export type RecordState =
  | { readonly state: "pending"; readonly argumentsDigest: string }
  | {
      readonly state: "decided";
      readonly argumentsDigest: string;
      readonly decision: DecisionRecord;
    }
  | {
      readonly state: "consumed";
      readonly argumentsDigest: string;
      readonly decision: DecisionRecord;
      readonly attemptId: string;
      readonly outcome: Outcome | undefined;
    };
