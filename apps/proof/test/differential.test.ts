import { describe, expect, it } from "vitest";

import { differential, pointsQuick } from "../src/differential/command.ts";

describe("a run that pauses", () => {
  it("FLOW-62 R131 P18 ends as one that never paused, wherever it pauses and however often, over 200 generated flows", async () => {
    const { figures, faults } = await differential({ flows: 200, seed: 62, points: pointsQuick });
    expect(faults).toEqual([]);
    expect(figures.flows).toBe(200);
    expect(figures.pauses).toBeGreaterThan(1_000);
    // Most flows come to their end, or little would be compared; every kind of block, node and piece takes part.
    expect(figures.failing).toBeLessThan(40);
    expect([...figures.kinds.keys()].toSorted()).toEqual(kinds.toSorted());
    expect(Math.min(...figures.kinds.values())).toBeGreaterThan(10);
  });
});

const kinds = [
  "call node",
  "choice",
  "choice, joined",
  "ctx ask",
  "ctx dice",
  "ctx float",
  "ctx now",
  "ctx sleep",
  "ctx step",
  "ctx, side by side",
  "ctx.call failing",
  "ctx.call flaky",
  "ctx.call free",
  "ctx.call gated",
  "ctx.run",
  "fork",
  "fork, joined",
  "function node",
  "gate node",
  "loop",
  "map node",
  "map-call node",
  "subflow node",
];
