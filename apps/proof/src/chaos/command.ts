import { writeFileSync } from "node:fs";

import { print, stopwatch, type ProofHow } from "../command.ts";
import type { StartServer } from "../server.ts";
import { chaos, type Chaos } from "./chaos.ts";

/** What a release asks for, and what CI has time for. */
const flowsOfRelease = 10_000;
const flowsQuick = 40;

const least = { restartsMin: 2, killsMin: 2 } as const;
const quickForm = { flows: flowsQuick, workers: 2, troubleMax: 4, ...least } as const;
const longForm = { flows: flowsOfRelease, workers: 4, ...least } as const;

/** The short form, for the tests. */
export function chaosQuick(startServer: StartServer): Promise<Chaos> {
  return chaos({ ...quickForm, seed: 1, progress: () => undefined }, startServer);
}

/**
 * `pnpm proof chaos [--quick] [--flows n] [--workers n] [--seed n] [--report file]`: flows over a Postgres that restarts every 1 to
 * 3 s, worked on by processes that are killed every 0.5 to 2 s (P8).
 */
export async function chaosCommand(how: ProofHow): Promise<readonly string[]> {
  const took = stopwatch();
  const form = how.quick ? quickForm : longForm;
  const seed = how.number("seed") ?? 1;
  const { faults, ...found } = await chaos(
    {
      ...form,
      flows: how.number("flows") ?? form.flows,
      workers: how.number("workers") ?? form.workers,
      seed,
      progress: (line) => print(`${line}, ${took()}`),
    },
    how.startServer,
  );
  const { runs, effects, repeated, doubts, restarts, kills, seconds } = found;
  const each = (count: number): string => `one each ${(seconds / count).toFixed(2)} s`;
  const lines = [
    `${runs} runs, ${effects} effects, ${repeated} repeated under their keys, ${doubts} doubts answered`,
    `${restarts} restarts, ${each(restarts)}, ${kills} kills, ${each(kills)}, ${(runs / seconds).toFixed(1)} flows a second`,
    `${faults.length} faults, seed ${seed}, ${took()}`,
  ];
  for (const line of lines) print(line);
  const file = how.text("report");
  if (file !== undefined) writeFileSync(file, `${[...lines, ...faults].join("\n")}\n`);
  return faults.slice(0, 50);
}
