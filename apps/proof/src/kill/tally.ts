import type { CrashMoment } from "@holdpoint/testing";

import { moments } from "./points.ts";
import type { Verdict } from "./verdict.ts";
import type { Layout } from "./world.ts";
import { isOnce } from "./write-points.ts";

interface Found {
  readonly layout: Layout;
  readonly names: readonly string[];
  readonly moment: CrashMoment;
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
  readonly #ends = new Map<Layout, string>();

  /** How an undisturbed run ends there. */
  expect(layout: Layout, end: string): void {
    this.#ends.set(layout, end);
  }

  /** A kill around something that is done to a whole file. */
  house(point: string, moment: CrashMoment, faults: readonly string[]): void {
    this.kills += 1;
    this.#count([point], moment);
    for (const fault of faults) this.fail(`${point}, ${moment}: ${fault}`);
  }

  add({ layout, names, moment, key, verdict, errors }: Found): void {
    this.kills += 1;
    this.#count(names, moment);
    const where = `${layout}, ${moment} ${names.join(" ")}, ${key}`;
    if (verdict === undefined) return this.fail(`${where}: stranded: ${errors}`);
    for (const fault of verdict.faults) this.fail(`${where}: ${fault}`);
    if (verdict.status === "in-doubt") {
      this.inDoubt += 1;
      // Only between the intent and the end of a call that may not be repeated.
      if (!names.some(isOnce)) this.fail(`${where}: in doubt there`);
    }
    const end = verdict.end.replaceAll(key, "KEY");
    if (end !== this.#ends.get(layout)) this.fail(`${where}: ends otherwise: ${end}`);
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
