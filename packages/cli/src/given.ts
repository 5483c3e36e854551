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
    return parseArgs({ args: [...inOrder(words, specs)], options, allowPositionals: true });
  } catch (cause) {
    const said = cause instanceof Error ? cause.message.replace(/\. To specify.*$/s, "") : "";
    throw new CliError("usage", `holdpoint ${command.path}: ${said}`, {}, cause);
  }
}

/** An id that begins with a dash, as one of 64 does. */
const dashedId = /^-[\w-]{21}$/;

/**
 * Options, each with its value, and then operands: a value or an operand may begin with a dash where it can be nothing else, so that
 * ids and digests are taken as they are shown.
 */
function inOrder(
  words: readonly string[],
  specs: Readonly<Record<string, OptionSpec>>,
): readonly string[] {
  const options: string[] = [];
  const operands: string[] = [];
  for (let at = 0; at < words.length; at += 1) {
    const word = words[at]!;
    if (word === "--") {
      operands.push(...words.slice(at + 1));
      break;
    }
    const name = word.startsWith("--") ? word.slice(2) : "";
    const takesValue = Object.hasOwn(specs, name) && specs[name]!.value !== undefined;
    const next = words[at + 1];
    if (takesValue && next !== undefined && (!next.startsWith("--") || dashedId.test(next))) {
      options.push(`${word}=${next}`);
      at += 1;
    } else if (!word.startsWith("-") || (!Object.hasOwn(specs, name) && dashedId.test(word))) {
      operands.push(word);
    } else {
      options.push(word);
    }
  }
  return [...options, "--", ...operands];
}

function assertOperands({ path, operands }: Command, given: readonly string[]): void {
  const missing = operands.slice(given.length).find((name) => !name.startsWith("["));
  if (missing !== undefined)
    throw new CliError("usage", `holdpoint ${path} takes ${missing}, which is missing`);
  const more = given[operands.length];
  if (more !== undefined) throw new CliError("usage", `holdpoint ${path} takes no '${more}'`);
}
