import { isApprovalError } from "@holdpoint/approvals";
import { isFlowError } from "@holdpoint/flow";
import { isWorkflowError } from "@holdpoint/workflows";

/**
 * What a caller may hear where processes die, stores are away and people race: everything else is a fault of the product.
 * Above all: nothing that says that a record or a log was tampered with, since nobody does that here.
 */
const expected: ReadonlySet<string> = new Set([
  "aborted",
  "answer-invalid",
  "actor-excluded",
  "actor-not-eligible",
  "answer-unknown",
  "approval-already-decided",
  "approval-denied",
  "approval-expired",
  "approval-superseded",
  "commit-unknown",
  "edits-not-allowed",
  "in-doubt",
  "interrupt-unclear",
  "lease-lost",
  "no-interrupt-waits",
  "node-failed",
  "not-active",
  "resume-terminal",
  "revision-conflict",
  "run-exists",
  "run-moved",
  "run-not-found",
  "session-owned",
  "status-wrong",
  "store-unavailable",
]);

export function isExpected(label: string): boolean {
  return expected.has(label);
}

/** An error's code, where it is one of the product's; else all that is known of it. */
export function errorLabel(error: unknown): string {
  if (isFlowError(error) || isApprovalError(error) || isWorkflowError(error)) return error.code;
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
