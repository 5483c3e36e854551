/**
 * Commits are data (APR-29): ports hand back writes, and a store applies all of a list or none of it.
 *
 * C1 A write names a row, the version that must stand there, and what stands afterwards. A version is the number of
 *    writes that made the row: 0 is "no such row yet".
 * C2 `commit(attemptId, writes)` applies every write or none, in one transaction; nothing but statements runs in it.
 * C3 The attempt id is kept with what it wrote. Repeating an attempt whose writes stand answers `done`, so a caller whose
 *    answer was lost finds out by asking again under the same id (APR-26).
 * C4 What a fence or a time limit refuses is checked inside the statement, by the store's own clock and epochs, never by
 *    a read before it. Epochs are those of the table `leases`, which every store keeps: one row a lease, keyed by its name.
 * C5 Writes of several ports commit together exactly where those ports have the same `home`.
 * C6 Where several things forbid a write, the refusal names the first of: version, fence, time. The first refused write
 *    in the order of the list is the one named.
 * C7 A write counts as this attempt's own where its row shows the attempt at the version it made. Once one row of a list shows
 *    it, the whole list counts as applied, since all or none were: rows that have moved on, and rows that are not there, are
 *    left as they are. So a commit with an append-only row in it (an audit entry, a log entry) is recognised for ever; and an
 *    attempt that comes twice at once with two lists applies one of them, not one and a part of the other.
 */

import { ApprovalError } from "./errors.ts";
import { isId, isKey, isStorableText, limits } from "./limits.ts";

/** The ownership under which a write is made: refused once the lease `name`, of the write's scope, has a newer epoch. */
export interface Fence {
  readonly name: string;
  readonly epoch: number;
}

/** A column's value. Stores hold no other kinds: texts, safe integers, nothing. */
export type Cell = string | number | null;

/** One row changed by compare-and-set. Plain data, so it can be logged by name, compared and replayed. */
export interface Write {
  /**
   * What is done, from the closed list of the port that made it: `approvals.put`, `log.append` …; the part before the dot
   * is the table, and every statement sets one row under its expected version (an append expects 0).
   */
  readonly statement: string;
  readonly scope: string;
  /** The row. */
  readonly key: string;
  /** The version that must stand (0: no row); `"any"`: write if absent, and let a row that is there be. */
  readonly expect: number | "any";
  /** The row's columns afterwards, by name; the store adds the version and the attempt. */
  readonly values: Readonly<Record<string, Cell>>;
  /** Refused (`late`) when the store's clock reads this or more; milliseconds since 1970. */
  readonly before?: number;
  /** Refused (`early`) while the store's clock reads less than this; milliseconds since 1970. */
  readonly from?: number;
  readonly fence?: Fence;
}

/** Columns of a lease's row. What takes and gives leases is the business of the layer whose work they guard. */
export interface LeaseColumns {
  /** Of the owner that stands, and of no owner before: rises by one with each that takes it. */
  readonly epoch: number;
  /** Who holds it; null: nobody. */
  readonly owner: string | null;
  /** When it lapses by the store's clock, milliseconds since 1970. */
  readonly until: number;
}

/** The statement that puts a lease's row. */
export const putLease = "leases.put";

/** A row as a store gives it back. */
export interface Row {
  readonly key: string;
  readonly version: number;
  /** The attempt that made this version. */
  readonly attempt: string;
  readonly values: Readonly<Record<string, Cell>>;
}

/** Why a write was refused: another version stands, its time was over or has not come, or a newer owner holds the fence. */
export type Refusal =
  | { readonly because: "version"; readonly stands: Row | undefined }
  | { readonly because: "late" | "early"; readonly now: number }
  | { readonly because: "fenced"; readonly epoch: number };

/**
 * What became of a commit. `unknown`: the answer was lost, everything or nothing was applied; repeat it under the same
 * attempt id to learn which. Stores throw nothing here but `store-unavailable` (nothing was applied).
 */
export type CommitOutcome =
  | { readonly status: "done"; readonly repeated: boolean }
  | { readonly status: "refused"; readonly write: number; readonly refusal: Refusal }
  | { readonly status: "unknown"; readonly cause: unknown };

/** The part of every store that changes something. */
export interface Committer {
  /** The database behind it: two ports with the same `home` (by identity) commit together. */
  readonly home: object;
  /** The store's own clock, milliseconds since 1970 (STORE-15). @throws `store-unavailable` */
  now(): Promise<number>;
  /** Applies all of `writes` or none. An empty list is `done`. @throws `store-unavailable` when certainly nothing was applied. */
  commit(attemptId: string, writes: readonly Write[]): Promise<CommitOutcome>;
}

/** The version of a row as it stands: 0 where there is none. */
export function versionOf(row: Row | undefined): number {
  return row?.version ?? 0;
}

const statementForm = /^([A-Za-z][A-Za-z0-9]*)\.[a-z]+$/;

/** The table that a statement is about: `approvals` of `approvals.put`. */
export function tableOf(statement: string): string {
  return statement.slice(0, statement.indexOf("."));
}

/**
 * Refuses what no store could keep as it is, the same way in front of every store: ids of the checked alphabet, cells that
 * are texts, safe integers or null, and no version of a row made twice.
 *
 * @throws ApprovalError `write-invalid`
 */
export function assertWrites(attemptId: string, writes: readonly Write[]): void {
  if (!isId(attemptId)) throw invalid("an attempt id");
  if (writes.length > limits.writesMax) throw invalid(`a list of ${writes.length} writes`);
  if (writes.length > 1) assertDistinct(writes);
  for (const write of writes) {
    if (!statementForm.test(write.statement)) throw invalid("a statement");
    if (!isId(write.scope)) throw invalid(`a scope in ${write.statement}`);
    if (!isKey(write.key)) throw invalid(`a key in ${write.statement}`);
    if (write.expect !== "any" && !isVersion(write.expect)) {
      throw invalid(`an expected version in ${write.statement}`);
    }
    for (const [name, cell] of Object.entries(write.values)) {
      if (!isCell(cell)) throw invalid(`the column ${name} in ${write.statement}`);
    }
  }
}

// Two writes that make the same version of one row would each look like the repetition of the other.
function assertDistinct(writes: readonly Write[]): void {
  const made = new Set<string>();
  for (const { statement, scope, key, expect } of writes) {
    made.add(`${tableOf(statement)}\n${scope}\n${key}\n${expect === "any" ? 0 : expect}`);
  }
  if (made.size < writes.length) throw invalid("a list that writes one version of a row twice");
}

function invalid(what: string): ApprovalError {
  return new ApprovalError("write-invalid", `${what} has a form that stores do not keep`);
}

function isVersion(value: number): boolean {
  return Number.isSafeInteger(value) && value >= 0;
}

function isCell(value: unknown): value is Cell {
  if (typeof value === "string") return isStorableText(value);
  return value === null || (Number.isSafeInteger(value) && !Object.is(value, -0));
}
