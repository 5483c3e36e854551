/**
 * The flow that is killed: calls of every kind, a quorum, an edit, a denial, two gates. Everything it sees is a function of
 * its input, so that a run's end can be compared with another's.
 */
import { defineTool, editsOf, type CallContext } from "@holdpoint/tools";
import { flow, type FlowState } from "@holdpoint/flow";
import { defineCodec } from "@holdpoint/seal";
import { defineWorkflow } from "@holdpoint/workflows";
import { z } from "zod";

/** What happens around a tool's own effect. */
export interface Moments {
  readonly effect: (tool: string, args: unknown, context: CallContext) => void;
  /** A value of the run's state is being sealed. */
  readonly sealing: () => void;
}

/** A value of a class of our own, so that sealing runs code that can be killed. */
export class Stamp {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}

const State = z.object({
  orderId: z.string(),
  cents: z.int().optional(),
  stamp: z.instanceof(Stamp).optional(),
  score: z.string().optional(),
  refs: z.array(z.string()).optional(),
  sent: z.string().optional(),
});

const Money = z.object({ orderId: z.string(), cents: z.int() });
const Ref = z.object({ ref: z.string() });

/** Tools that are not idempotent: where one of them has begun and has no end on record, nobody may run it again. */
export const onceOnly: ReadonlySet<string> = new Set(["mail", "wire"]);

function claimTools(effect: Moments["effect"]) {
  const tool = <const N extends string>(name: N, how: { confirm?: true; idempotent?: true }) =>
    defineTool({
      name,
      description: `Does ${name}.`,
      input: Money,
      output: Ref,
      ...how,
      execute: ({ orderId, cents }, context) => {
        effect(name, { orderId, cents }, context);
        return { ref: `${name} ${orderId} ${cents}` };
      },
    });
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
  return {
    lookUp: tool("look_up", { idempotent: true }),
    book,
    pay: tool("pay", { confirm: true, idempotent: true }),
    ship: tool("ship", { confirm: true, idempotent: true }),
    grace: tool("grace", { confirm: true, idempotent: true }),
    wire: tool("wire", { confirm: true }),
    mail: tool("mail", {}),
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

export function claims({ effect, sealing }: Moments) {
  const tools = claimTools(effect);
  const { ship, wire, mail } = tools;
  const built = claimFlow(tools);
  const stamps = defineCodec({
    type: "Stamp",
    is: (value): value is Stamp => value instanceof Stamp,
    encode: ({ text }) => {
      sealing();
      return text;
    },
    decode: (text) => new Stamp(String(text)),
  });
  const ended = ({ score = "", refs = [], sent = "" }: FlowState<typeof built>) => ({
    score,
    refs: [...refs],
    sent,
  });
  const definition = defineWorkflow({
    name: "claim",
    version: "1",
    input: z.object({ orderId: z.string() }),
    output: z.object({ score: z.string(), refs: z.array(z.string()), sent: z.string() }),
    flow: built,
    end: ended,
  });
  return {
    flow: built,
    definition,
    codecs: [stamps],
    edits: editsOf([ship]),
    ship,
    wire,
    mail,
    ended,
  };
}
