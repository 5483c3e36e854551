import type { RunStatus } from "./store.ts";

/** Why a run moves: its own progress, or somebody's word that a failed one is to be tried again. */
export type MoveBy = "progress" | "retry";

/** WF-10, as a table: where a run may go on its own, and what `retry` alone opens. */
const moves: Readonly<Record<RunStatus, Readonly<Record<MoveBy, readonly RunStatus[]>>>> = {
  pending: { progress: ["running", "cancelled", "failed"], retry: [] },
  running: { progress: ["interrupted", "completed", "failed", "cancelled"], retry: [] },
  interrupted: { progress: ["running", "cancelled", "failed"], retry: [] },
  completed: { progress: [], retry: [] },
  failed: { progress: [], retry: ["running"] },
  cancelled: { progress: [], retry: [] },
};

/** All statuses, in the order of a run's life. */
export const runStatuses: readonly RunStatus[] = Object.keys(moves) as RunStatus[];

/** Whether a run may move so in one step. */
export function mayMove(from: RunStatus, to: RunStatus, by: MoveBy = "progress"): boolean {
  return moves[from][by].includes(to);
}

/** Whether a run gets from one status to another by its own progress, over any others: what a registry that fell behind may do. */
export function mayReach(from: RunStatus, to: RunStatus): boolean {
  const seen = new Set<RunStatus>();
  const open: RunStatus[] = [...moves[from].progress];
  for (let at = open.pop(); at !== undefined; at = open.pop()) {
    if (at === to) return true;
    if (seen.has(at)) continue;
    seen.add(at);
    open.push(...moves[at].progress);
  }
  return false;
}

/** Whether a run has ended; a failed one may still be retried. */
export function isTerminal(status: RunStatus): boolean {
  return moves[status].progress.length === 0;
}
