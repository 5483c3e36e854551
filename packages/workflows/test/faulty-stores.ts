import {
  memoryApprovalStore,
  StoreUnavailable,
  type CommitOutcome,
  type MemoryHome,
  type Write,
} from "@holdpoint/approvals";
import { memoryRunLog } from "@holdpoint/flow";

import { memoryRunRegistry, type WorkflowStore } from "../src/index.ts";

/**
 * What goes wrong with one commit. `die-before`, `die-after`: the process dies around it, and nothing it does reaches the
 * stores any more. `lose-answer`: applied, and the caller is told `unknown`. `fail`: the store is away for this one.
 */
export type FaultKind = "die-before" | "die-after" | "lose-answer" | "fail";

/** The homes of the three stores; one three times, where everything commits together. */
export interface Homes {
  readonly approvals: MemoryHome;
  readonly log: MemoryHome;
  readonly runs: MemoryHome;
}

/** Stores as they are. */
export function storesOn({ approvals, log, runs }: Homes): WorkflowStore {
  return {
    approvals: memoryApprovalStore(approvals),
    log: memoryRunLog(log),
    runs: memoryRunRegistry(runs),
  };
}

export interface FaultyStores {
  readonly store: WorkflowStore;
  /** Commits so far, of all stores. */
  readonly commits: () => number;
  readonly died: Promise<void>;
}

/** Stores whose commit number `at` (from 1, over all of them) goes wrong; the homes beneath stay what they are. */
export function faultyStores(homes: Homes, at: number, kind: FaultKind): FaultyStores {
  let commits = 0;
  let dead = false;
  let tellDeath: () => void = () => undefined;
  const died = new Promise<void>((resolve) => (tellDeath = resolve));
  const never = new Promise<never>(() => undefined);
  const die = (): Promise<never> => {
    dead = true;
    tellDeath();
    return never;
  };
  const faulty = (home: MemoryHome): MemoryHome => {
    async function commit(attemptId: string, writes: readonly Write[]): Promise<CommitOutcome> {
      if (dead) return never;
      commits += 1;
      if (commits !== at) return home.commit(attemptId, writes);
      if (kind === "die-before") return die();
      if (kind === "fail") throw new StoreUnavailable("planned: the store is away");
      await home.commit(attemptId, writes);
      if (kind === "die-after") return die();
      return { status: "unknown", cause: new Error("planned: the answer was lost") };
    }
    return Object.assign(Object.create(home) as MemoryHome, { commit });
  };
  const { approvals, log, runs } = homes;
  return {
    store: storesOn({ approvals: faulty(approvals), log: faulty(log), runs: faulty(runs) }),
    commits: () => commits,
    died,
  };
}
