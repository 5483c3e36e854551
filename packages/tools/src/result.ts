import { ApprovalPending, type ApprovalRequest } from "@holdpoint/approvals";

import { type ErrorInfo, errorInfo, rebuildError } from "./error-info.ts";
import { ToolDeniedError } from "./errors.ts";
import type { CallOutcome } from "./order.ts";
import type { AnyTool } from "./tool.ts";

/**
 * How a call outside a flow ended, as plain data: it can be cloned, stored and sent (TOOL-03). The
 * input is the member `input`, read by its name alone: neither JSON, nor a clone, nor a printed
 * form, hidden members shown, has it.
 */
export type ToolResult<Out = unknown> = CallTrace &
  (
    | { readonly ok: true; readonly value: Out }
    | {
        readonly ok: false;
        readonly error: ErrorInfo;
        /** Set where a person has to decide first (`approval-pending`). */
        readonly approvalId?: string;
      }
  );

export interface CallTrace {
  readonly tool: string;
  readonly runId: string;
  /** What was passed; absent in every copy. */
  readonly input?: unknown;
}

/** An outcome as a result. */
export function resultOf<Out>(
  tool: AnyTool,
  runId: string,
  input: unknown,
  outcome: CallOutcome,
): ToolResult<Out> {
  const trace = { tool: tool.name, runId };
  const result =
    outcome.status === "ok"
      ? { ok: true, value: outcome.value as Out, ...trace }
      : { ok: false, error: infoOf(tool, runId, outcome), ...trace, ...approvalOf(outcome) };
  // An accessor: `inspect` with `showHidden` prints the values of members that are only not enumerable (TOOL-11).
  const hidden = { get: () => input, enumerable: false };
  return Object.freeze(Object.defineProperty(result, "input", hidden)) as ToolResult<Out>;
}

type Unsuccessful = Exclude<CallOutcome, { status: "ok" }>;

function infoOf(tool: AnyTool, runId: string, outcome: Unsuccessful): ErrorInfo {
  return outcome.status === "failed" ? outcome.error : errorInfo(errorOf(tool, runId, outcome));
}

function approvalOf(outcome: Unsuccessful): { approvalId?: string } {
  if (outcome.status === "failed" || outcome.approvalId === undefined) return {};
  return { approvalId: outcome.approvalId };
}

/**
 * What `call` throws for an outcome: live failures are rebuilt, so they equal replayed ones
 * (TOOL-04).
 */
export function errorOf(tool: AnyTool, runId: string, outcome: Unsuccessful): Error {
  switch (outcome.status) {
    case "failed":
      return rebuildError(outcome.error);
    case "pending":
      return pendingError(outcome.request, outcome.approvalId, runId);
    case "denied": {
      const { decision, approvalId } = outcome;
      const { by, at, note, forRun, reason, coveredBy } = decision;
      const attributes = { tool: tool.name, approvalId, by, at, note, forRun, reason, coveredBy };
      const given = Object.entries(attributes).filter(([, value]) => value !== undefined);
      return new ToolDeniedError(`the call of '${tool.name}' was denied by ${by.id}`, {
        code: "approval-denied",
        attributes: Object.fromEntries(given),
      });
    }
  }
}

function pendingError(
  request: ApprovalRequest,
  approvalId: string | undefined,
  runId: string,
): ApprovalPending {
  const error = new ApprovalPending(approvalId, runId);
  // Not enumerable: printing an error must not walk into a request.
  return Object.defineProperty(error, "request", { value: request });
}
