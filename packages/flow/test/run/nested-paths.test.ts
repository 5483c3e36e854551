import { describe, expect, it } from "vitest";
import { z } from "zod";

import { flow } from "../../src/index.ts";
import { settle } from "../support/clock.ts";
import { effects } from "../support/effects.ts";
import { world } from "../support/world.ts";

const State = z.object({ n: z.number() });

describe("a nested run", () => {
  it("FLOW-62 has the path of its flow's runs alone, whichever flow beside it begins first", async () => {
    const { tool, free } = effects();
    const slow = tool("slow", { run: (n) => settle().then(() => n) });
    const named = (name: string) =>
      flow(name, State)
        .node("pay", () => ({}))
        .build();
    const [left, right] = [named("left"), named("constructor")];
    const pathsWhere = async (leftFirst: boolean) => {
      const outer = flow("outer", State)
        .node(
          "a",
          async (_, ctx) => {
            const after = async (first: boolean, of: typeof left, n: number) => {
              await ctx.call(first ? free : slow, { n });
              await ctx.run(of, { n });
            };
            await Promise.all([
              after(leftFirst, left, 1),
              after(!leftFirst, right, 2),
              after(!leftFirst, right, 3),
            ]);
            return {};
          },
          { runs: [left, right] },
        )
        .build();
      const { runner, notices } = world();
      await runner().run(outer, { n: 1 });
      return notices
        .flatMap(({ type, visit }) => (type === "visit-finished" && visit ? [visit] : []))
        .filter((visit) => visit.endsWith("/pay#1"));
    };
    const [one, ...others] = [
      "a#1/left.0/pay#1",
      "a#1/constructor.0/pay#1",
      "a#1/constructor.1/pay#1",
    ];
    expect(await pathsWhere(true)).toEqual([one, ...others]);
    expect(await pathsWhere(false)).toEqual([...others, one]);
  });
});
