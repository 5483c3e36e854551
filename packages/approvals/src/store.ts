import type { Committer, Row } from "./commit.ts";

/**
 * Where approvals are kept. A store knows rows: key columns, a version, and texts that are sealed above it and opaque to it.
 *
 * Three tables, written through `commit` by the statements in `statements`:
 * - `approvals`: one row a record, keyed by its id, columns `ApprovalColumns`;
 * - `approvalKeys`: one row a call that was asked for, keyed by the request key, columns `KeyColumns`: it makes filing
 *   idempotent (APR-17), and counts;
 * - `approvalAudit`: one row a transition, keyed `<id>/<number>`, column `sealed`, only ever appended to (APR-22).
 *
 * Every read takes a scope and finds nothing of another one (APR-05). Every method throws `store-unavailable` and nothing
 * else. What is read is what was committed before the call began, or later.
 */
export interface ApprovalStore extends Committer {
  /** Whether its rows outlive this process: then the key that seals them has to as well (APR-28). */
  readonly durable: boolean;
  /** The record's row. */
  get(scope: string, id: string): Promise<Row | undefined>;
  /** The row of `approvalKeys` under a request key. */
  find(scope: string, requestKey: string): Promise<Row | undefined>;
  /**
   * As `get`, and the store's own time when it was read, in one way to the store. Optional, as `findNow`: for stores that are far
   * away. Without it `get` is asked, and then `now`.
   */
  readonly getNow?: (scope: string, id: string) => Promise<AsOf<Row | undefined>>;
  /** As `find` for each of these request keys, in their order, all as of one moment, and the store's own time when they were read. */
  readonly findNow?: (
    scope: string,
    requestKeys: readonly string[],
  ) => Promise<AsOf<readonly (Row | undefined)[]>>;
  /**
   * Rows of records that match, by `order`, past `page.after`. A row that matches from before the first page until after the
   * last one is on exactly one of them, whatever is added meanwhile (APR-23). The cost of a page of pending ones does not
   * grow with the number of decided ones.
   */
  list(scope: string, filter: ApprovalFilter, page: ApprovalPage): Promise<readonly Row[]>;
  /** Audit entries of a record, in order, those past number `after` first. */
  history(scope: string, id: string, after: number, limit: number): Promise<readonly Row[]>;
  /** Audit entries of a scope in the order they were committed, past position `after` (0: from the first) (APR-27). */
  changes(scope: string, after: number, limit: number): Promise<readonly StoredChange[]>;
  /** Position of the newest change of a scope; 0 where there is none. */
  lastChange(scope: string): Promise<number>;
  /**
   * Resolves when `changes(scope, after, 1)` would find something, and at once where it would now; also when `signal` aborts.
   * May resolve early: it only wakes.
   */
  wait(scope: string, after: number, signal: AbortSignal): Promise<void>;
}

/** What was read, and the store's own time when it was: milliseconds since 1970. */
export interface AsOf<T> {
  readonly found: T;
  readonly now: number;
}

/** The statements of this port. */
export const statements = {
  putRecord: "approvals.put",
  putKey: "approvalKeys.put",
  appendAudit: "approvalAudit.append",
} as const;

/** Columns of a record's row. All but `sealed` are indexes, compared with the sealed values at each read. */
export interface ApprovalColumns {
  readonly state: ApprovalState;
  readonly tool: string;
  readonly runId: string;
  readonly requestKey: string;
  readonly requestedAt: number;
  readonly expiresAt: number | null;
  readonly sealed: string;
}

/** Columns of `approvalKeys`. */
export interface KeyColumns {
  /** The newest record of that call. */
  readonly id: string;
  /** How often it was asked for while that record stood. */
  readonly asked: number;
}

export type ApprovalState = "pending" | "decided" | "consumed";

/** Which records to list; a member that is absent does not restrict. Checked before it reaches a store. */
export interface ApprovalFilter {
  readonly state?: ApprovalState;
  readonly tool?: string;
  readonly runId?: string;
  /** Asked before this time, milliseconds since 1970. */
  readonly requestedBefore?: number;
  /** With an expiry before this time. */
  readonly expiresBefore?: number;
}

/** `oldest`: by `requestedAt`; `newest`: the same backwards; `expiring`: by `expiresAt`, those without one last. Ties by id. */
export type ApprovalOrder = "oldest" | "newest" | "expiring";

export interface ApprovalPage {
  readonly order: ApprovalOrder;
  /** The place of the last row of the page before. */
  readonly after?: PagePlace;
  readonly limit: number;
}

/** Where a row is in an order: the value that orders it (`noExpiry` for a row without one), and its id. */
export interface PagePlace {
  readonly value: number;
  readonly id: string;
}

/** How a row without an expiry is ordered: past all that have one. */
export const noExpiry: number = Number.MAX_SAFE_INTEGER;

/** The place of a row in an order. */
export function placeOf(row: Row, order: ApprovalOrder): PagePlace {
  const value = order === "expiring" ? row.values["expiresAt"] : row.values["requestedAt"];
  return { value: typeof value === "number" ? value : noExpiry, id: row.key };
}

/** An audit entry with its place in the order of commits: whole, rising within a scope; gaps are allowed. */
export interface StoredChange {
  readonly position: number;
  readonly row: Row;
}

/** The key of a record's audit entry; numbers count from 1 and sort as text. */
export function auditKey(id: string, number: number): string {
  return `${id}/${String(number).padStart(8, "0")}`;
}
