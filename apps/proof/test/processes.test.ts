import { describe, expect, it } from "vitest";

import { failEverywhere } from "../src/faults/command.ts";
import { killEverywhere } from "../src/kill/run.ts";
import { raceRounds } from "../src/once/command.ts";

describe("the short forms of the proofs with real processes", () => {
  it("FLOW-77 a process killed before, inside and after each kind of write loses no decision, repeats no act and strands no run", async () => {
    const tally = await killEverywhere({ quick: true, repeats: 1, chains: 2 });
    expect(tally.faults).toEqual([]);
    expect(tally.kills).toBeGreaterThan(60);
    const named = tally.table().map(([point]) => point);
    for (const point of ["W1", "W2", "W3", "W4", "W5", "W6", "W7", "W8", "W9", "W11", "W12"])
      expect(named).toContain(point);
    for (const point of ["W13", "W14", "W15", "W17", "W18", "W19", "W23", "W24"])
      expect(named).toContain(point);
  });

  it("STORE-03 STORE-11 P1 eight processes that race for an approval or a resume have one winner, and the others are told", async () => {
    const { faults, told } = await raceRounds(30);
    expect(faults).toEqual([]);
    expect(told).toBe(30 * 7);
  });

  it("STORE-07 a run whose driver fails at any call ends as it would have", async () => {
    const { runs, faults } = await failEverywhere(23);
    expect(faults).toEqual([]);
    expect(runs).toBeGreaterThan(20);
  });
});
