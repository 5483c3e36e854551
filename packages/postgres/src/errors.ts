/**
 * Errors of this package: one base, a closed union of codes, data in fields.
 *
 * Messages carry names of schemas, statements' first words and Postgres's own for a failure; never a cell, never a URL.
 */

/** Every code of this package. Add at the end; a code's meaning never changes. */
export type PostgresErrorCode =
  /** From any port: nothing was changed; `reason` says why. Trying again may help. */
  | "store-unavailable"
  /** From `commit`: a write that no store could keep as it is. A mistake of the caller. */
  | "write-invalid"
  /** The schema belongs to another program. Nothing was changed in it. */
  | "schema-foreign"
  /** A newer release of this package has written the schema; see `found` and `known`. */
  | "schema-newer"
  /** The database keeps texts in another encoding than UTF-8, so not all of them. */
  | "database-encoding"
  /** An option, URL or pool that can't be used. */
  | "option-invalid";

/** Why a store could not do its work. */
export type UnavailableReason =
  /** A lock was held, or commits met, for longer than a statement may wait. */
  | "busy"
  | "closed"
  /** Refused or lost; the server may be restarting. */
  | "connection"
  /** A table or column of the schema is gone, or a value in it is none of ours. */
  | "damaged"
  | "full"
  | "permission"
  /** A pooler gave the connection to somebody else between two statements: see `behindPooler`. */
  | "pooler"
  | "read-only"
  | "timeout"
  | "other";

/** Data of an error beside its code and message; what is absent is not known. */
export interface PostgresErrorFields {
  readonly schema?: string;
  readonly reason?: UnavailableReason;
  /** Versions of the schema: in the database, and the newest that this release knows. */
  readonly found?: number;
  readonly known?: number;
  readonly cause?: unknown;
}

const brand = Symbol.for("@holdpoint/postgres.error");
/**
 * The mark by which approvals, runners and supervisors know what a port throws. It is written out here because stores take
 * no code from the layers; any store makes it the same way.
 */
const portBrand = Symbol.for("@holdpoint/approvals.error");
const portCodes = new Set<PostgresErrorCode>(["store-unavailable", "write-invalid"]);

/** Base of all errors of this package. Recognise one with {@link isPostgresError}, not by its class. */
export class PostgresStoreError extends Error {
  override readonly name = "PostgresStoreError";
  readonly code: PostgresErrorCode;
  readonly schema: string | undefined;
  readonly reason: UnavailableReason | undefined;
  readonly found: number | undefined;
  readonly known: number | undefined;

  constructor(code: PostgresErrorCode, message: string, fields: PostgresErrorFields = {}) {
    super(message, "cause" in fields ? { cause: fields.cause } : undefined);
    this.code = code;
    this.schema = fields.schema;
    this.reason = fields.reason;
    this.found = fields.found;
    this.known = fields.known;
    Object.defineProperty(this, brand, { value: true });
    if (portCodes.has(code)) Object.defineProperty(this, portBrand, { value: true });
  }
}

/** Whether a value is an error of this package, of any copy of it; with `code`, of that code. */
export function isPostgresError(
  value: unknown,
  code?: PostgresErrorCode,
): value is PostgresStoreError {
  if (typeof value !== "object" || value === null || !Object.hasOwn(value, brand)) return false;
  return code === undefined || Reflect.get(value, "code") === code;
}
