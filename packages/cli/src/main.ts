#!/usr/bin/env node
/** The program `holdpoint`, and the one place that touches the process. */
import process from "node:process";

import { runCli } from "./run.ts";

/** As if the pipe's signal had ended it: 128 and SIGPIPE. */
const pipeClosed = 141;
process.stdout.on("error", () => process.exit(pipeClosed));

process.exitCode = await runCli(process.argv.slice(2), {
  folder: process.cwd(),
  out: (text) => void process.stdout.write(text),
  err: (text) => void process.stderr.write(text),
});
