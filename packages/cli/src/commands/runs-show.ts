import type { RunView } from "@holdpoint/workflows";

import type { Command } from "../command.ts";
import type { Desk } from "../desk.ts";
import { CliError } from "../errors.ts";
import { tableLines } from "../table.ts";
import { shownTime } from "../times.ts";

export const runsShow: Command = {
  path: "runs show",
  summary: "one run: where it stands, why, and what would move it",
  operands: ["ID"],
  options: {},
  async run(desk, given, output) {
    const runId = given.operand(0);
    const view = await runOf(desk, runId);
    const facts = () => tableLines(["", ""], Object.entries(factsOf(view)).flatMap(rowOf)).slice(1);
    if (!desk.hasDefinitions) {
      output.say(view, () => [...facts(), "", "why it stands there is known with the config's definitions"]); // prettier-ignore
      return 0;
    }
    const explained = await (await desk.bystander()).explain(runId);
    output.say({ ...view, explained }, () => [
      ...facts(),
      "",
      explained.because,
      ...explained.movedBy.map((each) => `moved by: ${each}`),
      ...explained.questions.map(
        ({ approvalId, tool, visit }) =>
          `waits for ${approvalId ?? "an answer"}: ${tool} at ${visit}`,
      ),
    ]);
    return 0;
  },
};

/** @throws CliError `not-found`; WorkflowError `record-tampered` */
export async function runOf(desk: Desk, runId: string): Promise<RunView> {
  const view = await (await desk.runs()).get(runId);
  if (view !== undefined) return view;
  throw new CliError("not-found", `there is no run ${runId} in the scope ${desk.scope}`, { runId });
}

function factsOf(view: RunView) {
  const { runId, definition, version, status, session, parent, startedBy, startKey } = view;
  const { createdAt, updatedAt, revision, retries, retryAt, summary, failure, cancelled } = view;
  return {
    run: runId,
    workflow: `${definition} ${version}`,
    status: view.cancelRequested ? `${status}, to be cancelled` : status,
    session,
    parent,
    startedBy: startedBy?.id,
    startKey,
    createdAt,
    updatedAt,
    revision,
    retries: retries === 0 ? undefined : retries,
    retryAt,
    summary,
    failure: failure && `${failure.code}: ${failure.message}`,
    cancelled: cancelled && `${cancelled.reason}${cancelled.by ? ` (${cancelled.by.id})` : ""}`,
  };
}

function rowOf([name, value]: [string, string | number | undefined]): (readonly string[])[] {
  if (value === undefined) return [];
  return [[name, name.endsWith("At") ? shownTime(Number(value)) : String(value)]];
}
