/**
 * A checkpoint of a durable run, passed back by value. The run goes on in its log, from the very revision that the checkpoint
 * shows: what happened since belongs to whoever went on before (FLOW-54).
 */
import { FlowError, RevisionConflictError } from "../errors.ts";
import { alreadyStands, standingOf } from "./already.ts";
import type { RunEvent } from "./event.ts";
import type { RunState } from "./state.ts";

/**
 * Whether a run still stands where a checkpoint shows it.
 * @throws ApprovalAlreadyDecided where somebody answered since; RevisionConflictError where the run moved on otherwise; FlowError
 *   `checkpoint-rolled-back` where the log is older than the checkpoint
 */
export async function checkRevision(
  state: RunState,
  revision: number,
  history: () => Promise<readonly RunEvent[]>,
): Promise<void> {
  const { runId } = state.seed;
  if (state.revision === revision || state.phase.is === "ended") return; // an ended run is refused by its phase
  if (state.revision < revision) {
    throw new FlowError(
      "checkpoint-rolled-back",
      `the log of run ${runId} ends before the checkpoint: older rows were put back`,
      { runId, revision },
    );
  }
  const since = (await history()).slice(revision);
  const answered = since.find((event) => event.type === "answered");
  const answer = answered?.answers[0];
  if (answered !== undefined && answer !== undefined)
    throw alreadyStands(standingOf(answer, answered.at));
  throw movedOn(runId, revision, since);
}

function movedOn(
  runId: string,
  revision: number,
  since: readonly RunEvent[],
): RevisionConflictError {
  const what = since.map((event) => event.type).join(", ");
  return new RevisionConflictError(
    "revision-conflict",
    `run ${runId} moved on since this checkpoint: ${what}`,
    {
      runId,
      revision,
    },
  );
}
