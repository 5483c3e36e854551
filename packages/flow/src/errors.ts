import { registerErrorClass } from "@holdpoint/tools";

/** Every code of this package. Closed: a new one is a minor release. */
export type FlowErrorCode =
  | "aborted"
  | "answer-ambiguous"
  | "answer-expired"
  | "answer-invalid"
  | "answer-unknown"
  | "approval-denied"
  | "checkpoint-rolled-back"
  | "checkpoint-tampered"
  | "dead-end"
  | "depth-budget"
  | "edits-not-allowed"
  | "flow-invalid"
  | "graph-mismatch"
  | "graph-version-mismatch"
  | "in-doubt"
  | "input-invalid"
  | "interrupt-invalid"
  | "items-invalid"
  | "key-required"
  | "no-approver"
  | "migration-failed"
  | "node-failed"
  | "not-failed"
  | "not-paused"
  | "payload-not-pure"
  | "replay-diverged"
  | "resume-terminal"
  | "revision-conflict"
  | "round-budget"
  | "run-exists"
  | "graph-run-mismatch"
  | "run-not-found"
  | "state-invalid"
  | "state-not-sealable"
  | "store-unavailable"
  | "timed-out"
  | "undeclared-flow"
  | "undeclared-route"
  | "unknown-field"
  | "update-conflict"
  | "update-invalid"
  | "visit-budget";

/** Where and what: ids and paths, never arguments, state or keys. */
export interface FlowErrorData {
  readonly flow?: string;
  readonly runId?: string;
  /** The visit's path (`review#1`) or a node's name. */
  readonly node?: string;
  readonly [more: string]: unknown;
}

const brand = Symbol.for("@holdpoint/flow.error");

/** The base of everything this package throws. Told apart by `code`, across copies of the package (`isFlowError`). */
export class FlowError extends Error {
  override readonly name: string = "FlowError";
  readonly code: FlowErrorCode;
  readonly data: FlowErrorData;

  constructor(code: FlowErrorCode, message: string, data: FlowErrorData = {}, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.code = code;
    this.data = data;
    Object.defineProperty(this, brand, { value: true });
  }
}

/** A person, or a rule on a person's behalf, said no. Thrown at the call, or ends the run at a gate. */
export class ApprovalDenied extends FlowError {
  override readonly name = "ApprovalDenied";
}

/** The checkpoint belongs to another flow. */
export class GraphMismatchError extends FlowError {
  override readonly name = "GraphMismatchError";
}

/** The graph changed since the run paused; `data.differs` names the parts. */
export class GraphVersionMismatchError extends FlowError {
  override readonly name = "GraphVersionMismatchError";
}

/** The checkpoint belongs to another run than the one asked for. */
export class GraphRunMismatchError extends FlowError {
  override readonly name = "GraphRunMismatchError";
}

/** The run has ended: `completed`, `cancelled`, or `failed` (which only a retry continues). */
export class ResumeTerminalError extends FlowError {
  override readonly name = "ResumeTerminalError";
}

/** A run with this id is on record already. */
export class GraphRunExistsError extends FlowError {
  override readonly name = "GraphRunExistsError";
}

/** Somebody else wrote the next revision of this run; this process did nothing more. */
export class RevisionConflictError extends FlowError {
  override readonly name = "RevisionConflictError";
}

const classes = {
  FlowError,
  ApprovalDenied,
  GraphMismatchError,
  GraphVersionMismatchError,
  GraphRunMismatchError,
  ResumeTerminalError,
  GraphRunExistsError,
  RevisionConflictError,
};

/** Whether a value is an error of this package (of any copy of it), with this code where one is given. */
export function isFlowError(value: unknown, code?: FlowErrorCode): value is FlowError {
  if (typeof value !== "object" || value === null || !(brand in value)) return false;
  return code === undefined || (value as { readonly code?: unknown }).code === code;
}

// A replayed failure is an instance of the class that was thrown the first time (FLOW-32).
for (const [name, Class] of Object.entries(classes)) {
  registerErrorClass(name, Class, (info) => {
    const data = info.attributes["data"];
    return new Class(
      info.code as FlowErrorCode,
      info.message,
      typeof data === "object" && data !== null ? { ...data } : {},
    );
  });
}
