import { differingInputs } from "../checkpoint/open.ts";
import { checkSealable } from "../checkpoint/seal.ts";
import { FlowError } from "../errors.ts";
import type { LiveRun } from "./live.ts";

/** What of a run was looked at before, in this process: its parts don't change once they are there. */
export interface Prepared {
  readonly sealed: WeakSet<object>;
  readonly pure: WeakSet<object>;
}

/**
 * Before anybody is asked: all that is known of the run is encoded, opened again and compared, and what the visits show is
 * evaluated a second time (FLOW-26, FLOW-63). The first time the whole; then what has come in since, and at the pause the
 * whole again: a run that asks for many things would look at each of them as often as there are others.
 * @throws FlowError `state-not-sealable`, `payload-not-pure`, and what the run was left by
 */
export function prepareSeal(live: LiveRun): void {
  live.assertAsks();
  const { state, graph, parts, prepared } = live;
  const pure = prepared?.pure ?? new WeakSet();
  live.prepared = { sealed: checkSealable(state, graph, parts, prepared?.sealed), pure };
  checkPure(live, pure);
}

/** @throws FlowError `payload-not-pure` */
export function checkPure(live: LiveRun, known?: WeakSet<object>): void {
  const differs = differingInputs(live.graph, live.state, live.parts, known);
  if (differs === undefined) return;
  const { visit, field } = differs;
  const { runId } = live.state.seed;
  throw new FlowError(
    "payload-not-pure",
    `the ${field} of ${visit.path} differs each time it is evaluated: what a person is shown must depend on the state alone`,
    { runId, node: visit.path, field },
  );
}
