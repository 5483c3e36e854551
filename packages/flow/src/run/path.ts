/**
 * Paths address executions: a visit `node#1`, a map's item `node#1[0]`, and a nested run within either, `<that>/flow.0`, with
 * visits of its own after another `/`. Names hold none of these marks, so a path is read without looking anything up.
 */
import { newExecution, type ExecutionState } from "./journal.ts";
import type { Frame, ItemState, OpenVisit, RunState, Stand, VisitState } from "./state.ts";

/** The path of a visit in a frame. */
export function visitPath(frame: Frame, node: string, number: number): string {
  return frame.path === "" ? `${node}#${number}` : `${frame.path}/${node}#${number}`;
}

/** The path of an item of a map's visit. */
export function itemPath(visit: string, index: number): string {
  return `${visit}[${index}]`;
}

/** The index of an item; `undefined` for the path of a visit. */
function itemIndex(path: string): number | undefined {
  return path.endsWith("]") ? Number(path.slice(path.lastIndexOf("[") + 1, -1)) : undefined;
}

/** The frame that a visit's or an item's path lies in. */
export function frameAt(run: Stand, path: string): Frame {
  if (run.frames.size === 0) return run;
  const end = path.lastIndexOf("/");
  if (end < 0) return run;
  const frame = run.frames.get(path.slice(0, end));
  if (frame === undefined) throw new Error(`no nested run ${path.slice(0, end)} is under way`);
  return frame;
}

/** The visit of this path, or of this item, in its frame's current round. */
export function visitAt(run: Stand, path: string): VisitState {
  const whole = path.endsWith("]") ? path.slice(0, path.lastIndexOf("[")) : path;
  for (const visit of frameAt(run, path).visits) if (visit.path === whole) return visit;
  throw new Error(`no visit ${path} in this round`);
}

/** The same, where it has not finished. */
export function openVisitAt(run: RunState, path: string): OpenVisit {
  const visit = visitAt(run, path);
  if (visit.status === "finished") throw new Error(`visit ${path} has finished`);
  return visit;
}

/** An item as it stands, with the list it is in. */
export function itemAt(
  run: RunState,
  path: string,
): { readonly items: ItemState[]; readonly index: number } {
  const items = openVisitAt(run, path).items ?? [];
  const index = itemIndex(path) ?? -1;
  if (items[index] === undefined) throw new Error(`no item ${path}`);
  return { items, index };
}

/** Something with an execution of its own that is not over. */
export interface Open {
  status: "ready" | "waiting";
  execution: ExecutionState;
}

/** The visit or item of this path, begun if it was not. */
export function openAt(run: RunState, path: string): Open {
  if (!path.endsWith("]")) return openVisitAt(run, path);
  const { items, index } = itemAt(run, path);
  return openItem(items, index, path);
}

/** The same for an item whose place is known. */
export function openItem(items: ItemState[], index: number, path: string): Open {
  const item = items[index]!;
  switch (item.status) {
    case "queued": {
      const begun: Open = { status: "ready", execution: newExecution() };
      items[index] = begun;
      return begun;
    }
    case "finished":
    case "failed":
      throw new Error(`item ${path} has ended`);
    default:
      return item;
  }
}

/** Makes an execution ready to run again, and everything that it is within (FLOW-30). */
export function wake(run: RunState, path: string): void {
  for (let at = path; ;) {
    if (at.endsWith("]")) openAt(run, at).status = "ready";
    openVisitAt(run, at).status = "ready";
    const frame = at.lastIndexOf("/");
    if (frame < 0) return;
    at = at.slice(0, at.lastIndexOf("/", frame - 1)); // what the nested run is within
  }
}
