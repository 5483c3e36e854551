import { isFlowError, type FlowErrorCode } from "../errors.ts";
import type { LiveRun } from "./live.ts";

const endings: ReadonlySet<FlowErrorCode> = new Set([
  "depth-budget",
  "no-approver",
  "payload-not-pure",
  "round-budget",
  "state-not-sealable",
  "visit-budget",
]);

/** Which faults are the run's own; all others leave a durable run as its log stands, for whoever takes it up (R2 of `perform.ts`). */
export function endsRun(fault: unknown, live: LiveRun): boolean {
  return !live.durable || (isFlowError(fault) && endings.has(fault.code));
}
