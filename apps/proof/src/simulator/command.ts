import { writeFileSync } from "node:fs";

import { print, stopwatch, type ProofHow } from "../command.ts";
import { fixtures } from "./fixtures.ts";
import { simulateOnThreads } from "./pool.ts";
import { neverSeen, simulateSeeds, together, type Findings } from "./range.ts";
import { simulate } from "./simulate.ts";

/** What CI has time for, and what is worth counting what was never seen over. */
const worldsOfCi = 2_000;
const worldsToSeeAll = 2_000;
const worldsQuick = 300;

/** Worlds between two lines that say how far a simulation has come. */
const worldsALine = 1_000;

/**
 * `pnpm proof simulate [--quick] [--seeds n] [--from n] [--threads n] [--report file]`: worlds by seed (P7). `--seed n` shows one
 * world step by step.
 */
export async function simulateCommand(how: ProofHow): Promise<readonly string[]> {
  const one = how.number("seed");
  if (one !== undefined) return shown(one);
  const count = how.number("seeds") ?? (how.quick ? worldsQuick : worldsOfCi);
  const from = how.number("from") ?? 1;
  const took = stopwatch();
  const said = (found: Findings): string =>
    `${found.worlds} worlds, ${found.steps} steps, ${found.failed.length} failed, ${took()}`;
  let lines = 0;
  const threads = how.number("threads");
  const progress = (found: Findings): void => {
    if (found.worlds < (lines + 1) * worldsALine || found.worlds === count) return;
    lines = Math.floor(found.worlds / worldsALine);
    print(`of ${count}: ${said(found)}`);
  };
  const before = await simulateSeeds([...fixtures.keys()]);
  const found = together(before, await simulateOnThreads({ from, count }, { threads, progress }));
  const seen = [...found.seen].toSorted(byName).map(([name, times]) => `${name}: ${times}`);
  const faults = [
    ...found.failed.map(({ seed, faults: those }) => `seed ${seed}: ${shortened(those)}`),
    ...(count < worldsToSeeAll ? [] : neverSeen(found).map((name) => `never seen: ${name}`)),
  ];
  const report = [...seen, `seeds ${from} to ${from + count - 1} and the fixtures: ${said(found)}`];
  for (const line of report) print(line);
  const file = how.text("report");
  if (file !== undefined) writeFileSync(file, `${[...report, ...faults].join("\n")}\n`);
  return faults;
}

function shortened(faults: readonly string[]): string {
  return faults
    .slice(0, 3)
    .map((fault) => fault.slice(0, 200))
    .join("; ");
}

/** One world, with everything that happened in it. */
async function shown(seed: number): Promise<readonly string[]> {
  const world = await simulate(seed);
  print(JSON.stringify(world.profile));
  for (const line of world.trace()) print(line);
  return world.faults;
}

function byName([one]: readonly [string, number], [other]: readonly [string, number]): number {
  return one < other ? -1 : 1;
}
