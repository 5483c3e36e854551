import { PostgresStoreError, type UnavailableReason } from "./errors.ts";

/** SQLSTATEs and, where they end in a star, classes of them. */
const reasons: readonly (readonly [string, UnavailableReason])[] = [
  ["08*", "connection"],
  ["57P*", "connection"],
  ["53300", "connection"],
  ["55P03", "busy"],
  ["40001", "busy"],
  ["40P01", "busy"],
  ["57014", "timeout"],
  ["25P03", "timeout"],
  ["53100", "full"],
  ["25006", "read-only"],
  ["42501", "permission"],
  ["28*", "permission"],
  ["26000", "pooler"],
  ["42P05", "pooler"],
  ["42P01", "damaged"],
  ["42703", "damaged"],
  ["3F000", "damaged"],
  ["XX001", "damaged"],
  ["XX002", "damaged"],
];

/** SQLSTATEs of statements that the server has taken back, whatever the language that it speaks. */
const takenBack = /^(22|23|25|42|55|P0)...$|^(40001|40P01|57014|53100)$/;

/** The SQLSTATE of a driver's error; undefined for what no server said. */
export function stateOf(error: unknown): string | undefined {
  if (typeof error !== "object" || error === null) return undefined;
  const code: unknown = Reflect.get(error, "code");
  // Node's own codes (`ECONNRESET`) are no states.
  const isState = typeof code === "string" && /^[0-9A-Z]{5}$/.test(code);
  return isState && typeof Reflect.get(error, "severity") === "string" ? code : undefined;
}

/** Whether a commit may be tried again as it is: it met another one, and was taken back. */
export function isConflict(error: unknown): boolean {
  const state = stateOf(error);
  return state === "40001" || state === "40P01";
}

/**
 * Whether the server itself said that a statement failed and was taken back. Everything else (a lost connection, a server that
 * ends, silence) leaves open what became of it.
 */
export function isTakenBack(error: unknown): boolean {
  const state = stateOf(error);
  if (state === undefined || state.startsWith("57P") || state === "25P03") return false;
  return takenBack.test(state) || Reflect.get(Object(error), "severity") === "ERROR";
}

/** Why a driver's error happened. */
function reasonOf(error: unknown): UnavailableReason {
  const state = stateOf(error);
  if (state !== undefined) {
    const found = reasons.find(([of]) =>
      of.endsWith("*") ? state.startsWith(of.slice(0, -1)) : state === of,
    );
    return found?.[1] ?? "other";
  }
  // The pool's own words; anything else that no server said is about the way to it.
  if (error instanceof Error && error.message.includes("after calling end")) return "closed";
  return "connection";
}

/** A driver's error as the one that ports throw; errors of this package pass as they are. */
export function unavailable(error: unknown, doing: string): PostgresStoreError {
  if (error instanceof PostgresStoreError) return error;
  const reason = reasonOf(error);
  return new PostgresStoreError("store-unavailable", `${doing} failed: ${reason}`, {
    reason,
    cause: error,
  });
}

/** As `unavailable`, for a commit: what a column or constraint refuses is the writer's mistake. */
export function notCommitted(error: unknown): PostgresStoreError {
  const state = stateOf(error);
  if (state === undefined || !/^2[23]/.test(state)) return unavailable(error, "a commit");
  const constraint: unknown = Reflect.get(Object(error), "constraint");
  const by = typeof constraint === "string" ? `the constraint ${constraint}` : `SQLSTATE ${state}`;
  return new PostgresStoreError("write-invalid", `the schema refuses a write: ${by}`, {
    cause: error,
  });
}

/** A row that this package can't have written. */
export function damaged(what: string): PostgresStoreError {
  return new PostgresStoreError("store-unavailable", what, { reason: "damaged" });
}
