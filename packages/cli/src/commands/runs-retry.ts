/**
 * Lets a failed run go on, here: this process takes its session for as long as that takes, or is refused it. What is kept in a
 * config has to be the very tools that the run works with.
 */
import type { Command } from "../command.ts";
import { CliError } from "../errors.ts";
import { runOf } from "./runs-show.ts";

export const runsRetry: Command = {
  path: "runs retry",
  summary: "let a failed run go on in this process, to its next stop",
  operands: ["ID"],
  options: {},
  async run(desk, given, output) {
    const runId = given.operand(0);
    void desk.definitions; // said before anything is taken
    const { session, status } = await runOf(desk, runId);
    if (status !== "failed") {
      throw new CliError("not-found", `run ${runId} is ${status}: only a failed one is retried`, { runId }); // prettier-ignore
    }
    const after = session === undefined ? await byHand() : await under(session);
    output.say(after, () => [`run ${runId} is ${after.status}`]);
    return after.status === "failed" ? 1 : 0;

    async function byHand() {
      const workflows = await desk.runs();
      await workflows.retry(runId);
      return workflows.settled(runId);
    }

    async function under(name: string) {
      const supervisor = await desk.owner(name);
      await supervisor.retry(runId);
      return supervisor.settled(runId);
    }
  },
};
