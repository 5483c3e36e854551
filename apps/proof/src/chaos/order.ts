/** The flow that goes through the chaos: a look, a gate, a payment that may not be repeated, a mail; each leaves a line outside. */
import { flow } from "@holdpoint/flow";
import { createKeyring } from "@holdpoint/seal";
import { nodeMac } from "@holdpoint/seal/node";
import { defineTool } from "@holdpoint/tools";
import { defineWorkflow } from "@holdpoint/workflows";
import { z } from "zod";

import type { Effect, Ledger } from "../kill/ledger.ts";

export const keyring = createKeyring({
  current: { id: "k1", key: new Uint8Array(32).fill(7) },
  mac: nodeMac,
});

/** Tools that may be called again under their key. */
export const repeatable: ReadonlySet<string> = new Set(["look_up", "mail"]);

const Args = z.object({ order: z.string(), n: z.int() });
const Ref = z.object({ ref: z.string() });

/** What a tool gives: made of its arguments alone. */
export function refOf(tool: string, { order, n }: z.output<typeof Args>): { ref: string } {
  return { ref: `${tool} ${order} ${n}` };
}

export function orders(ledger: Ledger<Effect>) {
  const tool = <const N extends string>(name: N, confirm: boolean) =>
    defineTool({
      name,
      description: `Does ${name}.`,
      input: Args,
      output: Ref,
      idempotent: repeatable.has(name),
      confirm,
      execute: (args, { runId, idempotencyKey: key, signal }) => {
        signal.throwIfAborted(); // nothing happens for a process that gave the run up
        ledger.add({ tool: name, key, runId, args: JSON.stringify(args) });
        return refOf(name, args);
      },
    });
  const lookUp = tool("look_up", false);
  const pay = tool("pay", true);
  const mail = tool("mail", false);
  const State = z.object({
    order: z.string(),
    found: z.string().optional(),
    paid: z.string().optional(),
    told: z.string().optional(),
  });
  const built = flow("order", State)
    .node("look", async ({ order }, ctx) => {
      const { ref } = await ctx.call(lookUp, { order, n: 1 });
      return { found: ref };
    })
    .gate("check", { payload: ({ order, found }) => ({ order, found }) })
    .call("pay", pay, {
      args: ({ order }) => ({ order, n: 2 }),
      into: ({ ref }) => ({ paid: ref }),
    })
    .call("mail", mail, {
      args: ({ order }) => ({ order, n: 3 }),
      into: ({ ref }) => ({ told: ref }),
    })
    .path("look", "check", "pay", "mail")
    .build();
  const definition = defineWorkflow({
    name: "order",
    version: "1",
    input: z.object({ order: z.string() }),
    flow: built,
  });
  return { flow: built, definition, pay };
}
