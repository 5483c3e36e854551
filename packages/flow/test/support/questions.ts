import { z } from "zod";

import { answer, defineInterrupt, flow, type NodeContext } from "../../src/index.ts";

export const Said = z.object({ n: z.number(), said: z.array(z.string()).optional() });

/** A question with info, a cursor and an answer that its schema makes something of. */
export const Evidence = defineInterrupt({
  name: "Evidence",
  info: z.object({ round: z.number() }),
  answer: z.object({ text: z.string().min(1), at: z.coerce.date().optional() }),
  cursor: z.object({ round: z.number(), said: z.array(z.string()) }),
  answerBy: "anyone",
});

/** The barest question. */
export const Yes = defineInterrupt({ name: "Yes", answer: z.boolean() });

/** A flow of one node that may ask both. */
export function asking(
  body: (ctx: NodeContext, n: number) => Promise<string[] | void>,
  retries = 1,
) {
  return flow("f", Said)
    .node("ask", async (s, ctx) => ({ said: (await body(ctx, s.n)) ?? [] }), {
      asks: [Evidence, Yes],
      retry: { attempts: retries, on: () => true },
    })
    .build();
}

export const text = (said: string) => answer(Evidence, { text: said });
