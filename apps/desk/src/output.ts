import process from "node:process";

import type { Screen } from "./screen.ts";
import { codeOf, reasonOf } from "./system-error.ts";

/** As if the pipe's signal had ended it: 128 and SIGPIPE. */
const pipeClosed = 141;
const signals = { SIGHUP: 129, SIGINT: 130, SIGTERM: 143 } as const;

/**
 * Ends the program when nobody reads on, or when it is told to stop: at once, quietly, and with what listens to `exit` run,
 * so that nothing stays behind. A desk may be ended anywhere: the next import goes on.
 */
export function endWithOutput(screen: Screen): void {
  process.stderr.on("error", () => {}); // there is nowhere left to say it
  process.stdout.on("error", (error) => {
    if (codeOf(error) === "EPIPE") process.exit(pipeClosed);
    process.stderr.write(`the output can't be written: ${reasonOf(error)}\n`);
    process.exit(1);
  });
  for (const [signal, code] of Object.entries(signals)) {
    process.once(signal, () => {
      screen.keep();
      process.exit(code);
    });
  }
}
