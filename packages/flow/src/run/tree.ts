import type { ExecutionState, SpentApproval } from "./journal.ts";
import { itemPath } from "./path.ts";
import type { RunState, VisitState } from "./state.ts";

/** An execution that is not over, with its path. */
export interface OpenExecution {
  readonly path: string;
  readonly execution: ExecutionState;
}

/** The executions of a visit that are not over: its own, or its items' by index. */
export function executionsIn(_run: RunState, visit: VisitState): OpenExecution[] {
  if (visit.status === "finished") return [];
  const { path, execution, items } = visit;
  if (items === undefined) return [{ path, execution }];
  return items.flatMap((item, index) =>
    "execution" in item ? [{ path: itemPath(path, index), execution: item.execution }] : [],
  );
}

/** The approvals that a visit which is not over has spent so far, its items that ended included (FLOW-55). */
export function approvalsIn(run: RunState, visit: VisitState): SpentApproval[] {
  if (visit.status === "finished") return [];
  const ended = (visit.items ?? []).flatMap((item) =>
    "approvals" in item ? (item.approvals ?? []) : [],
  );
  const open = executionsIn(run, visit).flatMap(({ execution }) =>
    execution.journal.flatMap(({ approval }) => (approval === undefined ? [] : [approval])),
  );
  return [...ended, ...open];
}
