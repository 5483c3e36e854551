/**
 * Another flow that is killed: runs within the items of a map, a question with a cursor, an approval that is not asked for any
 * more, a gate that nobody answers in time, a sleep.
 */
import { defineInterrupt, flow } from "@holdpoint/flow";
import { defineWorkflow } from "@holdpoint/workflows";
import { z } from "zod";

import { effectTool, type Moments } from "./effects.ts";

/** How long the gate waits, and how long the run sleeps: whoever moves the clock moves it further. */
export const waitMs = 600_000;

const Packing = z.object({ orderId: z.string(), cents: z.int(), ref: z.string().optional() });
const State = z.object({
  orderId: z.string(),
  refs: z.array(z.string()).optional(),
  mark: z.string().optional(),
  late: z.string().optional(),
});

const Mark = defineInterrupt({
  name: "mark",
  answer: z.object({ mark: z.string() }),
  cursor: z.literal("asked"),
});

export function parcels({ effect }: Moments) {
  const label = effectTool("label", effect, { confirm: true, idempotent: true });
  const weigh = effectTool("weigh", effect, { idempotent: true });
  const spare = effectTool("spare", effect, { confirm: true, idempotent: true });
  const packing = flow("packing", Packing)
    .node("weigh", async ({ orderId, cents }, ctx) => {
      await ctx.call(weigh, { orderId, cents });
    })
    .call("label", label, {
      args: ({ orderId, cents }) => ({ orderId, cents }),
      into: ({ ref }) => ({ ref }),
    })
    .path("weigh", "label")
    .build();
  const parcel = flow("parcel", State)
    .map("pack", {
      over: () => [700, 701],
      runs: [packing],
      each: async (cents, ctx, { orderId }) =>
        (await ctx.run(packing, { orderId, cents })).ref ?? "",
      into: ({ values }) => ({ refs: [...values] }),
    })
    .node(
      "mark",
      async ({ orderId }, ctx) => {
        // Asked for only until somebody has said what the mark is: then its record is withdrawn.
        if (!ctx.cursor(Mark).restored)
          ctx.call(spare, { orderId, cents: 800 }).catch(() => undefined);
        return ctx.ask(Mark, undefined, { cursor: "asked" });
      },
      { asks: [Mark] },
    )
    .gate("hold", { payload: ({ mark }) => ({ mark }), expiresInMs: waitMs })
    .node("held", () => ({ late: "held" }))
    .node("rest", async (_, ctx) => {
      await ctx.sleep(waitMs);
      return { late: "rested" };
    })
    .path("pack", "mark", "hold", "held", "rest")
    .denied("hold", "rest")
    .build();
  const definition = defineWorkflow({
    name: "parcel",
    version: "1",
    input: z.object({ orderId: z.string() }),
    resume: z.object({ mark: z.string() }),
    output: z.object({ refs: z.array(z.string()), mark: z.string(), late: z.string() }),
    flow: parcel,
    end: ({ refs = [], mark = "", late = "" }) => ({ refs: [...refs], mark, late }),
  });
  return { definition, flow: parcel };
}
