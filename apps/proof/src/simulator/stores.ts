import { memoryApprovalStore, type ApprovalStore, type MemoryHome } from "@holdpoint/approvals";
import { memoryRunLog, type RunLog } from "@holdpoint/flow";
import {
  memoryLeaseStore,
  memoryRunRegistry,
  type LeaseStore,
  type RunRegistry,
} from "@holdpoint/workflows";

/** The databases of a world; the same home twice where they are one. */
export interface Homes {
  readonly approvals: MemoryHome;
  readonly log: MemoryHome;
  readonly runs: MemoryHome;
}

export interface Stores {
  readonly approvals: ApprovalStore;
  readonly log: RunLog;
  readonly runs: RunRegistry;
  readonly leases: LeaseStore;
}

export function storesOn({ approvals, log, runs }: Homes): Stores {
  return {
    approvals: memoryApprovalStore(approvals),
    log: memoryRunLog(log),
    runs: memoryRunRegistry(runs),
    leases: memoryLeaseStore(log), // a fence is judged where the lease's row is
  };
}
