/**
 * A flow that is killed: calls of every kind, a quorum, an edit, a denial, two gates. Everything it sees is a function of its
 * input, so that a run's end can be compared with another's.
 */
import { defineTool } from "@holdpoint/tools";
import { flow } from "@holdpoint/flow";
import { defineWorkflow } from "@holdpoint/workflows";
import { z } from "zod";

import { effectTool, Money, Ref, Stamp, type Moments } from "./effects.ts";

const State = z.object({
  orderId: z.string(),
  cents: z.int().optional(),
  stamp: z.instanceof(Stamp).optional(),
  score: z.string().optional(),
  refs: z.array(z.string()).optional(),
  sent: z.string().optional(),
});

function claimTools(effect: Moments["effect"]) {
  // Its default is drawn by the schema, so its arguments have to be on record before it runs.
  const book = defineTool({
    name: "book",
    description: "Books.",
    input: Money.extend({ memo: z.string().default("none") }),
    output: Ref,
    idempotent: true,
    execute: ({ orderId, cents, memo }, context) => {
      effect("book", { orderId, cents }, context);
      return { ref: `book ${orderId} ${cents} ${memo}` };
    },
  });
  const asked = { confirm: true, idempotent: true } as const;
  return {
    lookUp: effectTool("look_up", effect, { idempotent: true }),
    book,
    pay: effectTool("pay", effect, asked),
    ship: effectTool("ship", effect, asked),
    grace: effectTool("grace", effect, asked),
    wire: effectTool("wire", effect, { confirm: true }),
    mail: effectTool("mail", effect),
  };
}

function claimFlow({ lookUp, book, pay, ship, grace, wire, mail }: ReturnType<typeof claimTools>) {
  return flow("claim", State)
    .node("assess", async ({ orderId }, ctx) => {
      const found = await ctx.call(lookUp, { orderId, cents: 100 });
      const score = await ctx.step("score", () => `score of ${found.ref}`);
      const booked = await ctx.call(book, { orderId, cents: 200 });
      return { cents: 300, score: `${score}, ${booked.ref}`, stamp: new Stamp(orderId) };
    })
    .gate("review", { payload: ({ orderId, cents }) => ({ orderId, cents }), quorum: 2 })
    .node("settle", async ({ orderId, cents = 0 }, ctx) => {
      const asked = [pay, ship, grace].map((one, at) =>
        ctx.call(one, { orderId, cents: cents + at }).then(
          ({ ref }) => ref,
          (error: Error) => error.name,
        ),
      );
      return { refs: await Promise.all(asked) };
    })
    .gate("extra", { payload: ({ refs }) => ({ refs }) })
    .node("given", () => ({ sent: "extra" }))
    .call("wire", wire, { args: ({ orderId }) => ({ orderId, cents: 500 }), into: () => ({}) })
    .call("mail", mail, {
      args: ({ orderId }) => ({ orderId, cents: 600 }),
      into: ({ ref }) => ({ sent: ref }),
    })
    .path("assess", "review", "settle", "extra", "given", "wire", "mail")
    .denied("extra", "wire")
    .build();
}

export function claims({ effect }: Moments) {
  const tools = claimTools(effect);
  const built = claimFlow(tools);
  const definition = defineWorkflow({
    name: "claim",
    version: "1",
    input: z.object({ orderId: z.string() }),
    output: z.object({ score: z.string(), refs: z.array(z.string()), sent: z.string() }),
    flow: built,
    end: ({ score = "", refs = [], sent = "" }) => ({ score, refs: [...refs], sent }),
  });
  return {
    definition,
    flow: built,
    ship: tools.ship,
    onceTools: [tools.wire, tools.mail] as const,
  };
}
