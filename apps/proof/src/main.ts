// What holds across processes and over faults, a command each: `pnpm proof <name> [--quick] [times]`. CI runs the quick forms.
import type { Proof } from "./command.ts";
import { differentialCommand } from "./differential/command.ts";
import { faultsCommand } from "./faults/command.ts";
import { killCommand } from "./kill/command.ts";
import { mutantsCommand } from "./mutants/command.ts";
import { onceCommand } from "./once/command.ts";
import { waitingCommand } from "./waiting/command.ts";

const commands: Readonly<Record<string, Proof>> = {
  differential: differentialCommand,
  faults: faultsCommand,
  kill: killCommand,
  mutants: mutantsCommand,
  once: onceCommand,
  waiting: waitingCommand,
};

const [name = "", ...words] = process.argv.slice(2);
const command = commands[name];
if (command === undefined) {
  process.stderr.write(`which proof? ${Object.keys(commands).join(", ")}\n`);
  process.exitCode = 2;
} else {
  const times = words.map(Number).find((number) => Number.isInteger(number));
  const quick = words.includes("--quick");
  const faults = await command({ quick, ...(times !== undefined && { times }) });
  for (const fault of faults) process.stdout.write(`${fault}\n`);
  process.exitCode = faults.length === 0 ? 0 : 1;
}
