const brand = Symbol.for("@holdpoint/tools.error");

/** The codes of this package's own errors. A caller's subclass may have its own besides. */
export type ToolErrorCode =
  /** The arguments don't fit the schema; nobody was asked, nothing ran. */
  | "arguments-invalid"
  /** A person, or a rule, said no. */
  | "approval-denied"
  /** `confirm` wants a person, and the executor has no approval port. */
  | "no-approver"
  | "guard-refused"
  /** Between approval and execution (TOOL-12): what would run is not what was approved. */
  | "arguments-changed"
  /** … the approval is older than `useWithinMs`. */
  | "approval-stale"
  /** … the tool's rule, as it is now, forbids the call. */
  | "rule-forbids"
  /** … the tool's rule, as it is now, asks for more than this decision gives. */
  | "approval-insufficient"
  /** … the tool's own `revalidate` refused. */
  | "revalidation-refused"
  /** … the executor does not offer the tool any more. */
  | "tool-withdrawn"
  /** … another attempt has used the approval. */
  | "approval-spent"
  /** … there is no record of the approval: nobody was ever asked. */
  | "approval-not-found"
  /** … its record says that people have yet to decide. */
  | "approval-undecided"
  /** … the store's answer was lost and could not be had again; nothing ran. */
  | "approval-unknown"
  | "edit-invalid"
  | "timed-out"
  | "cancelled"
  /** `execute` threw. */
  | "failed"
  /** `execute` ran, and its result does not fit the output schema. */
  | "output-invalid"
  /** A tool, guard or error class that can't be: a mistake in the program. */
  | "definition-invalid"
  | "not-a-tool"
  /** A tool made by another copy of this package, whose `execute` this copy can't reach. */
  | "foreign-tool";

export interface ToolErrorInit {
  readonly code?: string;
  /**
   * Data that callers branch on or show; what can't be sealed is left out when it is recorded.
   * Never arguments.
   */
  readonly attributes?: Readonly<Record<string, unknown>>;
  /** Whether trying again may help (default: no). */
  readonly retryable?: boolean;
  readonly cause?: unknown;
}

/**
 * The base of every error of this package, and of a caller's own that are to be rebuilt by class
 * (`registerErrorClass`).
 */
export class ToolError extends Error {
  /** The class's name in whatever build: minifiers rename classes. A subclass gives its own. */
  static readonly errorName: string = "ToolError";
  // A union open at its end: a caller's own subclass has codes of its own.
  readonly code: ToolErrorCode | (string & {});
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly retryable: boolean;

  constructor(message: string, init: ToolErrorInit = {}) {
    super(message, "cause" in init ? { cause: init.cause } : undefined);
    this.code = init.code ?? "failed";
    this.attributes = Object.freeze({ ...init.attributes });
    this.retryable = init.retryable ?? false;
    Object.defineProperty(this, "name", {
      value: new.target.errorName,
      configurable: true,
      writable: true,
    });
    Object.defineProperty(this, brand, { value: true });
  }
}

/** The arguments don't fit the tool's schema; `attributes.issues` says where. */
export class ToolArgumentsError extends ToolError {
  static override readonly errorName: string = "ToolArgumentsError";
}

/**
 * A person or a rule denied the call; `attributes`: who, when, the note, whether for the whole run.
 */
export class ToolDeniedError extends ToolError {
  static override readonly errorName: string = "ToolDeniedError";
}

/** A guard refused the call; `attributes.guard` names it. */
export class ToolGuardError extends ToolError {
  static override readonly errorName: string = "ToolGuardError";
}

/** The dispatch check refused what had been approved; the code says which part of it. */
export class ToolDispatchError extends ToolError {
  static override readonly errorName: string = "ToolDispatchError";
}

/** An attempt outlived `timeoutMs`; whether its effect took place is not known. */
export class ToolTimedOutError extends ToolError {
  static override readonly errorName: string = "ToolTimedOutError";
}

/**
 * The caller's signal was aborted; `attributes.started` says whether `execute` had been entered.
 */
export class ToolCancelledError extends ToolError {
  static override readonly errorName: string = "ToolCancelledError";
}

/** `execute` threw something without a class of its own here; `name` is the thrown one's. */
export class ToolFailedError extends ToolError {
  static override readonly errorName: string = "ToolFailedError";
}

/** `execute` ran and gave what the output schema refuses; `attributes.issues` says where. */
export class ToolOutputError extends ToolError {
  static override readonly errorName: string = "ToolOutputError";
}

/**
 * A mistake in the program: a tool, guard or class that can't be, or an executor without what the
 * tool needs.
 */
export class ToolDefinitionError extends ToolError {
  static override readonly errorName: string = "ToolDefinitionError";
}

/** Recognises an error of this package, of whatever copy of it, and optionally by code. */
export function isToolError(value: unknown, code?: ToolErrorCode): value is ToolError {
  try {
    // No object at all throws here, as a proxy may: nobody's error.
    const marked = brand in (value as object);
    return marked && (code === undefined || (value as { code?: unknown }).code === code);
  } catch {
    return false;
  }
}
