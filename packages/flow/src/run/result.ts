import type { Flow, FlowState } from "../graph/flow.ts";
import { checkpointOf } from "../checkpoint/seal.ts";
import type { Checkpoint } from "../checkpoint/checkpoint.ts";
import type { LiveRun } from "./live.ts";
import type { Performed } from "./perform.ts";
import { openWaits, pendingOf, type Pending } from "./pending.ts";

/** How `run`, `resume` and `adopt` end where nothing failed; plain data (FLOW-07, FLOW-21). */
export type RunResult<F = Flow> =
  | { readonly status: "completed"; readonly runId: string; readonly state: FlowState<F> }
  | {
      readonly status: "paused";
      readonly runId: string;
      /** The first of `pendings`. */
      readonly pending: Pending;
      /** Everything that waits, in node, item and call order. */
      readonly pendings: readonly Pending[];
      readonly checkpoint: Checkpoint;
    };

/** What a caller gets of a run that was performed. */
export function resultOf<F extends Flow>(live: LiveRun, performed: Performed): RunResult<F> {
  const { state: run } = live;
  const { runId } = run.seed;
  if (performed.status === "completed") {
    return { status: "completed", runId, state: run.state as FlowState<F> };
  }
  const pendings = openWaits(run).map((waiting) => pendingOf(live, waiting));
  return {
    status: "paused",
    runId,
    pending: pendings[0]!,
    pendings: Object.freeze(pendings),
    checkpoint: checkpointOf(run, performed.text, () => run.state, performed.sealed),
  };
}
