/**
 * One command line, from its words to its exit code. Nothing here reads the process: `main.ts` does.
 */
import type { Clock } from "@holdpoint/approvals";

import { commands } from "./catalog.ts";
import type { Command, ExitCode } from "./command.ts";
import { loadConfig } from "./config.ts";
import { Desk } from "./desk.ts";
import { CliError, isCliError } from "./errors.ts";
import { givenTo } from "./given.ts";
import { helpOf, overview } from "./help.ts";
import { Output, type Channels } from "./output.ts";

export interface RunOptions extends Channels {
  /** Where relative paths begin, and a config is looked for. */
  readonly folder: string;
  readonly clock?: Clock;
}

/** Does what the words ask for, and answers the exit code; whatever goes wrong is said, and not thrown. */
export async function runCli(words: readonly string[], options: RunOptions): Promise<ExitCode> {
  const output = new Output(options, words.includes("--json"));
  try {
    const found = commandOf(words);
    if (found === undefined) {
      output.say({ commands: commands.map(({ path, summary }) => ({ path, summary })) }, () =>
        overview(commands),
      );
      return 0;
    }
    return await ran(found.command, found.rest, options, output);
  } catch (error) {
    output.fault(codeOf(error), messageOf(error));
    return isCliError(error, "usage") ? 2 : 1;
  }
}

async function ran(
  command: Command,
  words: readonly string[],
  { folder, clock }: RunOptions,
  output: Output,
): Promise<ExitCode> {
  const given = givenTo(command, words);
  if (given.flag("help")) {
    const { path, summary, operands, options } = command;
    output.say({ path, summary, operands, options }, () => helpOf(command));
    return 0;
  }
  const config = await loadConfig(folder, given.text("config"));
  const store = given.text("store");
  const scope = given.text("scope");
  const desk = new Desk({ config, folder, store, scope, ...(clock && { clock }) });
  try {
    return await command.run(desk, given, output);
  } finally {
    await desk.close();
  }
}

/** `undefined`: nothing is asked for but help. @throws CliError `usage` */
function commandOf(words: readonly string[]) {
  const asked = words.filter((word) => word !== "--json");
  const [first, second] = asked;
  if (first === undefined || first === "--help" || first === "-h" || first === "help")
    return undefined;
  for (const count of [2, 1]) {
    const command = commands.find(({ path }) => path === asked.slice(0, count).join(" "));
    if (command !== undefined) return { command, rest: [...asked.slice(count), ...words.filter((word) => word === "--json")] }; // prettier-ignore
  }
  const group = commands.filter(({ path }) => path.startsWith(`${first} `));
  if (group.length === 0)
    throw new CliError("usage", `there is no command '${first}': see holdpoint --help`);
  const known = group.map(({ path }) => path.slice(first.length + 1)).join(", ");
  throw new CliError(
    "usage",
    `holdpoint ${first} ${second === undefined ? "what?" : `'${second}'?`} It has ${known}`,
  );
}

/** Codes of every package look alike, and are told as they are. */
function codeOf(error: unknown): string {
  const code: unknown =
    typeof error === "object" && error !== null ? Reflect.get(error, "code") : undefined;
  return typeof code === "string" ? code : "unexpected";
}

function messageOf(error: unknown): string {
  const said = error instanceof Error ? error.message : String(error);
  return codeOf(error) === "unexpected" ? `something went wrong: ${said}` : said;
}
