import type { ErrorInfo } from "@holdpoint/tools";

import type { State } from "../graph/node.ts";
import type { Answered, RunSeed, VisitEnd, VisitInputs } from "./event.ts";
import type { ExecutionState, Kept, SpentApproval } from "./journal.ts";

/** One execution of a node in one round. */
export type VisitState = VisitBase &
  (
    | ({ status: "ready" } & OpenState)
    | ({ status: "waiting" } & OpenState)
    | { status: "finished"; end: VisitEnd }
  );

interface OpenState {
  inputs: VisitInputs | undefined;
  execution: ExecutionState;
  /** A map's, by index. */
  items?: ItemState[];
}

/** One item of a map. */
export type ItemState =
  /** Nothing of it is on record. */
  | { readonly status: "queued" }
  | { status: "ready" | "waiting"; execution: ExecutionState }
  | EndedItem;

/** Its value or its failure is kept, and the approvals that its calls spent (FLOW-55); its journal is not. */
export type EndedItem = { readonly approvals?: readonly SpentApproval[] } & (
  | { readonly status: "finished"; readonly value: Kept }
  | { readonly status: "failed"; readonly reason: "denied" | "failed"; readonly error: ErrorInfo }
);

export type OpenVisit = Exclude<VisitState, { status: "finished" }>;

interface VisitBase {
  readonly node: string;
  /** Which visit of this node in its frame, from 1. */
  readonly number: number;
  /** `node#number`, after its frame's path. */
  readonly path: string;
}

/**
 * Where a run stands (FLOW-60).
 * `routed`: the next round is known and nothing of it begun. `running`: a round is under way. `paused`: people are
 * waited for. `ended`: nothing more happens.
 */
export type Phase =
  | { readonly is: "routed" }
  | { readonly is: "running" }
  | { readonly is: "paused" }
  | { readonly is: "ended"; readonly how: "completed" }
  | {
      readonly is: "ended";
      readonly how: "failed";
      readonly error: ErrorInfo;
      readonly node: string | undefined;
    }
  | { readonly is: "ended"; readonly how: "cancelled"; readonly reason: string };

export interface Counters {
  /** Rounds begun, those of nested runs included. */
  rounds: number;
  /** Calls executed: replays cost nothing. */
  calls: number;
  /** What they cost, as their tools say. */
  cost: number;
}

/** One flow that is being performed: the run's own, or a nested one's. */
export interface Frame {
  /** Before the paths of its visits: empty for the run itself, else `outer#1/inner.0`. */
  readonly path: string;
  state: State;
  /** The visits of this round, in declaration order. */
  visits: VisitState[];
  /** Joins that are due and wait, in declaration order (FLOW-10). */
  held: readonly string[];
  /** Whether some visit reached an end. */
  endReached: boolean;
  /** Visits begun, by node. */
  visited: Record<string, number>;
}

/** Where a run stands, its nested runs included: what a fork begins from. Whoever takes it in owns it. */
export interface Stand extends Frame {
  /** Nested runs under way, at whatever depth, by path: flat, so that an event finds its frame at once. */
  frames: Map<string, NestedFrame>;
}

/** A nested run that is under way. */
export interface NestedFrame extends Frame {
  /** Smaller bounds on visits of single nodes, sealed at its start (FLOW-43). */
  readonly nodeVisits: Readonly<Record<string, number>>;
}

/** The fold of a run's events; owned by who folds, and changed in place (a copy each time would be quadratic). */
export interface RunState extends Stand {
  seed: RunSeed;
  readonly startedAt: number;
  /** The number of the last event. */
  revision: number;
  phase: Phase;
  readonly counters: Counters;
  /** A settle that was announced and not confirmed yet; only where approvals live in another database. */
  settling: { readonly attemptId: string; readonly answers: readonly Answered[] } | undefined;
  /** Attempts that were ever announced so: the commit of any of them may still arrive. Absent: none was. */
  announced?: string[];
}
