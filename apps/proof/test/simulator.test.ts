import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

import { describe, expect, it } from "vitest";

import { fixtures } from "../src/simulator/fixtures.ts";
import { plantedBugs } from "../src/simulator/planted.ts";
import { simulateRange, simulateSeeds } from "../src/simulator/range.ts";
import { simulate } from "../src/simulator/simulate.ts";

// The command simulates many more: here is what a change has to stand before it is looked at.
const seeds = 60;

describe("a simulated world", () => {
  it("P7 is the same, step by step, whenever its seed is", async () => {
    for (const seed of [1, 2, 3, 5, 7, 11, 13, 17, 19, 23]) {
      const first = await simulate(seed);
      await simulate(seed + 1_000);
      const again = await simulate(seed);
      expect(again.trace()).toEqual(first.trace());
      expect(first.steps).toBeGreaterThan(50);
    }
  });

  it("finds nothing where something was found before", async () => {
    expect((await simulateSeeds([...fixtures.keys()])).failed).toEqual([]);
  });

  it("P7 holds every invariant, whatever dies, gets lost or comes late", async () => {
    const { failed, seen } = await simulateRange({ from: 1, count: seeds });
    expect(failed).toEqual([]);
    for (const name of ["a process dies", "a run completes", "a session is taken over"] as const)
      expect(seen.get(name)).toBeGreaterThan(0);
  });
});

it.each(plantedBugs)("a bug can be planted: $name", ({ file, find, put }) => {
  const source = readFileSync(fileURLToPath(new URL(`../../../${file}`, import.meta.url)), "utf8");
  expect(source.split(find)).toHaveLength(2);
  expect(put).not.toBe(find);
});
