import type { Command } from "../command.ts";
import { CliError } from "../errors.ts";

export const runsDelete: Command = {
  path: "runs delete",
  summary: "take a run out that has ended, with its log and its approvals",
  operands: ["ID"],
  options: { yes: { summary: "it is meant: nothing brings it back (has to be given)" } },
  async run(desk, given, output) {
    const runId = given.operand(0);
    if (!given.flag("yes")) {
      const message = `holdpoint runs delete takes run ${runId} out for good: --yes says that it is meant`;
      throw new CliError("usage", message);
    }
    await (await desk.retention()).remove(runId);
    output.say({ runId, deleted: true }, () => [`run ${runId} is gone`]);
    return 0;
  },
};
