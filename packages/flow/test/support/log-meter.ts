import type { Write } from "@holdpoint/approvals";

import { memoryRunLog, type RunLog } from "../../src/index.ts";

export interface LogMeter {
  readonly log: RunLog;
  /** Characters written so far, of entries and of snapshots, and how many of these. */
  readonly written: { entries: number; snapshots: number; snapshotCount: number };
  /** Commits so far. */
  readonly commits: () => number;
  /** Entries read since the last call. */
  readonly read: () => number;
  /** From commit `number` on nothing is answered any more, as for a process that died before it. */
  readonly dieAt: (number: number) => Promise<void>;
}

/** A run log in memory that is measured, and can die. */
export function logMeter(inner: RunLog = memoryRunLog()): LogMeter {
  const written = { entries: 0, snapshots: 0, snapshotCount: 0 };
  let commits = 0;
  let read = 0;
  let deathAt = Infinity;
  let died: () => void = () => undefined;
  const count = (writes: readonly Write[]): void => {
    for (const { statement, values } of writes) {
      const chars = String(values["text"] ?? "").length;
      if (statement === "log.append") written.entries += chars;
      if (statement !== "snapshots.put") continue;
      written.snapshots += chars;
      written.snapshotCount += 1;
    }
  };
  const log: RunLog = {
    durable: inner.durable,
    home: inner.home,
    now: () => inner.now(),
    head: (scope, runId) => inner.head(scope, runId),
    snapshot: (scope, runId) => inner.snapshot(scope, runId),
    async read(scope, runId, after, limit) {
      const rows = await inner.read(scope, runId, after, limit);
      read += rows.length;
      return rows;
    },
    commit(attemptId, writes) {
      commits += 1;
      if (commits >= deathAt) {
        died();
        return new Promise(() => undefined);
      }
      count(writes);
      return inner.commit(attemptId, writes);
    },
  };
  return {
    log,
    written,
    commits: () => commits,
    read() {
      const since = read;
      read = 0;
      return since;
    },
    dieAt(number) {
      deathAt = number;
      return new Promise((resolve) => (died = resolve));
    },
  };
}
