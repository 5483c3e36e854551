import { isFlowError, type FlowErrorCode } from "@holdpoint/flow";
import { errorInfo } from "@holdpoint/tools";

import { isWorkflowError } from "../errors.ts";
import { failureOf, type Failure, type RunRecord } from "../registry/record.ts";

/** What is wrong with the run's own log or graph, and stays so whoever tries (WF-23). */
const definite: ReadonlySet<FlowErrorCode> = new Set([
  "checkpoint-rolled-back",
  "checkpoint-tampered",
  "graph-mismatch",
  "graph-run-mismatch",
  "graph-version-mismatch",
  "state-invalid",
]);

/** What says nothing about the run: it may go on later, or elsewhere. */
const indefinite: ReadonlySet<FlowErrorCode> = new Set([
  "aborted",
  "revision-conflict",
  "run-exists",
  "store-unavailable",
]);

/**
 * The failure that an error makes of a run, where the log says none: one that will be the same at every try. A run that has
 * no log yet fails by whatever refuses to begin it, stores apart.
 */
export function failureBy(error: unknown, { standing }: RunRecord): Failure | undefined {
  const ofLog = isFlowError(error) && definite.has(error.code);
  const atStart =
    standing.status === "pending" &&
    ((isFlowError(error) && !indefinite.has(error.code)) || isWorkflowError(error, "begin-failed"));
  return ofLog || atStart ? failureOf(errorInfo(error)) : undefined;
}
