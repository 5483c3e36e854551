import { defineTool } from "@holdpoint/tools";
import fc from "fast-check";
import { z } from "zod";

import type { NodeContext } from "../../src/index.ts";
import { settle } from "./clock.ts";

/** A piece of a node's code, as data. Everything it waits for is the context's. */
export type Piece =
  | { readonly do: "call"; readonly n: number; readonly slow: number }
  | { readonly do: "gated"; readonly n: number; readonly slow: number }
  | { readonly do: "step"; readonly n: number }
  | { readonly do: "moment" }
  | { readonly do: "fail"; readonly n: number }
  | { readonly do: "sequence"; readonly of: readonly Piece[] }
  | { readonly do: "together"; readonly of: readonly Piece[] }
  | { readonly do: "race"; readonly of: readonly Piece[] }
  | { readonly do: "float"; readonly of: Piece };

const leaf: fc.Arbitrary<Piece> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({ do: fc.constant("call" as const), n: fc.nat(2), slow: fc.nat(2) }),
  },
  {
    weight: 4,
    arbitrary: fc.record({ do: fc.constant("gated" as const), n: fc.nat(2), slow: fc.nat(2) }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("step" as const), n: fc.nat(2) }) },
  { weight: 1, arbitrary: fc.constant({ do: "moment" as const }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("fail" as const), n: fc.nat(1) }) },
);

/** Concurrent programs, two or three levels deep. */
export const program: fc.Arbitrary<Piece> = fc.letrec<{ piece: Piece }>((tie) => ({
  piece: fc.oneof(
    { maxDepth: 3, depthSize: "small", withCrossShrink: true },
    leaf,
    fc.record({
      do: fc.constant("sequence" as const),
      of: fc.array(tie("piece"), { minLength: 1, maxLength: 4 }),
    }),
    fc.record({
      do: fc.constant("together" as const),
      of: fc.array(tie("piece"), { minLength: 2, maxLength: 4 }),
    }),
    fc.record({
      do: fc.constant("race" as const),
      of: fc.array(tie("piece"), { minLength: 2, maxLength: 3 }),
    }),
    fc.record({ do: fc.constant("float" as const), of: tie("piece") }),
  ),
})).piece;

/** What a program does to the world, and what it saw. */
export interface Trace {
  readonly effects: string[];
  seen: string[];
}

/** Tools of a program: equal calls give different results, so that a swapped one shows. */
export function programTools(trace: Trace, confirm: boolean) {
  const counts = new Map<string, number>();
  const next = (name: string): number => {
    const count = (counts.get(name) ?? 0) + 1;
    counts.set(name, count);
    return count;
  };
  const make = (name: string, gated: boolean) =>
    defineTool({
      name,
      description: name,
      input: z.object({ n: z.number(), slow: z.number() }),
      output: z.object({ got: z.string() }),
      confirm: gated,
      execute: async ({ n, slow }) => {
        trace.effects.push(`${name}(${n},${slow})`);
        const got = `${name}${n}:${next(`${name}${n}${slow}`)}`;
        if (slow > 0) await settle(slow);
        return { got };
      },
    });
  const failing = defineTool({
    name: "failing",
    description: "fails",
    input: z.object({ n: z.number() }),
    execute: ({ n }) => {
      trace.effects.push(`failing(${n})`);
      throw new RangeError(`no ${n}`);
    },
  });
  return { call: make("call", false), gated: make("gated", confirm), failing };
}

/** Runs a program, writing down each value in the order in which the code got it. */
export async function perform(
  piece: Piece,
  ctx: NodeContext,
  tools: ReturnType<typeof programTools>,
  trace: Trace,
): Promise<string> {
  const saw = (value: string): string => {
    trace.seen.push(value);
    return value;
  };
  switch (piece.do) {
    case "call":
      return saw((await ctx.call(tools.call, { n: piece.n, slow: piece.slow })).got);
    case "gated":
      return saw((await ctx.call(tools.gated, { n: piece.n, slow: piece.slow })).got);
    case "step":
      return saw(
        await ctx.step(`step${piece.n}`, () => `step${piece.n}:${trace.effects.push("step")}`),
      );
    case "moment":
      return saw(`${ctx.random()}`);
    case "fail":
      return ctx.call(tools.failing, { n: piece.n }).then(
        () => "never",
        (error: Error) => saw(`${error.name}: ${error.message}`),
      );
    case "sequence": {
      const parts: string[] = [];
      for (const part of piece.of) parts.push(await perform(part, ctx, tools, trace));
      return parts.join("+");
    }
    case "together":
      return (await Promise.all(piece.of.map((part) => perform(part, ctx, tools, trace)))).join(
        "|",
      );
    case "race":
      return saw(
        `first ${await Promise.race(piece.of.map((part) => perform(part, ctx, tools, trace)))}`,
      );
    case "float":
      void perform(piece.of, ctx, tools, trace);
      return "";
  }
}
