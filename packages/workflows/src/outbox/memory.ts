import { memoryHome, type MemoryHome } from "@holdpoint/approvals";

import type { OutboxStore } from "./store.ts";

/** An outbox in memory; on a given home its rows commit with what they tell of. */
export function memoryOutbox(home: MemoryHome = memoryHome()): OutboxStore {
  return {
    home: home.home,
    now: () => home.now(),
    commit: (attemptId, writes) => home.commit(attemptId, writes),
    due: async (scope, now, limit) =>
      home
        .rows("outbox", scope) // by key, and sorting keeps that order
        .filter(({ values }) => values["state"] === "waiting" && Number(values["dueAt"]) <= now)
        .toSorted((a, b) => Number(a.values["dueAt"]) - Number(b.values["dueAt"]))
        .slice(0, limit),
  };
}
