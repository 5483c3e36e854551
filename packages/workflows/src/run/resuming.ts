import { checkValue } from "../definition/boundary.ts";
import { takesNone, workflowFacts, type Workflow } from "../definition/define.ts";
import { WorkflowError } from "../errors.ts";
import type { Parts } from "./parts.ts";
import { placeOf } from "./reading.ts";

/**
 * Answers an interrupt with a payload: everything is checked before anything is spent (WF-22). Approvals are no interrupts:
 * `decide` answers those, so a run that waits for nothing else refuses every payload.
 * @throws InvalidInputError; WorkflowError `run-not-found`, `unknown-definition`, `status-wrong`, `resume-not-taken`,
 *   `no-interrupt-waits`
 */
export async function resumeRun(
  { access, definitions }: Parts,
  definition: Workflow,
  runId: string,
  payload: unknown,
): Promise<never> {
  const { record } = await access.require(runId);
  const { facts, standing } = record;
  const exact = definitions.exactly(facts.definition, facts.version, runId);
  if (standing.status !== "interrupted" || exact !== definitions.resolve(definition)) {
    throw new WorkflowError("status-wrong", `run ${runId} is ${placeOf(record)}`, { runId });
  }
  const { resume, limits } = workflowFacts(exact);
  if (resume === undefined) throw takesNone(exact.name, exact.version); // WF-04
  await checkValue("resume", resume, payload, limits);
  throw new WorkflowError(
    "no-interrupt-waits",
    `run ${runId} waits for approvals, and a payload answers interrupts only: decide those`,
    { runId },
  );
}
