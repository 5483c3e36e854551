import { z } from "zod";

import { flow, type Flow, type Interrupt, type NodeContext } from "../../src/index.ts";

export const Listed = z.object({
  list: z.array(z.number()),
  got: z.array(z.any()).default([]),
});
const One = z.object({ n: z.number(), got: z.any().optional() });

export type Listing = Flow<z.output<typeof Listed>, z.input<typeof Listed>>;

/** A piece of a node's code, run for each number of a list. */
export type Code = (n: number, ctx: NodeContext) => Promise<unknown>;

type Asks = readonly Interrupt[];

const inner = (code: Code, asks: Asks) =>
  flow("inner", One)
    .node("code", async (s, ctx) => ({ got: await code(s.n, ctx) }), { asks })
    .build();

const items = (code: Code, asks: Asks = []): Listing =>
  flow("items", Listed)
    .map("m", {
      over: (s) => s.list,
      each: (n, ctx) => code(n, ctx),
      into: ({ values }) => ({ got: [...values] }),
      asks,
    })
    .build();

/** Where code may run: always for each number of the list, side by side, with what it gives in `got`. */
export const shapes: Readonly<Record<string, (code: Code, asks?: Asks) => Listing>> = {
  "an item of a map": items,
  "a nested run": (code, asks = []) => {
    const one = inner(code, asks);
    return flow("runs", Listed)
      .node(
        "a",
        async (s, ctx) => {
          const ends = await Promise.all(s.list.map((n) => ctx.run(one, { n })));
          return { got: ends.map((end): unknown => end.got) };
        },
        { runs: [one] },
      )
      .build();
  },
  "a nested run in an item in a nested run": (code, asks = []) => {
    const one = inner(code, asks);
    const list = flow("each", Listed)
      .map("m", {
        over: (s) => s.list,
        each: async (n, ctx): Promise<unknown> => (await ctx.run(one, { n })).got,
        into: ({ values }) => ({ got: [...values] }),
        runs: [one],
      })
      .build();
    return flow("around", Listed)
      .subflow("in", list, {
        input: ({ list: of }) => ({ list: of }),
        into: ({ got }) => ({ got }),
      })
      .build();
  },
};
