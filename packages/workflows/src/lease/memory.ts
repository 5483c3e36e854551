import { memoryHome, type MemoryHome } from "@holdpoint/approvals";

import type { LeaseStore } from "./store.ts";

/** Leases in memory, for processes that are one: they end with it. On a given home they fence what stands there. */
export function memoryLeaseStore(home: MemoryHome = memoryHome()): LeaseStore {
  return {
    home: home.home,
    now: () => home.now(),
    commit: (attemptId, writes) => home.commit(attemptId, writes),
    get: async (scope, name) => home.row("leases", scope, name),
    list: async (scope, page) => home.rows("leases", scope, page),
  };
}
