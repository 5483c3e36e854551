import { SqliteStoreError, type UnavailableReason } from "./errors.ts";

/** SQLite's primary result codes, of which the lower byte of an extended code is one. */
const reasons: ReadonlyMap<number, UnavailableReason> = new Map([
  [5, "busy"],
  [6, "busy"],
  [8, "read-only"],
  [10, "io"],
  [11, "damaged"],
  [13, "full"],
  [14, "io"],
  [26, "damaged"],
]);

const constraint = 19;

/** SQLite's primary result code of a driver's error; undefined for anything else. */
export function resultCodeOf(error: unknown): number | undefined {
  if (typeof error !== "object" || error === null) return undefined;
  const code: unknown = Reflect.get(error, "errcode");
  return typeof code === "number" ? code & 0xff : undefined;
}

export function isBusy(error: unknown): boolean {
  const code = resultCodeOf(error);
  return code !== undefined && reasons.get(code) === "busy";
}

/** Why a driver's error happened. */
export function reasonOf(error: unknown): UnavailableReason {
  if (typeof error === "object" && error !== null) {
    // The driver's own: the handle was closed.
    if (Reflect.get(error, "code") === "ERR_INVALID_STATE") return "closed";
  }
  const code = resultCodeOf(error);
  return (code !== undefined ? reasons.get(code) : undefined) ?? "other";
}

/** A driver's error as the one that ports throw; errors of this package pass as they are. */
export function unavailable(error: unknown, doing: string): SqliteStoreError {
  if (error instanceof SqliteStoreError) return error;
  if (resultCodeOf(error) === constraint) {
    const says = error instanceof Error ? error.message : "a constraint";
    return new SqliteStoreError("write-invalid", `the schema refuses a write: ${says}`, {
      cause: error,
    });
  }
  const reason = reasonOf(error);
  return new SqliteStoreError("store-unavailable", `${doing} failed: ${reason}`, {
    reason,
    cause: error,
  });
}
