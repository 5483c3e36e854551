/** Every code of this package. Closed: a new one is a minor release. */
export type WorkflowErrorCode =
  | "begin-failed"
  | "checkpoint-rolled-back"
  | "cursor-invalid"
  | "definition-invalid"
  | "export-invalid"
  | "filter-invalid"
  | "input-invalid"
  | "interrupt-unclear"
  | "key-required"
  | "lease-lost"
  | "log-missing"
  | "needs-a-person"
  | "no-interrupt-waits"
  | "not-active"
  | "option-invalid"
  | "output-invalid"
  | "record-tampered"
  | "resume-not-taken"
  | "run-moved"
  | "run-not-completed"
  | "run-not-found"
  | "schema-not-describable"
  | "session-owned"
  | "start-key-taken"
  | "status-wrong"
  | "store-unavailable"
  | "unknown-definition";

/** Where and what: ids, names and paths, never inputs, states or keys. */
export interface WorkflowErrorData {
  readonly definition?: string;
  readonly version?: string;
  readonly runId?: string;
  readonly [more: string]: unknown;
}

const brand = Symbol.for("@holdpoint/workflows.error");

/** The base of everything this package throws. Told apart by `code`, across copies of the package (`isWorkflowError`). */
export class WorkflowError extends Error {
  override readonly name: string = "WorkflowError";
  readonly code: WorkflowErrorCode;
  readonly data: WorkflowErrorData;

  constructor(
    code: WorkflowErrorCode,
    message: string,
    data: WorkflowErrorData = {},
    cause?: unknown,
  ) {
    super(message, cause === undefined ? undefined : { cause });
    this.code = code;
    this.data = data;
    Object.defineProperty(this, brand, { value: true });
  }
}

/** Which document was refused. */
export type Boundary = "input" | "resume";

/** One thing against a document: where, and what the schema or the reader says. */
export interface InputIssue {
  /** `order.items.3.price`; empty for the document itself. */
  readonly path: string;
  readonly message: string;
}

/** A document from outside that was not taken; nothing had seen it but its reader and its schema (WF-02). */
export class InvalidInputError extends WorkflowError {
  override readonly name = "InvalidInputError";
  readonly boundary: Boundary;
  readonly issues: readonly InputIssue[];

  constructor(boundary: Boundary, issues: readonly InputIssue[], cause?: unknown) {
    const where = issues.map(({ path }) => (path === "" ? "(whole)" : path)).join(", ");
    super("input-invalid", `the ${boundary} is not valid: see ${where}`, { boundary }, cause);
    this.boundary = boundary;
    this.issues = issues;
    // What a schema says may quote what somebody typed, and errors travel to logs.
    Object.defineProperty(this, "issues", { value: issues, enumerable: false });
  }
}

/** The start key belongs to a run that began with another input. */
export class StartKeyTakenError extends WorkflowError {
  override readonly name = "StartKeyTakenError";
}

/** A session belongs to another process: what only its owner may do is not done here. */
export class SessionOwnedError extends WorkflowError {
  override readonly name = "SessionOwnedError";
  readonly session: string;
  /** Of the owner that stands; 0 where that is not known here. */
  readonly epoch: number;

  constructor(session: string, epoch: number) {
    const message = `session '${session}' is held by another process, or by nobody yet`;
    super("session-owned", message, { session, epoch });
    this.session = session;
    this.epoch = epoch;
  }
}

/** The class that an error of a code has. */
export type WorkflowErrorOf<C extends WorkflowErrorCode> = [C] extends ["input-invalid"]
  ? InvalidInputError
  : [C] extends ["start-key-taken"]
    ? StartKeyTakenError
    : [C] extends ["session-owned"]
      ? SessionOwnedError
      : WorkflowError;

/** Whether a value is an error of this package (of any copy of it), with this code where one is given. */
export function isWorkflowError<C extends WorkflowErrorCode = WorkflowErrorCode>(
  value: unknown,
  code?: C,
): value is WorkflowErrorOf<C> {
  if (typeof value !== "object" || value === null || !(brand in value)) return false;
  return code === undefined || (value as { readonly code?: unknown }).code === code;
}
