import { END, flow } from "@holdpoint/flow";
import { z } from "zod";

import { minuteMs, type Tools } from "./tools.ts";

const State = z.object({
  id: z.string(),
  cents: z.int().optional(),
  score: z.string().optional(),
  refs: z.array(z.string()).optional(),
  sent: z.string().optional(),
});

/** A quorum, three questions at once of one node, an edit, a denial's edge, a call that may not be repeated. */
export function refundFlow({ lookUp, book, pay, ship, wire, mail }: Tools) {
  return flow("refund", State)
    .node("assess", async ({ id }, ctx) => {
      const found = await ctx.call(lookUp, { id, n: 1 });
      const score = await ctx.step("score", () => `score of ${found.ref}`);
      const booked = await ctx.call(book, { id, n: 2 });
      return { cents: 300, score: `${score}, ${booked.ref}` };
    })
    .gate("review", {
      payload: ({ id, cents }) => ({ id, cents }),
      quorum: 2,
      excludeRequester: true,
      edits: {
        schema: z.object({ id: z.string(), cents: z.int().optional() }),
        apply: ({ cents }) => ({ cents }),
      },
    })
    .node("settle", async ({ id, cents = 0 }, ctx) => {
      const asked = [pay, ship, wire].map((tool, at) =>
        ctx.call(tool, { id, n: cents + at }).then(
          ({ ref }) => ref,
          (error: Error) => error.name,
        ),
      );
      return { refs: await Promise.all(asked) };
    })
    .gate("extra", { payload: ({ refs }) => ({ refs }), expiresInMs: 20 * minuteMs })
    .node("given", () => ({ sent: "extra" }))
    .call("mail", mail, {
      args: ({ id }) => ({ id, n: 600 }),
      into: ({ ref }, { sent = "" }) => ({ sent: `${sent}${ref}` }),
    })
    .path("assess", "review", "settle", "extra", "given", "mail", END)
    .denied("review", END)
    .denied("extra", "mail")
    .build();
}
