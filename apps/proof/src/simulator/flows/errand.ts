import { defineInterrupt, END, flow, type NodeContext } from "@holdpoint/flow";
import { z } from "zod";

import { minuteMs, type Tools } from "./tools.ts";

/** What a node's code asks, and no approval answers. */
export const Word = defineInterrupt({
  name: "word",
  info: z.object({ n: z.int() }),
  answer: z.string(),
});

/** What everybody answers to one question: whoever is asked twice says the same. */
export function wordOn(callId: string): string {
  return `word ${callId.slice(-6)}`;
}

const Leg = z.object({ id: z.string(), n: z.int(), ref: z.string().optional() });

/** A run within a run: a look, a question of its own, a payment. */
function legFlow({ lookUp, pay }: Tools) {
  return flow("leg", Leg)
    .node(
      "look",
      async ({ id, n }, ctx) => {
        const { ref } = await ctx.call(lookUp, { id, n });
        return { ref: n % 2 === 0 ? `${ref}, ${await ctx.ask(Word, { n })}` : ref };
      },
      { asks: [Word] },
    )
    .call("pay", pay, {
      args: ({ id, n }) => ({ id, n: n + 1 }),
      into: (paid, { ref = "" }) => ({ ref: `${ref}, ${paid.ref}` }),
    })
    .path("look", "pay", END)
    .build();
}

const State = z.object({
  id: z.string(),
  words: z.array(z.string()).optional(),
  legs: z.array(z.string()).optional(),
  last: z.string().optional(),
});

/** Questions to people, one of them beside an approval; a map of nested runs; one more nested run; a call that may not be repeated. */
export function errandFlow(tools: Tools) {
  const { ship, mail } = tools;
  const leg = legFlow(tools);
  return flow("errand", State)
    .node(
      "plan",
      async ({ id }, ctx) => {
        const first = await ctx.ask(Word, { n: 1 });
        const shipped = ctx.call(ship, { id, n: 30 }).then(
          ({ ref }) => ref,
          (error: Error) => error.name,
        );
        return { words: [first, ...(await Promise.all([ctx.ask(Word, { n: 2 }), shipped]))] };
      },
      { asks: [Word] },
    )
    .map("legs", {
      over: ({ id }) => [40, 41, 42].map((n) => ({ id, n })),
      concurrency: 2,
      onError: "skip",
      runs: [leg],
      each: async (item, ctx) => (await ctx.run(leg, item)).ref ?? "",
      into: ({ items }) => ({ legs: items.map((item) => (item.ok ? item.value : "failed")) }),
    })
    .subflow("last", leg, {
      input: ({ id }) => ({ id, n: 50 }),
      into: ({ ref = "" }) => ({ last: ref }),
    })
    .call("mail", mail, { args: ({ id }) => ({ id, n: 700 }) })
    .path("plan", "legs", "last", "mail", END)
    .failed("last", "mail")
    .build();
}

const Slept = z.object({ id: z.string(), done: z.array(z.string()).optional() });

/** Sleeps, one of them beside an approval, and calls after each. */
export function napFlow({ lookUp, wire }: Tools) {
  const look = async (ctx: NodeContext, id: string, n: number): Promise<string> =>
    (await ctx.call(lookUp, { id, n })).ref;
  return flow("nap", Slept)
    .node("doze", async ({ id }, ctx) => {
      await ctx.sleep(5 * minuteMs);
      return { done: [await look(ctx, id, 1)] };
    })
    .node("turn", async ({ id, done = [] }, ctx) => {
      const wired = ctx.call(wire, { id, n: 2 }).then(
        ({ ref }) => ref,
        (error: Error) => error.name,
      );
      const slept = ctx.sleep(10 * minuteMs).then(() => look(ctx, id, 3));
      return { done: [...done, ...(await Promise.all([wired, slept]))] };
    })
    .path("doze", "turn", END)
    .build();
}
