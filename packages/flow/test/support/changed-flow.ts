import { z } from "zod";

import { flow, type FlowRunner, type Migration } from "../../src/index.ts";
import { effects } from "./effects.ts";
import { paused } from "./world.ts";

export const Was = z.object({
  n: z.number(),
  sum: z.number().optional(),
  note: z.string().optional(),
});
export const Is = z.object({
  n: z.number(),
  total: z.number().optional(),
  note: z.string().optional(),
});

/** A flow and what became of it: a node and a field have another name, and there is one node more. */
export function change() {
  const { log, free, gated } = effects();
  const was = flow("f", Was)
    .node("start", (s) => ({ n: s.n + 1 }))
    .node("quick", () => ({ note: "done" }))
    .node("pay", async (s, ctx) => {
      const { got } = await ctx.call(free, { n: s.n });
      return { sum: (await ctx.call(gated, { n: got })).got };
    })
    .edge("start", "pay")
    .edge("start", "quick")
    .edge("quick", "$end")
    .build();
  const is = flow("f", Is)
    .node("start", (s) => ({ n: s.n + 1 }))
    .node("payout", async (s, ctx) => {
      const { got } = await ctx.call(free, { n: s.n });
      return { total: (await ctx.call(gated, { n: got })).got };
    })
    .node("quick", () => ({ note: "done" }))
    .gate("check", { payload: (s) => s.total })
    .edge("start", "payout")
    .edge("start", "quick")
    .edge("quick", "$end")
    .edge("payout", "check")
    .build();
  const migration: Migration = {
    flow: "f",
    from: was.digest,
    to: is.digest,
    nodes: { pay: "payout" },
    state: ({ sum, ...state }) => ({ ...state, ...(sum !== undefined && { total: sum }) }),
  };
  return { log, was, is, migration };
}

/** The text of a checkpoint, and what another process makes of it. */
export const held = (runner: () => FlowRunner, result: Awaited<ReturnType<FlowRunner["run"]>>) =>
  runner().dumpCheckpoint(paused(result).checkpoint);
