import { parseArgs } from "node:util";

import type { ProofHow } from "./command.ts";

/** What a command line asks of a proof, beside the server that it may want. */
export type Asked = Omit<ProofHow, "startServer">;

/** Options that take a whole number; each is some proof's. */
const numbers = ["seed", "seeds", "from", "threads", "flows", "workers"] as const;

const options = {
  quick: { type: "boolean" },
  report: { type: "string" },
  seed: { type: "string" },
  seeds: { type: "string" },
  from: { type: "string" },
  threads: { type: "string" },
  flows: { type: "string" },
  workers: { type: "string" },
} as const;

const usage = `pnpm proof NAME [TIMES] [--quick] ${numbers.map((name) => `[--${name} N]`).join(" ")} [--report FILE]`;

/** Reads what follows the name. What no proof has is refused, where a long run would begin of another kind than was meant. */
export function readAsked(args: readonly string[]): Asked | { readonly refused: string } {
  const parsed = parse(args);
  if ("refused" in parsed) return parsed;
  const { values, positionals } = parsed;
  const given = new Map<string, number>();
  for (const name of numbers) {
    const text = values[name];
    if (text === undefined) continue;
    if (!isCount(text)) return refused(`--${name} takes a whole number, and not '${text}'`);
    given.set(name, Number(text));
  }
  const [times, ...more] = positionals;
  if (more.length > 0 || (times !== undefined && !isCount(times))) {
    return refused(`one whole number says how many times, and not '${positionals.join(" ")}'`);
  }
  const { report } = values;
  return {
    quick: values.quick === true,
    number: (name) => given.get(name),
    text: (name) => (name === "report" ? report : undefined),
    ...(times !== undefined && { times: Number(times) }),
  };
}

function parse(args: readonly string[]) {
  try {
    return parseArgs({ args: [...args], allowPositionals: true, options });
  } catch (error) {
    return refused(error instanceof Error ? error.message : String(error));
  }
}

function isCount(text: string): boolean {
  return /^[0-9]{1,15}$/.test(text);
}

function refused(why: string): { readonly refused: string } {
  return { refused: `${why}\n${usage}` };
}
