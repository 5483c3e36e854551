import { common, type Command, type OptionSpec } from "./command.ts";

/** What the program does, a line a command. */
export function overview(commands: readonly Command[]): readonly string[] {
  const width = Math.max(...commands.map((command) => titleOf(command).length));
  return [
    "holdpoint: what waits, who decided what, why a run stands where it stands",
    "",
    ...commands.map((command) => `  ${titleOf(command).padEnd(width)}  ${command.summary}`),
    "",
    "Each takes:",
    ...optionLines(common),
    "",
    "Exit codes: 0 done; 1 it could not be done; 2 wrong usage; 3 what was looked at is not as it should be.",
    "Arguments of calls are shown only where --arguments asks for them.",
  ];
}

export function helpOf(command: Command): readonly string[] {
  const own = optionLines(command.options);
  return [
    `holdpoint ${titleOf(command)}`,
    "",
    command.summary,
    ...(own.length === 0 ? [] : ["", ...own]),
    "",
    ...optionLines(common),
  ];
}

function titleOf({ path, operands }: Command): string {
  return [path, ...operands].join(" ");
}

function optionLines(options: Readonly<Record<string, OptionSpec>>): readonly string[] {
  const named = Object.entries(options).map(
    ([name, { value, summary }]) =>
      [`--${name}${value === undefined ? "" : ` ${value}`}`, summary] as const,
  );
  const width = Math.max(0, ...named.map(([name]) => name.length));
  return named.map(([name, summary]) => `  ${name.padEnd(width)}  ${summary}`);
}
