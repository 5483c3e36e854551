/**
 * Paths address executions: a visit `node#1`, a map's item `node#1[0]`, and a nested run within either, `<that>/flow.0`, with
 * visits of its own after another `/`. Names hold none of these marks, so a path is read without looking anything up.
 */
import type { Frame, OpenVisit, RunState, VisitState } from "./state.ts";

/** The frame that a visit's or an item's path lies in. */
export function frameAt(run: RunState, path: string): Frame {
  const end = path.lastIndexOf("/");
  if (end < 0) return run;
  const frame = run.frames.get(path.slice(0, end));
  if (frame === undefined) throw new Error(`no nested run ${path.slice(0, end)} is under way`);
  return frame;
}

/** The path of a visit in a frame. */
export function visitPath(frame: Frame, node: string, number: number): string {
  return frame.path === "" ? `${node}#${number}` : `${frame.path}/${node}#${number}`;
}

/** The visit of this path in its frame's current round. */
export function visitAt(run: RunState, path: string): VisitState {
  const visit = frameAt(run, path).visits.find((candidate) => candidate.path === path);
  if (visit === undefined) throw new Error(`no visit ${path} in this round`);
  return visit;
}

/** The same, where it has not finished. */
export function openVisitAt(run: RunState, path: string): OpenVisit {
  const visit = visitAt(run, path);
  if (visit.status === "finished") throw new Error(`visit ${path} has finished`);
  return visit;
}
