/**
 * The kill proof (P2): a process is killed at a point, the next one takes up what it left and is killed at the next point.
 */
import { rmSync } from "node:fs";
import { join } from "node:path";

import { bundled, folderFor, runChild, type Ended } from "../child-process.ts";
import type { Job } from "./child.ts";
import type { Told } from "./dying.ts";
import { FreshPlaces, serverAt } from "./fresh-places.ts";
import { killHouse } from "./house-run.ts";
import type { Layout, Place } from "./places.ts";
import { pointsOf, spread, takeovers, type NamedPoint } from "./points.ts";
import { Tally } from "./tally.ts";
import type { Heard, Verdict } from "./verdict.ts";
import { leaseMs, scenarios, type Scenario, type WorldHow } from "./world.ts";

export interface KillHow {
  readonly layouts: readonly Layout[];
  /** Kills of each write point and moment: in each layout, or in all of them together. */
  readonly times: number;
  readonly inAll: boolean;
  /** Which write points at which moment; all, where nothing is said. */
  readonly only?: readonly string[];
  /** Processes side by side, each chain in a place of its own. */
  readonly chains: number;
  /** Where layouts with a server have it. */
  readonly url?: string;
}

/** Kills around every write point and says what was found. */
export async function killEverywhere(how: KillHow): Promise<Tally> {
  const folder = folderFor("kill");
  const server = how.url === undefined ? undefined : serverAt(how.url);
  try {
    const program = bundled(join(import.meta.dirname, "child.ts"), folder);
    const tally = new Tally();
    const seen = new Map<string, number>();
    for (const layout of how.layouts) {
      const places = new FreshPlaces(folder, layout, server);
      const points = await undisturbed({ program, places, tally });
      const { times, inAll, only } = how;
      const queue = [...spread(points, { times, only, seen: inAll ? seen : new Map() })];
      const chain = { program, places, queue, tally };
      await Promise.all(Array.from({ length: how.chains }, () => killChain(chain)));
      const isHouse = only === undefined && houseLayouts.has(layout);
      if (isHouse) await killHouse(folder, { places, times, tally });
    }
    return tally;
  } finally {
    await server?.pool.end();
    rmSync(folder, { recursive: true, force: true });
  }
}

interface Killing {
  readonly program: string;
  readonly places: FreshPlaces;
  readonly tally: Tally;
}

/** What is done to a whole store is done to one: layouts of several are left out. */
const houseLayouts: ReadonlySet<Layout> = new Set(["sqlite", "postgres"]);

/** Runs that nobody disturbs: the points that there are, and how each ends. */
async function undisturbed(killing: Killing): Promise<readonly NamedPoint[]> {
  const { program, places, tally } = killing;
  const found: NamedPoint[] = [];
  const place = await places.make();
  let turn = 0;
  const next = (): WorldHow => worldHow(places, place, (turn += 1));
  for (const scenario of scenarios) {
    const key = `calm-${scenario}`;
    const ran = await child(program, { ...next(), begin: { scenario, key } });
    if (ran.code !== 0) throw new Error(`undisturbed, the ${scenario} ended: ${ran.errors}`);
    const recover = { scenario, key, heard: heardIn(ran.lines) };
    const verdict = verdictIn(await child(program, { ...next(), recover }));
    if (verdict === undefined || verdict.faults.length > 0 || verdict.doubts.length > 0)
      throw new Error(`undisturbed, the ${scenario} is ${JSON.stringify(verdict)}`);
    found.push(...pointsOf(ran.lines, scenario));
    tally.expect(places.layout, scenario, verdict.end.replaceAll(key, "KEY"));
  }
  await places.remove(place);
  return places.supervised ? [...found, ...takeovers] : found;
}

/** Every process begins where the lease of the one before has lapsed, by the store's time. */
function worldHow({ supervised }: FreshPlaces, place: Place, turn: number): WorldHow {
  return { ...place, supervised, aheadMs: turn * 2 * leaseMs };
}

/** More runs in one place make its lists longer, and each is of a place's age. */
const runsPerPlace = 40;

interface Victim {
  readonly scenario: Scenario;
  readonly key: string;
  readonly named: NamedPoint;
  readonly lines: readonly Told[];
}

async function killChain(killing: Killing & { readonly queue: NamedPoint[] }): Promise<void> {
  const { program, places, queue, tally } = killing;
  let victim: Victim | undefined;
  let place = await places.make();
  for (let turn = 1; ; turn += 1) {
    const named = turn % runsPerPlace === 0 ? undefined : queue.pop();
    if (named === undefined && victim === undefined && queue.length === 0) break;
    const how = worldHow(places, place, turn);
    const key = `r${turn}`;
    const { ended, heard } = await oneTurn(program, how, { victim, named, key });
    if (victim !== undefined) {
      const { key: of, named: at, lines: told } = victim;
      const verdict = verdictIn(heard);
      const { errors } = heard;
      tally.add({ layout: places.layout, named: at, told, key: of, verdict, errors });
    }
    if (named !== undefined && !ended.killed) {
      // What is ready together is written together: so often it may not have come. Once it always does.
      if (ended.code === 0 && named.point.nth > 1)
        queue.push({ ...named, point: { ...named.point, nth: 1 } });
      else
        tally.fail(
          `${places.layout} ${JSON.stringify(named)}: not killed, ended with ${ended.code}: ${ended.errors}`,
        );
    }
    const { lines, killed } = ended;
    victim = named && killed ? { scenario: named.scenario, key, named, lines } : undefined;
    if (named === undefined) {
      await places.remove(place);
      place = await places.make();
    }
  }
  await places.remove(place);
}

/** A process that takes up what the one before left, and is killed at the next point; one more where that is the taking up. */
async function oneTurn(
  program: string,
  how: WorldHow,
  {
    victim,
    named,
    key,
  }: { victim: Victim | undefined; named: NamedPoint | undefined; key: string },
): Promise<{ readonly ended: Ended<Told>; readonly heard: Ended<Told> }> {
  const recover = victim && {
    scenario: victim.scenario,
    key: victim.key,
    heard: heardIn(victim.lines),
  };
  const point = named?.takingUp === true ? midway : named?.point;
  const begin = named && { scenario: named.scenario, key, ...(point && { point }) };
  const heard = await child(program, {
    ...how,
    ...(recover && { recover }),
    ...(begin && { begin }),
  });
  if (named?.takingUp !== true || !heard.killed) return { ended: heard, heard };
  const { killed, errors, code } = await child(program, {
    ...how,
    aheadMs: how.aheadMs + leaseMs,
    dies: named.point,
  });
  return { ended: { lines: heard.lines, killed, errors, code }, heard };
}

/** Where a run is left that somebody then takes up: in the middle of its work. */
const midway = { at: "commit", of: "W5", nth: 1, moment: "after" } as const;

function child(program: string, job: Job): Promise<Ended<Told>> {
  return runChild<Told>(program, job);
}

/** What a killed process had told of the run that it was killed at; before its verdict it spoke of the one before. */
function heardIn(told: readonly Told[]): Heard {
  const lines = told.slice(told.findIndex((line) => line.told === "verdict") + 1);
  const decided = lines.flatMap((line) => (line.told === "decided" ? [line.approvalId] : []));
  const started = lines.find((line) => line.told === "started");
  const cancelled = lines.some((line) => line.told === "cancelled");
  return { decided, cancelled, ...(started?.told === "started" && { runId: started.runId }) };
}

function verdictIn({ lines }: Ended<Told>): Verdict | undefined {
  const line = lines.find(({ told }) => told === "verdict");
  return line?.told === "verdict" ? (line.verdict as Verdict) : undefined;
}
