import { availableParallelism } from "node:os";
import { Worker } from "node:worker_threads";

import { print, stopwatch, type ProofHow } from "../command.ts";
import { fixtures } from "./fixtures.ts";
import { neverSeen, nothing, simulateSeeds, together, type Findings, type Range } from "./range.ts";
import { simulate } from "./simulate.ts";

/** What CI has time for, and what is worth counting what was never seen over. */
const worldsOfCi = 2_000;
const worldsToSeeAll = 2_000;
const worldsQuick = 300;

/** `pnpm proof simulate [--quick] [--seeds n] [--from n] [--seed n]`: worlds by seed; one seed is shown step by step (P7). */
export async function simulateCommand(how: ProofHow): Promise<readonly string[]> {
  const one = how.number("seed");
  if (one !== undefined) return shown(one);
  const count = how.number("seeds") ?? (how.quick ? worldsQuick : worldsOfCi);
  const took = stopwatch();
  const found = together(
    await simulateSeeds([...fixtures.keys()]),
    await onAllCores({ from: how.number("from") ?? 1, count }),
  );
  for (const [name, times] of [...found.seen].toSorted(byName)) print(`${name}: ${times}`);
  print(`${found.worlds} worlds, ${found.steps} steps, ${found.failed.length} failed, ${took()}`);
  return [
    ...found.failed.map(({ seed, faults }) => `seed ${seed}: ${faults.slice(0, 3).join("; ")}`),
    ...(count < worldsToSeeAll ? [] : neverSeen(found).map((name) => `never seen: ${name}`)),
  ];
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

async function onAllCores({ from, count }: Range): Promise<Findings> {
  const threads = Math.min(availableParallelism(), count);
  const share = Math.ceil(count / threads);
  const shares = Array.from({ length: threads }, (_, at) => ({
    from: from + at * share,
    count: Math.max(0, Math.min(share, count - at * share)),
  }));
  const found = await Promise.all(shares.map((range) => onThread(range)));
  return found.reduce(together, nothing);
}

function onThread(range: Range): Promise<Findings> {
  return new Promise((resolve, reject) => {
    const worker = new Worker(new URL("./worker.ts", import.meta.url), { workerData: range });
    worker.once("message", resolve);
    worker.once("error", reject);
  });
}
