/** A flow that is cancelled while it is at work: it ends when it is told to stop, and never before. */
import { once } from "node:events";

import { flow } from "@holdpoint/flow";
import { defineTool } from "@holdpoint/tools";
import { defineWorkflow } from "@holdpoint/workflows";
import { z } from "zod";

import { Money, type Moments } from "./effects.ts";

const State = z.object({ orderId: z.string() });

/** `atWork` is told each time that a run's call has begun. */
export function errands({ effect }: Moments, atWork: (runId: string) => void) {
  const walk = defineTool({
    name: "walk",
    description: "Walks until it is called back.",
    input: Money,
    idempotent: true,
    execute: async ({ orderId, cents }, context) => {
      effect("walk", { orderId, cents }, context);
      atWork(context.runId);
      if (!context.signal.aborted) await once(context.signal, "abort");
      context.signal.throwIfAborted();
    },
  });
  const errand = flow("errand", State)
    .call("walk", walk, { args: ({ orderId }) => ({ orderId, cents: 900 }), into: () => ({}) })
    .build();
  const definition = defineWorkflow({
    name: "errand",
    version: "1",
    input: z.object({ orderId: z.string() }),
    flow: errand,
  });
  return { definition, flow: errand };
}
