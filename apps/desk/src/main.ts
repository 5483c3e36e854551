/**
 * The desk's command line, and with `worker.ts` the one place that reads the environment.
 *
 * Exit codes: 0 done; 1 the job could not be done, or not for every request, or the books differ; 2 wrong usage; 128 and the
 * signal's number where one ended it, a closed pipe among them. Bad lines beside good ones are reported and do not count.
 */
import process from "node:process";

import { runCommand } from "./command.ts";
import { DeskError, sentence } from "./failure.ts";
import { endWithOutput } from "./output.ts";
import { Screen } from "./screen.ts";

const terminal = process.stdout.isTTY && process.env["CI"] === undefined;
const screen = new Screen({
  write: (text) => void process.stdout.write(text),
  live: terminal,
  coloured: terminal && process.env["NO_COLOR"] === undefined,
});

endWithOutput(screen);
try {
  await runCommand(process.argv.slice(2), process.env, screen);
} catch (error) {
  screen.keep();
  process.stderr.write(`${sentence(error)}\n`);
  process.exitCode = error instanceof DeskError && error.code === "usage" ? 2 : 1;
}
