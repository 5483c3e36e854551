import { writeFileSync } from "node:fs";

import { print, stopwatch, type ProofHow } from "../command.ts";
import { chaos } from "./chaos.ts";

/** What a release asks for, and what CI has time for. */
const flowsOfRelease = 10_000;
const flowsQuick = 24;

/**
 * `pnpm proof chaos [--quick] [--flows n] [--workers n] [--seed n] [--report file]`: flows over a Postgres that restarts every 1 to
 * 3 s, worked on by processes that are killed every 0.5 to 2 s (P8).
 */
export async function chaosCommand(how: ProofHow): Promise<readonly string[]> {
  const took = stopwatch();
  const flows = how.number("flows") ?? (how.quick ? flowsQuick : flowsOfRelease);
  const seed = how.number("seed") ?? 1;
  const { faults, ...found } = await chaos(
    {
      flows,
      workers: how.number("workers") ?? (how.quick ? 2 : 4),
      restartsMin: 2,
      killsMin: 2,
      seed,
      progress: (line) => print(`${line}, ${took()}`),
    },
    how.startServer,
  );
  const { runs, effects, repeated, doubts, restarts, kills } = found;
  const lines = [
    `${runs} runs, ${effects} effects, ${repeated} repeated under their keys, ${doubts} doubts answered`,
    `${restarts} restarts, ${kills} kills, ${faults.length} faults, seed ${seed}, ${took()}`,
  ];
  for (const line of lines) print(line);
  const file = how.text("report");
  if (file !== undefined) writeFileSync(file, `${[...lines, ...faults].join("\n")}\n`);
  return faults.slice(0, 50);
}
