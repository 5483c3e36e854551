import type { Committer, Write } from "@holdpoint/approvals";

/**
 * Where a durable run's events are kept (FLOW-72). It is appended to through `commit` alone, with writes made here, so
 * that other ports' writes can go along; stores keep the sealed texts and know nothing of what is in them.
 */
export interface RunLog extends Committer {
  /** Whether it outlives the process: then a key of the process's own is refused. */
  readonly durable: boolean;
  /** Entries after a revision, in order, at most `limit`. @throws `store-unavailable` */
  read(scope: string, runId: string, after: number, limit: number): Promise<readonly LogRow[]>;
  /** The number of the run's last entry; 0: there is no such run. @throws `store-unavailable` */
  head(scope: string, runId: string): Promise<number>;
  /** The run's newest snapshot; absent where none was taken. @throws `store-unavailable` */
  snapshot(scope: string, runId: string): Promise<SnapshotRow | undefined>;
  /**
   * What a run is taken up from, as of one moment and in one way to the store: its newest snapshot, and entries from the one that
   * it is of on, or from the first where there is none, at most `limit`. Optional: without it `snapshot` is asked, and then `read`.
   * @throws `store-unavailable`
   */
  readonly tail?: (scope: string, runId: string, limit: number) => Promise<LogTail>;
}

export interface LogTail {
  readonly snapshot: SnapshotRow | undefined;
  readonly rows: readonly LogRow[];
}

/** A run's state as of an entry, sealed: what is read instead of the entries before it. */
export interface SnapshotRow {
  /** Of the row. */
  readonly version: number;
  /** The entry that it is the state after. */
  readonly revision: number;
  readonly text: string;
}

export interface LogRow {
  readonly revision: number;
  /** The sealed entry. */
  readonly text: string;
}

/** The write that appends one entry; refused where its revision is taken (FLOW-75). */
export function appendWrite(scope: string, runId: string, revision: number, text: string): Write {
  return {
    statement: "log.append",
    scope,
    key: logKey(runId, revision),
    expect: 0,
    values: { run: runId, revision, text },
  };
}

/** The write that puts a snapshot in the place of the one before. */
export function snapshotWrite(
  scope: string,
  runId: string,
  { version, revision, text }: SnapshotRow,
): Write {
  return {
    statement: "snapshots.put",
    scope,
    key: runId,
    expect: version - 1,
    values: { revision, text },
  };
}

/** A key that sorts by revision, for stores that keep rows in key order. */
export function logKey(runId: string, revision: number): string {
  return `${runId}/${String(revision).padStart(12, "0")}`;
}
