export { defineConfig, type Config } from "./config.ts";
export { runCli, type RunOptions } from "./run.ts";
export type { ExitCode } from "./command.ts";
export type { Channels } from "./output.ts";
export { CliError, isCliError, type CliErrorCode } from "./errors.ts";
