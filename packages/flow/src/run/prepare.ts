import { checkInputs } from "../checkpoint/open.ts";
import { encodeState } from "../checkpoint/seal.ts";
import { FlowError, isFlowError } from "../errors.ts";
import type { LiveRun } from "./live.ts";

/**
 * Before anybody is asked: all that is known of the run is encoded, opened again and compared, and what the visits show is
 * evaluated a second time (FLOW-26, FLOW-63).
 * @throws FlowError `state-not-sealable`, `payload-not-pure`
 */
export function prepareSeal(live: LiveRun): void {
  encodeState(live.state, live.graph, live.parts);
  checkPure(live);
}

/** @throws FlowError `payload-not-pure` */
export function checkPure(live: LiveRun): void {
  try {
    checkInputs(live.graph, live.state, live.parts);
  } catch (error) {
    if (!isFlowError(error, "graph-version-mismatch")) throw error;
    const { runId, node, field } = error.data as { runId: string; node: string; field: string };
    throw new FlowError(
      "payload-not-pure",
      `the ${field} of ${node} differs each time it is evaluated: what a person is shown must depend on the state alone`,
      { runId, node, field },
    );
  }
}
