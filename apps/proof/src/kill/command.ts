import { print, stopwatch, type ProofHow } from "../command.ts";
import { killEverywhere } from "./run.ts";

/** `pnpm proof kill`: a process is killed at every write point, before, inside and after it (P2). */
export async function killCommand({ quick, times = 1 }: ProofHow): Promise<readonly string[]> {
  const took = stopwatch();
  const tally = await killEverywhere({ quick, repeats: times, chains: 2 });
  for (const [point, kills] of tally.table()) print(`${point}: ${kills}`);
  print(
    `${tally.kills} kills, ${tally.inDoubt} left in doubt, ${tally.faults.length} faults, ${took()}`,
  );
  return tally.faults;
}
