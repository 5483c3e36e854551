/** Every code of this package. Closed: a new one is a minor release. */
export type CliErrorCode =
  /** The command line can't be understood. Exit code 2. */
  | "usage"
  /** The config file is not there, fails, or exports what it may not. */
  | "config-invalid"
  /** The command needs something that the config does not export; `data.needs` names it. */
  | "config-lacks"
  /** A file of the command line can't be read or written. */
  | "file-unusable"
  /** There is nothing under that id. */
  | "not-found"
  /** No store can be opened there. */
  | "store-unusable";

const brand = Symbol.for("@holdpoint/cli.error");

/** The base of everything this package throws. Told apart by `code`, across copies of the package (`isCliError`). */
export class CliError extends Error {
  override readonly name = "CliError";
  readonly code: CliErrorCode;
  /** Names and paths, never arguments or keys. */
  readonly data: Readonly<Record<string, unknown>>;

  constructor(
    code: CliErrorCode,
    message: string,
    data: Readonly<Record<string, unknown>> = {},
    cause?: unknown,
  ) {
    super(message, cause === undefined ? undefined : { cause });
    this.code = code;
    this.data = data;
    Object.defineProperty(this, brand, { value: true });
  }
}

/** Whether a value is an error of this package, of that code where one is named. */
export function isCliError(value: unknown, code?: CliErrorCode): value is CliError {
  if (typeof value !== "object" || value === null || !(brand in value)) return false;
  return code === undefined || (value as object as CliError).code === code;
}
