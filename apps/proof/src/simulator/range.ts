import { simulate } from "./simulate.ts";
import { sometimesNames, type SometimesName } from "./sometimes.ts";

/** Seeds one after the other, from the first on. */
export interface Range {
  readonly from: number;
  readonly count: number;
}

/** What became of many worlds. */
export interface Findings {
  readonly worlds: number;
  readonly steps: number;
  readonly failed: readonly { readonly seed: number; readonly faults: readonly string[] }[];
  /** How often each interesting thing was seen. */
  readonly seen: ReadonlyMap<SometimesName, number>;
}

export const nothing: Findings = { worlds: 0, steps: 0, failed: [], seen: new Map() };

export async function simulateRange({ from, count }: Range): Promise<Findings> {
  return simulateSeeds(Array.from({ length: count }, (_, at) => from + at));
}

export async function simulateSeeds(seeds: readonly number[]): Promise<Findings> {
  let found = nothing;
  for (const seed of seeds) {
    const { faults, steps, seen } = await simulate(seed);
    const failed = faults.length === 0 ? [] : [{ seed, faults }];
    found = together(found, { worlds: 1, steps, failed, seen });
  }
  return found;
}

export function together(one: Findings, other: Findings): Findings {
  const seen = new Map(one.seen);
  for (const [name, times] of other.seen) seen.set(name, (seen.get(name) ?? 0) + times);
  return {
    worlds: one.worlds + other.worlds,
    steps: one.steps + other.steps,
    failed: [...one.failed, ...other.failed],
    seen,
  };
}

/** Interesting things that no world got to: over enough of them, each has to be seen. */
export function neverSeen({ seen }: Findings): readonly SometimesName[] {
  return sometimesNames.filter((name) => !seen.has(name));
}
