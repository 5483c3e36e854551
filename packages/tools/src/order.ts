import type {
  ActorRef,
  ApprovalRequest,
  ApprovalRule,
  DecisionRecord,
  WithdrawReason,
} from "@holdpoint/approvals";

import type { ErrorInfo } from "./error-info.ts";
import type { InputSnapshot } from "./input.ts";
import type { AnyTool } from "./tool.ts";

/**
 * One call as a runner hands it to the executor. The executor knows nothing of flows; what only a
 * runner knows comes in here, and what must be written down before an effect goes out through
 * `dispatch`.
 */
export interface CallOrder {
  readonly tool: AnyTool;
  /** The input as the caller passed it, taken synchronously (`inputOf`). */
  readonly input: InputSnapshot;
  readonly scope: string;
  readonly runId: string;
  /** The flow's name, for guards; absent outside one. */
  readonly flow?: string;
  /** The visit's path; empty outside a flow. */
  readonly node: string;
  /** These three are asked for only when needed: most calls never pay for them. */
  callId(): string;
  argumentKey(): string;
  idempotencyKey(): string;
  readonly requestedBy: ActorRef | undefined;
  readonly signal: AbortSignal;
  /**
   * A call that stands on record: it is gated if it was, and runs with what was shown (FLOW-35,
   * FLOW-66).
   */
  readonly recorded?: RecordedCall | undefined;
  /**
   * What this run has spent so far, for guards (TOOL-05); read anew at each question, so it may be
   * a live view.
   */
  readonly spent?: Spent;
  /**
   * Adds the call to what the run has spent: called once, right before `dispatch`, in one turn with
   * the guards' last word.
   */
  charge?(cost: number): void;
  /** Seals what a later resume needs; a port that is about to file calls it first (FLOW-26). */
  prepare(): void | Promise<void>;
  /**
   * Awaited after the last check and right before `execute` (each attempt of a retry excepted: the
   * first only). A runner commits here what must be durable first. Absent: the executor settles the
   * approval itself.
   *
   * What `prepare` and `dispatch` throw is the runner's own: `run` rejects with it, unchanged.
   */
  dispatch?(dispatch: Dispatch): void | Promise<void>;
}

/** What was shown and decided: executed as it stands, never validated anew. */
export interface RecordedCall {
  readonly arguments: unknown;
  /** A call that waits or waited on record is gated whatever `confirm` says now. */
  readonly gated: boolean;
  readonly approvalId?: string;
  readonly decision?: DecisionRecord;
  /**
   * It had been dispatched before, and is entered again (FLOW-76): its approval was used in time
   * and it has been charged. Only changed arguments, a rule that forbids it, or the tool's own
   * `revalidate` refuse it.
   */
  readonly started?: boolean;
  /**
   * The rule by which it was asked for; what the tool's rule asks for beyond it must be met at
   * dispatch (TOOL-12).
   */
  readonly rule?: ApprovalRule;
}

export interface Dispatch {
  /** What `execute` will get. */
  readonly arguments: unknown;
  /**
   * Whether validation made them differ from the input as passed (a default or transform might draw
   * anew, FLOW-72).
   */
  readonly drawn: boolean;
  /** What the call costs, as charged. */
  readonly cost: number;
  /** The approval that allows it; absent for a call that needed none. */
  readonly approval?:
    | {
        readonly id: string | undefined;
        readonly decision: DecisionRecord;
        readonly request: ApprovalRequest | undefined;
      }
    | undefined;
}

export interface Spent {
  readonly calls: number;
  readonly cost: number;
}

/** How a call ended. All of it is data: nothing expected is thrown. */
export type CallOutcome =
  | { readonly status: "ok"; readonly value: unknown }
  /** `executed`: whether `execute` was entered. */
  | {
      readonly status: "failed";
      readonly error: ErrorInfo;
      readonly executed: boolean;
      /**
       * An approval that was given and is not used: whoever keeps the record withdraws it, for this
       * reason (APR-21).
       */
      readonly unused?: {
        readonly approvalId: string | undefined;
        readonly reason: WithdrawReason;
      };
    }
  | {
      readonly status: "pending";
      readonly request: ApprovalRequest;
      readonly approvalId: string | undefined;
    }
  | {
      readonly status: "denied";
      readonly decision: DecisionRecord;
      readonly approvalId: string | undefined;
      /** What was asked, where it was asked now and answered at once. */
      readonly request?: ApprovalRequest;
    };
