/**
 * Errors of this package: one base, a closed union of codes, data in fields.
 *
 * Messages carry paths, statements and SQLite's own words for a failure; never a cell.
 */

/** Every code of this package. Add at the end; a code's meaning never changes. */
export type SqliteErrorCode =
  /** From any port: nothing was changed; `reason` says why. Trying again may help. */
  | "store-unavailable"
  /** From `commit`: a write that no store could keep as it is. A mistake of the caller. */
  | "write-invalid"
  /** The folder of the file is not there. */
  | "directory-missing"
  /** The path is not a file. */
  | "file-not-regular"
  /** The file, or its folder, can't be read or written by this process. */
  | "file-not-writable"
  /** The file belongs to another program: not a SQLite database, or not one of this package. Nothing was changed in it. */
  | "file-foreign"
  /** The file is one of this package and damaged. */
  | "file-damaged"
  /** A newer release of this package has written the file; see `found` and `known`. */
  | "schema-newer"
  /** Another process held the file for longer than opening may wait. */
  | "file-locked"
  /** An option or handle that can't be used. */
  | "option-invalid";

/** Why a store could not do its work. */
export type UnavailableReason =
  | "busy"
  | "closed"
  | "damaged"
  | "full"
  | "in-transaction"
  | "io"
  | "read-only"
  | "other";

/** Data of an error beside its code and message; what is absent is not known. */
export interface SqliteErrorFields {
  readonly path?: string;
  readonly reason?: UnavailableReason;
  /** Schema versions: of the file, and the newest that this release knows. */
  readonly found?: number;
  readonly known?: number;
  readonly cause?: unknown;
}

const brand = Symbol.for("@holdpoint/sqlite.error");
/**
 * The mark by which approvals, runners and supervisors know what a port throws. It is written out here because stores take
 * no code from the layers; any store makes it the same way.
 */
const portBrand = Symbol.for("@holdpoint/approvals.error");
const portCodes = new Set<SqliteErrorCode>(["store-unavailable", "write-invalid"]);

/** Base of all errors of this package. Recognise one with {@link isSqliteError}, not by its class. */
export class SqliteStoreError extends Error {
  override readonly name = "SqliteStoreError";
  readonly code: SqliteErrorCode;
  readonly path: string | undefined;
  readonly reason: UnavailableReason | undefined;
  readonly found: number | undefined;
  readonly known: number | undefined;

  constructor(code: SqliteErrorCode, message: string, fields: SqliteErrorFields = {}) {
    super(message, "cause" in fields ? { cause: fields.cause } : undefined);
    this.code = code;
    this.path = fields.path;
    this.reason = fields.reason;
    this.found = fields.found;
    this.known = fields.known;
    Object.defineProperty(this, brand, { value: true });
    if (portCodes.has(code)) Object.defineProperty(this, portBrand, { value: true });
  }
}

/** Whether a value is an error of this package, of any copy of it; with `code`, of that code. */
export function isSqliteError(value: unknown, code?: SqliteErrorCode): value is SqliteStoreError {
  if (typeof value !== "object" || value === null || !Object.hasOwn(value, brand)) return false;
  return code === undefined || Reflect.get(value, "code") === code;
}
