import { END, flow } from "@holdpoint/flow";
import { z } from "zod";

import type { Tools } from "./tools.ts";

const State = z.object({
  id: z.string(),
  round: z.int().default(0),
  notes: z.array(z.string()).default([]),
});

const roundsMax = 3;

/** A loop over a gate, a route, a round of branches side by side that come together. */
export function triageFlow({ lookUp, pay, mail, book }: Tools) {
  return flow("triage", State)
    .node("draw", async ({ id, round }, ctx) => {
      const { ref } = await ctx.call(lookUp, { id, n: round });
      return { round: round + 1, notes: [ref] };
    })
    .node("left", async ({ id, round }, ctx) => {
      const { ref } = await ctx.call(book, { id, n: 10 + round });
      return { notes: [ref] };
    })
    .call("right", pay, {
      args: ({ id, round }) => ({ id, n: 20 + round }),
      into: ({ ref }) => ({ notes: [ref] }),
    })
    .node("unpaid", () => ({ notes: ["unpaid"] }))
    .node("meet", ({ round }) => ({ notes: [`met ${round}`] }), { join: true })
    .gate("again", { payload: ({ round }) => ({ round }) })
    .call("close", mail, { args: ({ id, round }) => ({ id, n: 100 + round }) })
    .route("draw", ["left", "right", "close"], ({ round }) =>
      round > roundsMax ? "close" : round === 2 ? ["left"] : ["left", "right"],
    )
    .edge("left", "meet")
    .edge("right", "meet")
    .failed("right", "unpaid")
    .edge("unpaid", "meet")
    .path("meet", "again", "draw")
    .denied("again", "close")
    .edge("close", END)
    .reduce("notes", (all, more) => [...all, ...more])
    .build();
}
