// What holds across processes and over faults, a command each: `pnpm proof <name> [--quick] [times]`. CI runs the quick forms.
import { readAsked } from "./asked.ts";
import { chaosCommand } from "./chaos/command.ts";
import type { Proof } from "./command.ts";
import { differentialCommand } from "./differential/command.ts";
import { faultsCommand } from "./faults/command.ts";
import { killCommand } from "./kill/command.ts";
import { mutantsCommand } from "./mutants/command.ts";
import { onceCommand } from "./once/command.ts";
import { simulateCommand } from "./simulator/command.ts";
import { plantedCommand } from "./simulator/planting-command.ts";
import { takeoverCommand } from "./supervision/command.ts";
import type { StartServer } from "./server.ts";
import { waitingCommand } from "./waiting/command.ts";

const commands: Readonly<Record<string, Proof>> = {
  chaos: chaosCommand,
  differential: differentialCommand,
  faults: faultsCommand,
  kill: killCommand,
  mutants: mutantsCommand,
  once: onceCommand,
  planted: plantedCommand,
  simulate: simulateCommand,
  takeover: takeoverCommand,
  waiting: waitingCommand,
};

/** Runs the proof that the first argument names; the process ends with 1 where something was wrong. */
export async function prove(given: readonly string[], startServer: StartServer): Promise<void> {
  const [name = "", ...args] = given;
  const command = Object.hasOwn(commands, name) ? commands[name] : undefined;
  if (command === undefined) return refuse(`which proof? ${Object.keys(commands).join(", ")}`);
  const asked = readAsked(args);
  if ("refused" in asked) return refuse(asked.refused);
  const faults = await command({ ...asked, startServer });
  for (const fault of faults) process.stdout.write(`${fault}\n`);
  process.exitCode = faults.length === 0 ? 0 : 1;
}

function refuse(why: string): void {
  process.stderr.write(`${why}\n`);
  process.exitCode = 2;
}
