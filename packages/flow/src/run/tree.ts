/**
 * Walks what a run is doing: visits, items and nested runs, in node, item and call order.
 */
import type { ExecutionState, NestedRun, SpentApproval } from "./journal.ts";
import { itemPath } from "./path.ts";
import type { Frame, NestedFrame, RunState, VisitState } from "./state.ts";

/** An execution that is not over, with its path. */
export interface OpenExecution {
  readonly path: string;
  readonly execution: ExecutionState;
}

/** A visit's own executions: one, or one an item. */
export function ownExecutions(visit: VisitState): OpenExecution[] {
  if (visit.status === "finished") return [];
  const { path, execution, items } = visit;
  if (items === undefined) return [{ path, execution }];
  return items.flatMap((item, index) =>
    "execution" in item ? [{ path: itemPath(path, index), execution: item.execution }] : [],
  );
}

/** The nested runs that a visit's own executions have under way. */
export function nestedIn(visit: VisitState): NestedRun[] {
  return ownExecutions(visit).flatMap(({ execution }) => execution.nested);
}

/** A nested run's frame, and those within it, the outer ones first. */
export function framesIn(run: RunState, nested: NestedRun): NestedFrame[] {
  const frame = run.frames.get(nested.path);
  if (frame === undefined) return [];
  const within = frame.visits.flatMap(nestedIn).flatMap((inner) => framesIn(run, inner));
  return [frame, ...within];
}

/** Every frame of a run, its own first. */
export function framesOf(run: RunState): Frame[] {
  if (run.frames.size === 0) return [run];
  return [run, ...run.visits.flatMap(nestedIn).flatMap((nested) => framesIn(run, nested))];
}

/** The executions of a visit that are not over, those of nested runs after the one that began them. */
export function executionsIn(run: RunState, visit: VisitState): OpenExecution[] {
  const own = ownExecutions(visit);
  if (run.frames.size === 0) return own;
  return own.flatMap((open) => [
    open,
    ...open.execution.nested.flatMap(({ path }) => executionsOf(run, run.frames.get(path)!)),
  ]);
}

/** The executions of a frame that are not over. */
function executionsOf(run: RunState, frame: Frame): OpenExecution[] {
  return frame.visits.flatMap((visit) => executionsIn(run, visit));
}

/** The approvals that visits which are not over have spent so far, items that ended included (FLOW-55). */
export function approvalsIn(
  visits: readonly VisitState[],
): { path: string; approval: SpentApproval }[] {
  return visits.flatMap((visit) => {
    if (visit.status === "finished") return [];
    const ended = (visit.items ?? []).flatMap((item) =>
      "approvals" in item ? (item.approvals ?? []) : [],
    );
    const open = ownExecutions(visit).flatMap(({ execution }) =>
      execution.journal.flatMap(({ approval }) => (approval === undefined ? [] : [approval])),
    );
    return [...ended, ...open].map((approval) => ({ path: visit.path, approval }));
  });
}
