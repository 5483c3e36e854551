import { describe, expect, inject, it } from "vitest";

import type {} from "../../../scripts/postgres/global-setup.ts";
import { startPostgres } from "../../../scripts/postgres/server.ts";
import { chaosQuick } from "../src/chaos/command.ts";
import { failEverywhere } from "../src/faults/command.ts";
import { killEverywhere } from "../src/kill/run.ts";
import { sampledOnServers } from "../src/kill/points.ts";
import type { Tally } from "../src/kill/tally.ts";
import { raceRounds } from "../src/once/command.ts";

let onFiles: Promise<Tally> | undefined;

/** One process after the other, killed at every write point of runs on files; done once, whichever test asks first. */
async function killedOnFiles(): Promise<Tally> {
  const layouts = ["sqlite", "sqlite-apart"] as const;
  onFiles ??= killEverywhere({ layouts, times: 1, inAll: true, chains: 2 });
  return onFiles;
}

/** Kills before, inside and after a write point. */
const allThree = /^[1-9]\d* [1-9]\d* [1-9]\d*$/;
const insideAlone = /^0 [1-9]\d* 0$/;
const besideAlone = /^[1-9]\d* 0 [1-9]\d*$/;

/** What the verdict on each killed run says of the points it died at; every one of them has no fault. */
const crashes = [
  { ids: "W1 W2 R001", says: "keep the id that a start was given, and one run", moments: allThree },
  { ids: "W3 W4 W5 R002 R004", says: "make a call again under its key alone", moments: allThree },
  { ids: "W6 R005", says: "leave no record of what was only sealed", moments: insideAlone },
  { ids: "W7 W8 R006 CASE-128", says: "leave one question, and none alone", moments: allThree },
  { ids: "W9 W10 R007", says: "have the registry follow, and somebody told", moments: allThree },
  { ids: "W11 W12 R009", says: "keep a decision, and go on by it", moments: allThree },
  { ids: "W13 W14 R010 R011", says: "spend an answer once, and ask nobody", moments: allThree },
  { ids: "W15 W16 R012", says: "settle what a store of its own holds", moments: allThree },
  { ids: "W17 W18 W19 R015", says: "end a node once, and a run once", moments: allThree },
  { ids: "W20", says: "hand a session on, whoever dies taking it", moments: allThree },
  { ids: "W21 W22 R017", says: "honour a wish, and fire a time once", moments: allThree },
  { ids: "W23", says: "leave a new store as it was, or made", moments: besideAlone },
  { ids: "W24", says: "purge on, and nothing that waits", moments: allThree },
] as const;

describe("the short forms of the proofs with real processes", () => {
  it("FLOW-77 STORE-07 P2 a process killed before, inside and after each write point loses no decision, repeats no act and strands no run", async () => {
    const tally = await killedOnFiles();
    expect(tally.faults).toEqual([]);
    expect(tally.kills).toBeGreaterThan(70);
  }, 900_000);

  it.each(crashes)(
    "$ids $says",
    async ({ ids, moments }) => {
      const tally = await killedOnFiles();
      expect(tally.faults).toEqual([]);
      const kills = new Map(tally.table());
      for (const point of ids.split(" ").filter((id) => id.startsWith("W")))
        expect(kills.get(point)).toMatch(moments);
    },
    900_000,
  );

  it("FLOW-77 STORE-07 P2 so does one that is killed while a server has its commit", async () => {
    const url = inject("postgresUrl");
    const only = sampledOnServers;
    const layouts = ["postgres", "mixed"] as const;
    const tally = await killEverywhere({ layouts, times: 1, inAll: true, chains: 2, url, only });
    expect(tally.faults).toEqual([]);
    const killed = tally.table().map(([point]) => point);
    for (const point of only) expect(killed).toContain(point.split(" ")[0]);
  }, 900_000);

  it("STORE-03 STORE-11 P1 R027 eight processes that race for an approval or a resume have one winner, and the others are told", async () => {
    const { faults, told } = await raceRounds(30);
    expect(faults).toEqual([]);
    expect(told).toBe(30 * 7);
  });

  it("STORE-03 P1 so have sixty-four clients of two processes on a server", async () => {
    const { faults, told } = await raceRounds(6, inject("postgresUrl"));
    expect(faults).toEqual([]);
    expect(told).toBe(6 * 63);
  });

  it("STORE-11 P8 R019 flows whose server restarts and whose processes are killed do each thing as their journals say", async () => {
    const { runs, faults, restarts, kills } = await chaosQuick(startPostgres);
    expect(faults).toEqual([]);
    expect(runs).toBe(40);
    expect(Math.min(restarts, kills)).toBeGreaterThan(1);
  }, 900_000);

  it("STORE-07 P16 R076 a run whose driver fails at any call ends as it would have", async () => {
    const { runs, faults } = await failEverywhere(23);
    expect(faults).toEqual([]);
    expect(runs).toBeGreaterThan(20);
  });
});
