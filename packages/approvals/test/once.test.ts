// P1 in a form for every run; `bench/once.ts` is the long one.
import { expect, it } from "vitest";

import { raceRound, type RoundKind } from "../bench/once-round.ts";
import { world } from "./world.ts";

const rounds = 30;
const callers = 64;

it.each<[RoundKind, (result: Awaited<ReturnType<typeof raceRound>>) => boolean]>([
  ["decide", ({ deciders, spenders, told }) => deciders === 1 && spenders === 0 && told === 63],
  ["settle", ({ deciders, spenders, told }) => deciders === 0 && spenders === 1 && told === 63],
  ["both", ({ deciders, spenders }) => deciders + spenders >= 1 && deciders <= 1 && spenders <= 1],
])(
  "P1 APR-20 has exactly one winner of 64 callers that race to %s, and tells all others the truth",
  async (kind, fair) => {
    const { port } = world();
    for (let round = 0; round < rounds; round += 1) {
      const result = await raceRound(port, round, kind, callers);
      expect(result.wrong).toBe(0);
      expect(fair(result)).toBe(true);
      expect(result.deciders + result.spenders + result.told).toBe(callers);
    }
  },
);
