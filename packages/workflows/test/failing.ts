import { flow } from "@holdpoint/flow";
import { defineTool, ToolError } from "@holdpoint/tools";
import { z } from "zod";

import { defineWorkflow, type RetryPolicy } from "../src/index.ts";

const State = z.object({
  orderId: z.string(),
  cents: z.int().optional(),
  paid: z.string().optional(),
});

/** What the tools of one world did, and how often paying fails from now on. */
export interface Failing {
  readonly looked: string[];
  readonly entered: string[];
  readonly keys: Set<string>;
  fails: number;
  retryable: boolean;
}

export function failing(fails = 1, retryable = false): Failing {
  return { looked: [], entered: [], keys: new Set(), fails, retryable };
}

/** A workflow that looks up and pays in one node, asks beside that, and whose payment fails as often as is said. */
export function payments(effects: Failing, retry?: RetryPolicy) {
  const lookUp = defineTool({
    name: "look_up",
    description: "Looks an order up.",
    input: z.object({ id: z.string() }),
    output: z.object({ cents: z.int() }),
    execute: ({ id }) => {
      effects.looked.push(id);
      return { cents: 700 };
    },
  });
  const pay = defineTool({
    name: "pay",
    description: "Pays.",
    input: z.object({ cents: z.int() }),
    output: z.object({ paid: z.string() }),
    idempotent: true,
    execute: ({ cents }, { idempotencyKey }) => {
      effects.entered.push(`pay(${cents})`);
      effects.keys.add(idempotencyKey);
      effects.fails -= 1;
      if (effects.fails >= 0) throw new ToolError("the bank is closed", effects);
      return { paid: "p-1" };
    },
  });
  const built = flow("payment", State)
    .node("start", () => {})
    .node("work", async ({ orderId }, ctx) => {
      const { cents } = await ctx.call(lookUp, { id: orderId });
      const { paid } = await ctx.call(pay, { cents });
      return { cents, paid };
    })
    .gate("review", { payload: ({ orderId }) => ({ orderId }) })
    .edge("start", "work")
    .edge("start", "review")
    .build();
  return defineWorkflow({
    name: "payment",
    version: "1",
    input: z.object({ orderId: z.string() }),
    output: z.object({ paid: z.string() }),
    flow: built,
    end: ({ paid }) => ({ paid: paid ?? "none" }),
    ...(retry !== undefined && { retry }),
  });
}
