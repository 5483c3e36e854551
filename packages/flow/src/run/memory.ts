import { memoryHome, type MemoryHome } from "@holdpoint/approvals";

import { logKey, type RunLog } from "./log.ts";

/** A run log in memory; on a given home it commits together with the other stores there. Nothing outlives the process. */
export function memoryRunLog(home: MemoryHome = memoryHome()): RunLog {
  return {
    durable: false,
    home: home.home,
    now: () => home.now(),
    commit: (attemptId, writes) => home.commit(attemptId, writes),
    async read(scope, runId, after, limit) {
      const rows = home.rows("log", scope, {
        prefix: `${runId}/`,
        after: logKey(runId, after),
        limit,
      });
      return rows.map(({ values }) => ({
        revision: Number(values["revision"]),
        text: String(values["text"]),
      }));
    },
    async snapshot(scope, runId) {
      const row = home.row("snapshots", scope, runId);
      if (row === undefined) return undefined;
      const { revision, text } = row.values;
      return { version: row.version, revision: Number(revision), text: String(text) };
    },
    async head(scope, runId) {
      return Number(
        home.rows("log", scope, { prefix: `${runId}/` }).at(-1)?.values["revision"] ?? 0,
      );
    },
  };
}
