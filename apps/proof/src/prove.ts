// What holds across processes and over faults, a command each: `pnpm proof <name> [--quick] [times]`. CI runs the quick forms.
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

/** Options that take a value. */
const named: ReadonlySet<string> = new Set([
  "--seed",
  "--seeds",
  "--from",
  "--threads",
  "--report",
  "--flows",
  "--workers",
]);

/** Runs the proof that the first argument names; the process ends with 1 where something was wrong. */
export async function prove(asked: readonly string[], startServer: StartServer): Promise<void> {
  const [name = "", ...words] = asked;
  const command = commands[name];
  if (command === undefined) {
    process.stderr.write(`which proof? ${Object.keys(commands).join(", ")}\n`);
    process.exitCode = 2;
    return;
  }
  const quick = words.includes("--quick");
  const bare = words.filter((_, at) => !named.has(words[at - 1] ?? ""));
  const times = bare.map(Number).find((number) => Number.isInteger(number));
  const text = (option: string): string | undefined => {
    const at = words.indexOf(`--${option}`);
    return at === -1 ? undefined : words[at + 1];
  };
  const number = (option: string): number | undefined => {
    const given = text(option);
    return given === undefined ? undefined : Number(given);
  };
  const faults = await command({
    quick,
    startServer,
    number,
    text,
    ...(times !== undefined && { times }),
  });
  for (const fault of faults) process.stdout.write(`${fault}\n`);
  process.exitCode = faults.length === 0 ? 0 : 1;
}
