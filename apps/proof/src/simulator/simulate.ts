import { Chance } from "./chance.ts";
import { Drama } from "./drama.ts";
import { finalFaults } from "./final.ts";
import { heal } from "./heal.ts";
import { profileOf, type Profile } from "./profile.ts";
import type { SometimesName } from "./sometimes.ts";
import { World } from "./world.ts";

export interface Simulated {
  readonly seed: number;
  readonly profile: Profile;
  /** What was wrong; nothing, where all invariants held. */
  readonly faults: readonly string[];
  readonly steps: number;
  readonly seen: ReadonlyMap<SometimesName, number>;
  /** What happened, a line a step. */
  readonly trace: () => readonly string[];
}

/** Carries one seed's world to its end, or to the first thing that is wrong. */
export async function simulate(seed: number): Promise<Simulated> {
  const chance = new Chance(seed);
  const profile = profileOf(chance);
  const world = new World(seed, profile, chance);
  if ((await rough(world)) && (await heal(world))) {
    world.faults.push(...(await finalFaults(world)));
    if (!world.disturbed) world.sometimes.see("a world ends undisturbed");
  }
  for (const process of world.living) process.die();
  const { faults, trace, sometimes } = world;
  return {
    seed,
    profile,
    faults,
    steps: trace.length,
    seen: sometimes.counts,
    trace: () => trace.lines(),
  };
}

/** The time in which things go wrong. */
async function rough(world: World): Promise<boolean> {
  const { profile, chance } = world;
  const drama = new Drama(world);
  for (let place = 0; place < profile.processes; place += 1) world.boot(place);
  for (let step = 0; step < profile.roughSteps; step += 1) {
    const next = chance.happens(profile.bustle) ? undefined : world.choose();
    if (!(await world.step(next ?? (() => drama.happen())))) return false;
  }
  return true;
}
