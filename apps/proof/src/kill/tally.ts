import type { CrashMoment } from "@holdpoint/testing";

import type { Told } from "./dying.ts";
import type { Layout } from "./places.ts";
import { mayBeInDoubt, moments, type NamedPoint } from "./points.ts";
import type { Verdict } from "./verdict.ts";

interface Found {
  readonly layout: Layout;
  readonly named: NamedPoint;
  /** What the process that was killed had told of its run. */
  readonly told: readonly Told[];
  /** The run's start key, which is in its output. */
  readonly key: string;
  readonly verdict: Verdict | undefined;
  readonly errors: string;
}

/** What was found after each kill, added up. */
export class Tally {
  kills = 0;
  inDoubt = 0;
  readonly faults: string[] = [];
  readonly #byPoint = new Map<string, number[]>();
  readonly #ends = new Map<string, string>();

  /** How an undisturbed run ends there. */
  expect(layout: Layout, scenario: string, end: string): void {
    this.#ends.set(`${layout} ${scenario}`, end);
  }

  /** A kill around something that is done to a whole store. */
  house(point: string, moment: CrashMoment, faults: readonly string[]): void {
    this.kills += 1;
    this.#count([point], moment);
    for (const fault of faults) this.fail(`${point}, ${moment}: ${fault}`);
  }

  add({ layout, named, told, key, verdict, errors }: Found): void {
    const { scenario, point } = named;
    this.kills += 1;
    this.#count(namesOf(named, told), point.moment);
    const where = `${layout}, ${scenario}, ${JSON.stringify(point)}, ${key}`;
    if (verdict === undefined) return this.fail(`${where}: stranded: ${errors}`);
    for (const fault of verdict.faults) this.fail(`${where}: ${fault}`);
    if (verdict.doubts.length > 0) {
      this.inDoubt += 1;
      if (!mayBeInDoubt(told)) this.fail(`${where}: in doubt there`);
    }
    const end = verdict.end.replaceAll(key, "KEY");
    if (end !== this.#ends.get(`${layout} ${scenario}`)) this.fail(`${where}: ends ${end}`);
  }

  #count(names: readonly string[], moment: CrashMoment): void {
    for (const name of names) {
      const cells = this.#byPoint.get(name) ?? [0, 0, 0];
      cells[moments.indexOf(moment)]! += 1;
      this.#byPoint.set(name, cells);
    }
  }

  /** Kills before, inside and after each write point. */
  table(): readonly (readonly [point: string, kills: string])[] {
    const order = (name: string): number => Number(/\d+/.exec(name)?.[0] ?? 99);
    return [...this.#byPoint]
      .toSorted(([a], [b]) => order(a) - order(b) || (a < b ? -1 : 1))
      .map(([point, kills]) => [point, kills.join(" ")]);
  }

  fail(what: string): void {
    this.faults.push(what);
  }
}

/** The write points of the commit that the process died at: it may hold others than the undisturbed run's. */
function namesOf({ point, names }: NamedPoint, told: readonly Told[]): readonly string[] {
  if (point.at !== "commit") return names;
  const own = told.filter((line) => line.told === "commit" && line.points.includes(point.of));
  const last = own[point.nth - 1];
  return last?.told === "commit" ? last.points : names;
}
