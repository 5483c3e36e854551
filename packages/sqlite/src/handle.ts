import type { Cell } from "@holdpoint/approvals";

/** What a statement is given: each of its names, and nothing else. */
export type Binds = Readonly<Record<string, Cell>>;

/** A prepared statement, as `StatementSync` of `node:sqlite` is one. */
export interface SqliteStatement {
  run(...binds: Cell[]): { readonly changes: number | bigint };
  get(...binds: Cell[]): unknown;
  all(...binds: Cell[]): unknown[];
}

/**
 * An open database, as `DatabaseSync` of `node:sqlite` is one: a handle of the caller's own. It must not be used by several
 * threads, nor over a fork. While a commit of this package runs, nothing else runs in the thread.
 */
export interface SqliteHandle {
  exec(sql: string): unknown;
  prepare(sql: string): SqliteStatement;
  /** Whether a transaction is open on it. */
  readonly isTransaction: boolean;
  close(): void;
}
