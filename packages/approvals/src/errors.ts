import type { DecisionRecord } from "./decision.ts";
import { quietDecision } from "./hidden-arguments.ts";

/** Why an approval operation failed; closed, and stable over versions. */
export type ApprovalErrorCode =
  | "actor-excluded"
  | "actor-not-authentic"
  | "actor-not-eligible"
  | "actor-unknown"
  | "actor-unverified"
  | "approval-already-decided"
  | "approval-expired"
  | "approval-not-found"
  | "approval-pending"
  | "approval-superseded"
  | "arguments-differ"
  | "attempt-differs"
  | "commit-unknown"
  | "cursor-invalid"
  | "decision-invalid"
  | "edits-invalid"
  | "edits-not-checkable"
  | "filter-invalid"
  | "id-invalid"
  | "key-required"
  | "outcome-invalid"
  | "record-tampered"
  | "request-invalid"
  | "request-redacted"
  | "rule-invalid"
  | "store-unavailable"
  | "write-invalid";

const brand = Symbol.for("@holdpoint/approvals.error");

export interface ApprovalErrorDetails {
  /** The record. */
  readonly approvalId?: string;
  readonly runId?: string;
  readonly cause?: unknown;
}

/** Any failure of this package. Its message carries ids, never arguments or keys. */
export class ApprovalError extends Error {
  override readonly name: string = "ApprovalError";
  readonly code: ApprovalErrorCode;
  readonly approvalId: string | undefined;
  readonly runId: string | undefined;

  constructor(code: ApprovalErrorCode, message: string, details: ApprovalErrorDetails = {}) {
    super(message, "cause" in details ? { cause: details.cause } : undefined);
    this.code = code;
    this.approvalId = details.approvalId;
    this.runId = details.runId;
    // Two copies of this package in one process know each other's errors by this mark.
    Object.defineProperty(this, brand, { value: true });
  }
}

/** Somebody else was first, or the record is spent: `decision` is what stands (APR-20). */
export class ApprovalAlreadyDecided extends ApprovalError {
  override readonly name = "ApprovalAlreadyDecided";
  readonly decision: DecisionRecord;

  /** `message`: where "approved" or "denied" are not the words for it. */
  constructor(approvalId: string, decision: DecisionRecord, message?: string) {
    const verdict = decision.approved ? "approved" : "denied";
    const says = message ?? `the approval ${approvalId} is already ${verdict}`;
    super("approval-already-decided", says, { approvalId });
    this.decision = quietDecision(decision);
    // Errors travel to logs: what is printed of one is its message and ids.
    Object.defineProperty(this, "decision", { enumerable: false });
  }
}

/** The call waits for a person; thrown by a call outside a flow, where there is nothing that could pause (APR-10). */
export class ApprovalPending extends ApprovalError {
  override readonly name = "ApprovalPending";

  constructor(approvalId: string | undefined, runId?: string) {
    super("approval-pending", `waits for the approval ${approvalId ?? "of a port without ids"}`, {
      ...(approvalId === undefined ? {} : { approvalId }),
      ...(runId === undefined ? {} : { runId }),
    });
  }
}

/** The store could not be reached or did not answer in time; nothing was changed. Trying again may help. */
export class StoreUnavailable extends ApprovalError {
  override readonly name = "StoreUnavailable";

  constructor(message: string, cause?: unknown) {
    super("store-unavailable", message, cause === undefined ? {} : { cause });
  }
}

/** Whether a value is an error of this package, of any copy of it; with `code`, of that code. */
export function isApprovalError(value: unknown, code?: ApprovalErrorCode): value is ApprovalError {
  if (typeof value !== "object" || value === null || !Object.hasOwn(value, brand)) return false;
  return code === undefined || (value as ApprovalError).code === code;
}
