import { parseArgs } from "node:util";

import { common, type Command, type OptionSpec } from "./command.ts";
import { CliError } from "./errors.ts";

/** What a command line gives a command: its operands, and its options by name. */
export class Given {
  readonly #operands: readonly string[];
  readonly #values: Readonly<Record<string, string | boolean | undefined>>;

  constructor(
    operands: readonly string[],
    values: Readonly<Record<string, string | boolean | undefined>>,
  ) {
    this.#operands = operands;
    this.#values = values;
  }

  /** An operand that has to be there: `givenTo` has looked. */
  operand(at: number): string {
    return this.#operands[at] ?? "";
  }

  optionalOperand(at: number): string | undefined {
    return this.#operands[at];
  }

  text(name: string): string | undefined {
    const value = this.#values[name];
    return typeof value === "string" ? value : undefined;
  }

  flag(name: string): boolean {
    return this.#values[name] === true;
  }

  /** @throws CliError `usage` where it is none of them */
  choice<const T extends string>(name: string, of: readonly T[]): T | undefined {
    const value = this.text(name);
    if (value === undefined) return undefined;
    const chosen = of.find((each) => each === value);
    if (chosen !== undefined) return chosen;
    throw new CliError(
      "usage",
      `--${name} is one of ${of.join(", ")}, and '${value}' is none of them`,
    );
  }

  /** @throws CliError `usage` where it is no whole number from 1 to `most` */
  count(name: string, most: number): number | undefined {
    const value = this.text(name);
    if (value === undefined) return undefined;
    const count = /^\d{1,9}$/.test(value) ? Number(value) : 0;
    if (count >= 1 && count <= most) return count;
    throw new CliError(
      "usage",
      `--${name} is a whole number from 1 to ${most}, and '${value}' is none`,
    );
  }
}

type ParseOptions = Record<string, { type: "string" | "boolean"; short?: string }>;

/** @throws CliError `usage` for an option or an operand that the command does not take, or that is missing */
export function givenTo(command: Command, words: readonly string[]): Given {
  const { values, positionals } = parsed(command, words);
  if (values["help"] !== true) assertOperands(command, positionals);
  for (const [name, value] of Object.entries(values)) {
    if (value === "") throw new CliError("usage", `--${name} has an empty value`);
  }
  return new Given(positionals, values);
}

function parsed(command: Command, words: readonly string[]) {
  const specs: Readonly<Record<string, OptionSpec>> = { ...common, ...command.options };
  const options: ParseOptions = {};
  for (const [name, { value }] of Object.entries(specs))
    options[name] = { type: value === undefined ? "boolean" : "string", ...(name === "help" && { short: "h" }) }; // prettier-ignore
  try {
    return parseArgs({ args: [...words], options, allowPositionals: true });
  } catch (cause) {
    const said = cause instanceof Error ? cause.message.replace(/\. To specify.*$/s, "") : "";
    throw new CliError("usage", `holdpoint ${command.path}: ${said}`, {}, cause);
  }
}

function assertOperands({ path, operands }: Command, given: readonly string[]): void {
  const missing = operands.slice(given.length).find((name) => !name.startsWith("["));
  if (missing !== undefined)
    throw new CliError("usage", `holdpoint ${path} takes ${missing}, which is missing`);
  const more = given[operands.length];
  if (more !== undefined) throw new CliError("usage", `holdpoint ${path} takes no '${more}'`);
}
