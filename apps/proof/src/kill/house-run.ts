/** Kills around what is done to a whole store: each call of opening a new one (W23), each commit of a purge (W24). */
import { join } from "node:path";

import type { CrashMoment } from "@holdpoint/testing";

import { bundled, runChild } from "../child-process.ts";
import type { Told } from "./dying.ts";
import type { HouseJob } from "./house.ts";
import type { FreshPlaces } from "./fresh-places.ts";
import type { Place } from "./places.ts";
import { moments } from "./points.ts";
import type { Tally } from "./tally.ts";

interface Killing {
  readonly places: FreshPlaces;
  /** Kills of each moment, over all calls and commits that there are. */
  readonly times: number;
  readonly tally: Tally;
}

type Does = (job: HouseJob) => ReturnType<typeof runChild<Told>>;

export async function killHouse(folder: string, killing: Killing): Promise<void> {
  const program = bundled(join(import.meta.dirname, "house.ts"), folder);
  const does: Does = (job) => runChild<Told>(program, job);
  await Promise.all([killOpening(does, killing), killPurge(does, killing)]);
}

async function killOpening(does: Does, { places, times, tally }: Killing): Promise<void> {
  const calm = await places.lend(async (place) =>
    (await does({ place, does: "open" })).lines.find(isOpened),
  );
  if (calm === undefined) throw new Error("a new store was not opened");
  for (let time = 0; time < times; time += 1) {
    for (const moment of ["before", "after"] as const) {
      const point = { call: spreadOver(calm.calls, time, times), moment };
      const faults = await places.lend((place) => openedAfter(does, place, point, calm));
      tally.house("W23", moment, faults);
    }
  }
}

/** Which of so many calls is struck the n-th time of all: all parts of them alike. */
function spreadOver(calls: number, time: number, times: number): number {
  return 1 + (Math.floor(((time + 0.5) * calls) / Math.min(times, calls)) % calls);
}

async function openedAfter(
  does: Does,
  place: Place,
  point: { readonly call: number; readonly moment: "before" | "after" },
  calm: { readonly state: string },
): Promise<readonly string[]> {
  const ended = await does({ place, does: "open", point });
  const next = await does({ place, does: "open" });
  const found = next.lines.find(isOpened);
  return [
    ...(ended.killed ? [] : [`not killed at call ${point.call}`]),
    ...(found?.state === calm.state
      ? []
      : [`the next opening found ${found?.state} ${next.errors}`]),
  ];
}

async function killPurge(does: Does, { places, times, tally }: Killing): Promise<void> {
  const calm = await places.lend(async (place) => {
    await does({ place, does: "fill" });
    return (await does({ place, does: "purge" })).lines.find(isPurged);
  });
  if (calm === undefined) throw new Error("nothing was taken out");
  for (let time = 0; time < times; time += 1) {
    for (const moment of moments) {
      const point = { commit: spreadOver(calm.commits, time, times), moment };
      const faults = await places.lend((place) => purged(does, place, point));
      tally.house("W24", moment, faults);
    }
  }
}

async function purged(
  does: Does,
  place: Place,
  point: { readonly commit: number; readonly moment: CrashMoment },
): Promise<readonly string[]> {
  await does({ place, does: "fill" });
  const { killed } = await does({ place, does: "purge", point });
  const { lines, errors } = await does({ place, does: "check" });
  const line = lines.find((each) => each.told === "house");
  return [
    ...(killed ? [] : [`not killed at commit ${point.commit}`]),
    ...(line?.told === "house" ? line.faults : [`no answer: ${errors}`]),
  ];
}

function isOpened(line: Told): line is Extract<Told, { readonly told: "opened" }> {
  return line.told === "opened";
}

function isPurged(line: Told): line is Extract<Told, { readonly told: "purged" }> {
  return line.told === "purged";
}
