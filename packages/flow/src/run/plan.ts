import type { ErrorInfo } from "@holdpoint/tools";

import type { Frame, VisitState } from "./state.ts";

/** A visit that failed, and nothing goes on from that. */
export interface FailedNode {
  /** The visit's path. */
  readonly node: string;
  readonly error: ErrorInfo;
}

/** What is to be done next in a frame. */
export type Step =
  | { readonly do: "visit"; readonly visits: readonly VisitState[] }
  | { readonly do: "fail"; readonly failed: readonly FailedNode[] }
  | { readonly do: "pause" }
  | { readonly do: "route" }
  | { readonly do: "complete" }
  | { readonly do: "dead-end" };

/**
 * Says, for a frame's state, what comes next; pure. A round settles whole before anything is routed (FLOW-11): first everything
 * that can run, then a failure ends the frame (FLOW-12), then what waits pauses it, then it is merged and routed.
 */
export function plan(frame: Frame): Step {
  if (frame.visits.length === 0) return { do: frame.endReached ? "complete" : "dead-end" };
  const [only] = frame.visits;
  if (frame.visits.length === 1 && only!.status === "ready")
    return { do: "visit", visits: frame.visits };
  let ready: VisitState[] | undefined;
  let failed: FailedNode[] | undefined;
  let waiting = false;
  for (const visit of frame.visits) {
    if (visit.status === "ready") (ready ??= []).push(visit);
    else if (visit.status === "waiting") waiting = true;
    else if (!visit.end.ok && visit.end.via === undefined)
      (failed ??= []).push({ node: visit.path, error: visit.end.error });
  }
  if (ready !== undefined) return { do: "visit", visits: ready };
  if (failed !== undefined) return { do: "fail", failed };
  return { do: waiting ? "pause" : "route" };
}
