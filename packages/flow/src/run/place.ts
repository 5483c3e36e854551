import type { Graph } from "../graph/flow.ts";
import type { LiveRun } from "./live.ts";
import type { Frame } from "./state.ts";

/** A frame where it is performed: in which run, and by which graph. */
export interface Place {
  readonly live: LiveRun;
  readonly graph: Graph;
  readonly frame: Frame;
  /** Smaller bounds on visits of single nodes, as they were sealed. */
  readonly nodeVisits: Readonly<Record<string, number>>;
  /** Aborted when the run is, or when the time of an execution around this frame is over. */
  readonly signal: AbortSignal;
}

/** The run itself. */
export function rootPlace(live: LiveRun): Place {
  const { graph, state, signal } = live;
  const { nodeVisits } = state.seed.settings;
  return { live, graph, frame: state, nodeVisits, signal };
}
