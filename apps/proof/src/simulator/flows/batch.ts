import { END, flow } from "@holdpoint/flow";
import { z } from "zod";

import type { Tools } from "./tools.ts";

const State = z.object({ id: z.string(), done: z.array(z.string()).optional() });

/** Questions one after the other in one node, with an expiry; a denial may be for the whole run. Then a call that fails. */
export function batchFlow({ grant, mail, lookUp }: Tools) {
  return flow("batch", State)
    .node("grants", async ({ id }, ctx) => {
      const done: string[] = [];
      for (let n = 1; n <= 3; n += 1) {
        const { ref } = await ctx.call(lookUp, { id, n });
        try {
          done.push((await ctx.call(grant, { id, n })).ref);
        } catch (error) {
          done.push(`${ref}: ${(error as Error).name}`);
        }
      }
      return { done };
    })
    .call("tell", mail, { args: ({ id, done = [] }) => ({ id, n: done.length }) })
    .node("check", ({ done = [] }) => {
      if (done.every((line) => line.endsWith("Denied"))) throw new Error("nothing was granted");
    })
    .path("grants", "tell", "check", END)
    .build();
}
