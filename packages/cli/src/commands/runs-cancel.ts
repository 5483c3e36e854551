import type { Command } from "../command.ts";
import { CliError } from "../errors.ts";
import { runOf } from "./runs-show.ts";

export const runsCancel: Command = {
  path: "runs cancel",
  summary: "end a run: whoever has its session does so",
  operands: ["ID"],
  options: {
    reason: { value: "TEXT", summary: "for people; kept with the run (has to be given)" },
  },
  async run(desk, given, output) {
    const runId = given.operand(0);
    const reason = given.text("reason");
    if (reason === undefined)
      throw new CliError("usage", "holdpoint runs cancel takes --reason, which is missing");
    const by = await desk.person();
    const { session } = await runOf(desk, runId);
    const { status } = await (await desk.bystander()).cancel(runId, { reason, by });
    output.say({ runId, status }, () => [
      status === "final"
        ? `run ${runId} has ended`
        : `run ${runId} is to be cancelled: ${session === undefined ? "who runs it" : `the process that has the session '${session}'`} ends it`,
    ]);
    return 0;
  },
};
