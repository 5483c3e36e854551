import type { AnyTool } from "@holdpoint/tools";

import type { Graph } from "../graph/flow.ts";
import type { Driven } from "./drive.ts";
import type { Made } from "./identity.ts";
import type { SpentApproval } from "./journal.ts";
import type { LiveRun } from "./live.ts";
import type { Frame } from "./state.ts";

/** A frame where it is performed: in which run, by which graph, and within what. */
export interface Place {
  readonly live: LiveRun;
  readonly graph: Graph;
  readonly frame: Frame;
  /** Smaller bounds on visits of single nodes, as they were sealed. */
  readonly nodeVisits: Readonly<Record<string, number>>;
  /** Aborted when the run is, or when the time of an execution around this frame is over. */
  readonly signal: AbortSignal;
  /** The execution that this nested run is within. */
  readonly within: Around | undefined;
  /** How many runs this one is within. */
  readonly depth: number;
  /** Performs a frame; handed down, since what drives visits is begun by them too. */
  readonly drive: (place: Place) => Promise<Driven>;
}

/** What a nested run needs of the execution around it. */
export interface Around {
  /** Whether its code, and with it what is within, may be run again although it was cut off. */
  readonly mayRunAgain: boolean;
  /** A call within is about to have its effect; answers that it has ended. */
  enteringWithin(made: Made, tool: AnyTool): (() => void) | undefined;
  /** An approval is being spent within. */
  spending(ending: Promise<unknown>): void;
  /** An approval was spent within for a call that was cut off before it was entered. */
  leftUnused(approval: SpentApproval): void;
}

/** The run itself. */
export function rootPlace(live: LiveRun, drive: Place["drive"]): Place {
  const { graph, state, signal } = live;
  const { nodeVisits } = state.seed.settings;
  return { live, graph, frame: state, nodeVisits, signal, within: undefined, depth: 0, drive };
}
