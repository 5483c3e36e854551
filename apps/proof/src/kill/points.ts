/** Which points there are, as one undisturbed run shows them, and what each is called. */
import type { CrashMoment } from "@holdpoint/testing";

import { onceOnly } from "./claim.ts";
import type { KillPoint, Told } from "./dying.ts";
import { once } from "./write-points.ts";

export interface NamedPoint {
  readonly point: KillPoint;
  /** The write points of the threat model that it is around. */
  readonly names: readonly string[];
}

export const moments: readonly CrashMoment[] = ["before", "inside", "after"];

export function pointsOf(told: readonly Told[]): readonly NamedPoint[] {
  const points: NamedPoint[] = [];
  let sealings: number[] = [];
  let isUnderWay = false; // a call that may not be repeated
  for (const line of told) {
    if (line.told === "sealing") sealings.push(line.number);
    if (line.told === "effect") {
      isUnderWay = onceOnly.has(line.tool);
      const names = [isUnderWay ? once("W4") : "W4"];
      points.push(...moments.map((moment) => ({ point: { effect: line.number, moment }, names })));
    }
    if (line.told === "commit") {
      const { number: commit, points: held } = line;
      const isEnd = held.includes(once("W5"));
      const names = isUnderWay && !isEnd ? held.map(once) : held;
      if (isEnd) isUnderWay = false;
      points.push(...moments.map((moment) => ({ point: { commit, moment }, names })));
      // What was sealed for a record, or for a pause.
      const isPause = names.includes("W7") || names.includes("W8");
      if (isPause)
        points.push(...sealings.map((sealing) => ({ point: { sealing }, names: ["W6"] })));
      sealings = [];
    }
  }
  return points;
}

/** One point of each kind that was not seen yet, by what its commit holds and by its moment: what CI has time for. */
export function sampled(points: readonly NamedPoint[], seen: Set<string>): readonly NamedPoint[] {
  return points.filter(({ point, names }) => {
    const kind = `${names.join(" ")} ${momentOf(point)}`;
    if (seen.has(kind)) return false;
    seen.add(kind);
    return true;
  });
}

export function momentOf(point: KillPoint): CrashMoment {
  return "moment" in point ? point.moment : "inside";
}
