import { describe, expect, inject, it } from "vitest";

import type {} from "../../../scripts/postgres/global-setup.ts";
import { startPostgres } from "../../../scripts/postgres/server.ts";
import { chaosQuick } from "../src/chaos/command.ts";
import { failEverywhere } from "../src/faults/command.ts";
import { killEverywhere } from "../src/kill/run.ts";
import { sampledOnServers } from "../src/kill/points.ts";
import { raceRounds } from "../src/once/command.ts";

describe("the short forms of the proofs with real processes", () => {
  it("FLOW-77 STORE-07 R001 a process killed before, inside and after each write point loses no decision, repeats no act and strands no run", async () => {
    const layouts = ["sqlite", "sqlite-apart"] as const;
    const tally = await killEverywhere({ layouts, times: 1, inAll: true, chains: 2 });
    expect(tally.faults).toEqual([]);
    const killed = tally.table().map(([point]) => point);
    for (let point = 1; point <= 24; point += 1) expect(killed).toContain(`W${point}`);
  }, 900_000);

  it("FLOW-77 STORE-07 so does one that is killed while a server has its commit", async () => {
    const url = inject("postgresUrl");
    const only = sampledOnServers;
    const layouts = ["postgres", "mixed"] as const;
    const tally = await killEverywhere({ layouts, times: 1, inAll: true, chains: 2, url, only });
    expect(tally.faults).toEqual([]);
    const killed = tally.table().map(([point]) => point);
    for (const point of only) expect(killed).toContain(point.split(" ")[0]);
  }, 900_000);

  it("STORE-03 STORE-11 P1 eight processes that race for an approval or a resume have one winner, and the others are told", async () => {
    const { faults, told } = await raceRounds(30);
    expect(faults).toEqual([]);
    expect(told).toBe(30 * 7);
  });

  it("STORE-03 P1 so have sixty-four clients of two processes on a server", async () => {
    const { faults, told } = await raceRounds(6, inject("postgresUrl"));
    expect(faults).toEqual([]);
    expect(told).toBe(6 * 63);
  });

  it("STORE-11 flows whose server restarts and whose processes are killed do each thing as their journals say", async () => {
    const { runs, faults, restarts, kills } = await chaosQuick(startPostgres);
    expect(faults).toEqual([]);
    expect(runs).toBe(40);
    expect(Math.min(restarts, kills)).toBeGreaterThan(1);
  }, 900_000);

  it("STORE-07 a run whose driver fails at any call ends as it would have", async () => {
    const { runs, faults } = await failEverywhere(23);
    expect(faults).toEqual([]);
    expect(runs).toBeGreaterThan(20);
  });
});
