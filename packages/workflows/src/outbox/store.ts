import type { Committer, Row, Write } from "@holdpoint/approvals";

/**
 * What is to be told of runs: one row a move, put by the very commit of the move, and marked once it was handed over (WF-36).
 * Written through `commit` by the writes made here. Every method throws `store-unavailable` and nothing else.
 */
export interface OutboxStore extends Committer {
  /** Rows that wait and are due by `now`, by `dueAt`, ties by key. What was handed over costs it nothing. */
  due(scope: string, now: number, limit: number): Promise<readonly Row[]>;
}

/** The statement of this port. */
export const putOutbox = "outbox.put";

/** Columns of a row. All but `sealed` are indexes. */
export interface OutboxColumns {
  readonly state: "waiting" | "done";
  /** When it is to be handed over next, milliseconds since 1970; 0: at once. */
  readonly dueAt: number;
  /** How often that was begun. */
  readonly tries: number;
  readonly sealed: string;
}

/** The write that puts a row under its delivery id; one that is there stays as it is. */
export function outboxWrite(scope: string, id: string, sealed: string): Write {
  const columns: OutboxColumns = { state: "waiting", dueAt: 0, tries: 0, sealed };
  return { statement: putOutbox, scope, key: id, expect: "any", values: { ...columns } };
}

/** The write that moves a row from where it stands. */
export function outboxMove(scope: string, row: Row, to: Partial<OutboxColumns>): Write {
  const values = { ...row.values, ...to };
  return { statement: putOutbox, scope, key: row.key, expect: row.version, values };
}
