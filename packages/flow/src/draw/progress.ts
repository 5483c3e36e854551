/**
 * How far a run has come, node by node (FLOW-09): of the latest visit of each, by what a checkpoint shows or by what was
 * told of the run.
 */
import type { CheckpointView } from "../checkpoint/checkpoint.ts";
import type { RunEvent } from "../run/event.ts";
import type { RunNotice } from "../run/notice.ts";

export type NodeProgress = "done" | "running" | "waiting" | "failed";

/** What a checkpoint (or its JSON) shows, or everything that was told of a run, or its history. */
export type Progress =
  | Pick<CheckpointView, "counters" | "frontier" | "pendings">
  | readonly (RunNotice | RunEvent)[];

/** Nodes that were visited; the others were not reached. */
export function progressOf(run: Progress): ReadonlyMap<string, NodeProgress> {
  return "frontier" in run ? shownBy(run) : toldBy(run);
}

function shownBy({
  counters,
  frontier,
  pendings,
}: Pick<CheckpointView, "counters" | "frontier" | "pendings">): Map<string, NodeProgress> {
  const progress = new Map<string, NodeProgress>();
  for (const node of Object.keys(counters.visits)) progress.set(node, "done");
  // A visit of this round that nobody is asked for has finished; its update is not merged yet.
  for (const path of frontier) progress.set(nodeOf(path), "done");
  for (const { path } of pendings) progress.set(nodeOf(path), "waiting");
  return progress;
}

function toldBy(events: readonly (RunNotice | RunEvent)[]): Map<string, NodeProgress> {
  const progress = new Map<string, NodeProgress>();
  for (const event of events) {
    if (event.type === "answered") {
      for (const [node, is] of progress) if (is === "waiting") progress.set(node, "running");
    }
    if (!("visit" in event) || event.visit === undefined || inner(event.visit)) continue;
    const is = after(event);
    if (is !== undefined) progress.set(nodeOf(event.visit), is);
  }
  return progress;
}

function after(event: RunNotice | RunEvent): NodeProgress | undefined {
  switch (event.type) {
    case "visit-started":
      return "running";
    case "visit-waiting":
      return "waiting";
    case "visit-finished":
      return ("end" in event ? event.end.ok : event.ok) === true ? "done" : "failed";
    default:
      return undefined;
  }
}

/** Whether a path is of something within a visit: an item, or a visit of a nested run. */
function inner(path: string): boolean {
  return path.includes("/") || path.includes("[");
}

/** The node of the outermost visit. */
function nodeOf(path: string): string {
  return path.slice(0, path.indexOf("#"));
}
