/** Kills around what is done to a whole file: each call of opening a new one (W23), each commit of a purge (W24). */
import { copyFileSync, mkdtempSync } from "node:fs";
import { join } from "node:path";

import type { CrashMoment, CrashPoint } from "@holdpoint/testing";

import { bundled, runChild } from "../child-process.ts";
import type { Told } from "./dying.ts";
import type { HouseJob } from "./house.ts";
import { moments } from "./points.ts";
import type { Tally } from "./tally.ts";

interface HouseHow {
  readonly folder: string;
  readonly quick: boolean;
  readonly tally: Tally;
}

export async function killHouse({ folder, quick, tally }: HouseHow): Promise<void> {
  const program = bundled(join(import.meta.dirname, "house.ts"), folder);
  const does = (job: HouseJob) => runChild<Told>(program, job);
  const fresh = (): string => mkdtempSync(join(folder, "house-"));

  const calm = (await does({ folder: fresh(), does: "open" })).lines.find(isOpened);
  if (calm === undefined) throw new Error("a new file was not opened");
  for (let call = 1; call <= calm.calls; call += quick ? 9 : 1) {
    for (const moment of ["before", "after"] as const) {
      const place = fresh();
      const ended = await does({ folder: place, does: "open", point: { call, moment } });
      const next = await does({ folder: place, does: "open" });
      const found = next.lines.find(isOpened);
      const faults = [
        ...(ended.killed ? [] : ["not killed there"]),
        ...(found?.state === calm.state
          ? []
          : [`the next opening found ${found?.state} ${next.errors}`]),
      ];
      tally.house("W23", moment, faults);
    }
  }

  const filled = fresh();
  await does({ folder: filled, does: "fill" });
  for (let commit = 1; ; commit += 1) {
    const came = await Promise.all(
      moments.map((moment) => purged(does, { filled, place: fresh(), point: { commit, moment } })),
    );
    if (came.every(({ killed }) => !killed)) return;
    for (const { moment, faults } of came) tally.house("W24", moment, faults);
  }
}

async function purged(
  does: (job: HouseJob) => ReturnType<typeof runChild<Told>>,
  how: {
    readonly filled: string;
    readonly place: string;
    readonly point: CrashPoint & { readonly commit: number; readonly moment: CrashMoment };
  },
) {
  const { filled, place, point } = how;
  copyFileSync(join(filled, "house.db"), join(place, "house.db"));
  const { killed } = await does({ folder: place, does: "purge", point });
  const { lines, errors } = await does({ folder: place, does: "check" });
  const line = lines.find((each) => each.told === "house");
  const faults = line?.told === "house" ? line.faults : [`no answer: ${errors}`];
  return { killed, moment: point.moment, faults };
}

function isOpened(line: Told): line is Extract<Told, { readonly told: "opened" }> {
  return line.told === "opened";
}
