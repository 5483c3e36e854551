import {
  memoryApprovalStore,
  StoreUnavailable,
  type ApprovalStore,
  type CommitOutcome,
} from "@holdpoint/approvals";

/** What a commit meets: `down`: nothing happened; `lost`: it stands, and its answer was lost. */
export type Trouble = "down" | "lost";

/** A store in memory whose next commits can be made to fail. */
export function breakingStore(): ApprovalStore & {
  fail: (...troubles: Trouble[]) => void;
  reset: () => void;
  /** Runs this once, between what was planned and the next commit. */
  meanwhile: (happens: () => Promise<unknown>) => void;
} {
  const inner = memoryApprovalStore();
  const troubles: Trouble[] = [];
  let between: (() => Promise<unknown>) | undefined;
  return Object.assign(Object.create(inner) as ApprovalStore, {
    fail: (...next: Trouble[]) => void troubles.push(...next),
    reset: () => void troubles.splice(0),
    meanwhile: (happens: () => Promise<unknown>) => void (between = happens),
    async commit(...how: Parameters<ApprovalStore["commit"]>): Promise<CommitOutcome> {
      const happens = between;
      between = undefined;
      await happens?.();
      const trouble = troubles.shift();
      if (trouble === "down") throw new StoreUnavailable("connection refused");
      const outcome = await inner.commit(...how);
      return trouble === "lost" ? { status: "unknown", cause: new Error("answer lost") } : outcome;
    },
  });
}
