import { testIds } from "@holdpoint/testing";

/** Chance by seed: everything that a simulated world draws comes from one of these, in one order. */
export class Chance {
  readonly #next: () => number;

  constructor(seed: number) {
    const ids = testIds(seed);
    this.#next = () => ids.random();
  }

  /** A whole number from 0 up to, and without, `bound`. */
  below(bound: number): number {
    return Math.floor(this.#next() * bound);
  }

  /** Whether something of this likelihood (0 to 1) happens. */
  happens(likelihood: number): boolean {
    return this.#next() < likelihood;
  }

  /** One of a list that is not empty. */
  pick<T>(list: readonly T[]): T {
    return list[this.below(list.length)]!;
  }

  /** One of several by weight; `undefined` where all weights are 0. */
  weighed<T extends string>(weights: Readonly<Partial<Record<T, number>>>): T | undefined {
    const entries = Object.entries(weights) as [T, number][];
    const total = entries.reduce((sum, [, weight]) => sum + weight, 0);
    if (total <= 0) return undefined;
    let left = this.#next() * total;
    for (const [name, weight] of entries) {
      left -= weight;
      if (left < 0) return name;
    }
    return entries.findLast(([, weight]) => weight > 0)?.[0];
  }
}
