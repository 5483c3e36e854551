import { isSealError } from "@holdpoint/seal";

import type { Flow, FlowState } from "../graph/flow.ts";
import { checkpointOf } from "../checkpoint/seal.ts";
import type { Checkpoint } from "../checkpoint/checkpoint.ts";
import type { Wait } from "./journal.ts";
import type { LiveRun } from "./live.ts";
import type { Performed } from "./perform.ts";
import { revealed } from "./reveal.ts";
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
  const pendings = openWaits(run).map(({ path, wait }) =>
    pendingOf(path, wait, shown(live, path, wait)),
  );
  return {
    status: "paused",
    runId,
    pending: pendings[0]!,
    pendings: Object.freeze(pendings),
    checkpoint: checkpointOf(run, performed.text, () => run.state),
  };
}

/** What a person is shown, where the classes in it are within reach: a function node's tool is known to its code alone. */
function shown(live: LiveRun, node: string, wait: Wait): { readonly value: unknown } | undefined {
  const { parts, graph, state } = live;
  const where = { runId: state.seed.runId, node };
  try {
    return { value: revealed(wait.arguments, parts.sealer, graph.reachable, where) };
  } catch (error) {
    if (isSealError(error, "class-not-allowed")) return undefined;
    throw error;
  }
}
