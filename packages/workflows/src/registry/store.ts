import type { Committer, Row, Write } from "@holdpoint/approvals";

/**
 * Where runs are listed. A registry knows rows: key columns, a version, and a text that is sealed above it and opaque to it.
 *
 * Two tables, written through `commit` by the writes made here:
 * - `runs`: one row a run, keyed by its id, columns `RunColumns`, by compare-and-set on the row's version (WF-10);
 * - `runKeys`: one row a start key, keyed `<definition>/<key>`, columns `RunKeyColumns`, written once and together with the
 *   run's first row: it makes starting idempotent (WF-12).
 *
 * Every read takes a scope and finds nothing of another one. Every method throws `store-unavailable` and nothing else. What
 * is read is what was committed before the call began, or later.
 */
export interface RunRegistry extends Committer {
  /** Whether its rows outlive this process: then the key that seals them has to as well. */
  readonly durable: boolean;
  /** The run's row. */
  get(scope: string, runId: string): Promise<Row | undefined>;
  /** The row of `runKeys` of a definition's start key. */
  find(scope: string, definition: string, key: string): Promise<Row | undefined>;
  /**
   * Rows of runs that match, by `order`, past `page.after`. A row that matches and keeps its place from before the first page
   * until after the last one is on exactly one of them, whatever is added meanwhile.
   */
  list(scope: string, filter: RunFilter, page: RunPage): Promise<readonly Row[]>;
  /**
   * Rows of a session's runs that are to be looked at by `until`, by `dueAt` and then id, past `page.after`. What it costs goes by
   * what is due, not by what waits: its owner asks again and again (WF-26, WF-28).
   */
  due(scope: string, session: string, until: number, page: DuePage): Promise<readonly Row[]>;
}

/** The statements of this port. */
export const runStatements = {
  putRun: "runs.put",
  putKey: "runKeys.put",
} as const;

/** Where a run stands; the moves between them are in `run.ts`. */
export type RunStatus =
  | "pending"
  | "running"
  | "interrupted"
  | "completed"
  | "failed"
  | "cancelled";

/** Columns of a run's row. All but `sealed` are indexes, compared with the sealed values at each read. */
export interface RunColumns {
  readonly definition: string;
  readonly version: string;
  readonly status: RunStatus;
  /** The session whose owner works on it; null: of none. */
  readonly session: string | null;
  readonly startKey: string | null;
  /** Milliseconds since 1970. */
  readonly createdAt: number;
  readonly updatedAt: number;
  /** When its owner has to look at it though nobody says anything, by the store's clock; 0: at once; null: never. */
  readonly dueAt: number | null;
  readonly sealed: string;
}

/** Columns of `runKeys`. */
export interface RunKeyColumns {
  readonly runId: string;
}

/** Which runs to list; a member that is absent does not restrict. Checked before it reaches a registry. */
export interface RunFilter {
  readonly status?: RunStatus;
  /** A definition's name, all its versions. */
  readonly definition?: string;
  readonly session?: string;
}

/** `oldest` and `newest` go by `createdAt`, `stalest` and `latest` by `updatedAt`; ties by id, in the same direction. */
export type RunOrder = "oldest" | "newest" | "stalest" | "latest";

export interface RunPage {
  readonly order: RunOrder;
  /** The place of the last row of the page before. */
  readonly after?: RunPlace;
  readonly limit: number;
}

/** A page of what is due. */
export type DuePage = Omit<RunPage, "order">;

/** Where a row is in an order: the time that orders it, and its id. */
export interface RunPlace {
  readonly value: number;
  readonly id: string;
}

/** The column that an order goes by, and whether it goes backwards. */
export function orderOf(order: RunOrder): {
  readonly column: "createdAt" | "updatedAt";
  readonly descending: boolean;
} {
  return {
    column: order === "oldest" || order === "newest" ? "createdAt" : "updatedAt",
    descending: order === "newest" || order === "latest",
  };
}

/** The place of a row in an order. */
export function runPlaceOf(row: Row, order: RunOrder): RunPlace {
  return { value: Number(row.values[orderOf(order).column]), id: row.key };
}

/** The place of a row among those that are due. */
export function duePlaceOf(row: Row): RunPlace {
  return { value: Number(row.values["dueAt"]), id: row.key };
}

/** The key of a start key's row. Names of definitions hold no slash, so no two pairs share one. */
export function startKeyOf(definition: string, key: string): string {
  return `${definition}/${key}`;
}

/** The write that makes a run's row stand; refused where another version does. */
export function runWrite(scope: string, runId: string, expect: number, columns: RunColumns): Write {
  return {
    statement: runStatements.putRun,
    scope,
    key: runId,
    expect,
    values: { ...columns },
  };
}

/** The write that takes a start key for a run; refused where it is taken (WF-12). */
export function runKeyWrite(scope: string, definition: string, key: string, runId: string): Write {
  return {
    statement: runStatements.putKey,
    scope,
    key: startKeyOf(definition, key),
    expect: 0,
    values: { runId },
  };
}
