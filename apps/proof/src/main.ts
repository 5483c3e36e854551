// What holds across processes and over faults, a command each: `pnpm proof <name> [--quick] [times]`. CI runs the quick forms.
import type { Proof } from "./command.ts";
import { differentialCommand } from "./differential/command.ts";
import { killCommand } from "./kill/command.ts";
import { simulateCommand } from "./simulator/command.ts";
import { plantedCommand } from "./simulator/planting-command.ts";

const commands: Readonly<Record<string, Proof>> = {
  differential: differentialCommand,
  kill: killCommand,
  planted: plantedCommand,
  simulate: simulateCommand,
};

/** Options that take a number. */
const named: ReadonlySet<string> = new Set(["--seed", "--seeds", "--from"]);

const [name = "", ...words] = process.argv.slice(2);
const command = commands[name];
if (command === undefined) {
  process.stderr.write(`which proof? ${Object.keys(commands).join(", ")}\n`);
  process.exitCode = 2;
} else {
  const quick = words.includes("--quick");
  const bare = words.filter((_, at) => !named.has(words[at - 1] ?? ""));
  const times = bare.map(Number).find((number) => Number.isInteger(number));
  const number = (option: string): number | undefined => {
    const at = words.indexOf(`--${option}`);
    return at === -1 ? undefined : Number(words[at + 1]);
  };
  const faults = await command({ quick, number, ...(times !== undefined && { times }) });
  for (const fault of faults) process.stdout.write(`${fault}\n`);
  process.exitCode = faults.length === 0 ? 0 : 1;
}
