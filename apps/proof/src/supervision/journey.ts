import { appendFileSync } from "node:fs";
import { setTimeout } from "node:timers/promises";

import { flow } from "@holdpoint/flow";
import { keyringOf } from "@holdpoint/seal";
import { defineTool } from "@holdpoint/tools";
import { defineWorkflow } from "@holdpoint/workflows";
import * as z from "zod";

export const keyring = keyringOf(new Uint8Array(32).fill(7));

/** Steps of one run; each is a call that leaves a line where it had its effect. */
export const stepsOfRun = 4;

/**
 * A run of several slow calls in a row, whose effects are lines of a file: the run, and which of its calls. The call number
 * `holdAt` has its effect and never answers.
 */
export function journeys(effectsFile: string, stepMs: number, holdAt?: number) {
  const step = defineTool({
    name: "step",
    description: "Leaves a line.",
    input: z.object({ at: z.int() }),
    output: z.object({ at: z.int() }),
    idempotent: true,
    execute: async ({ at }, { runId }) => {
      appendFileSync(effectsFile, `${runId} ${at}\n`);
      await (at === holdAt ? new Promise(() => {}) : setTimeout(stepMs));
      return { at };
    },
  });
  const State = z.object({ at: z.int().optional() });
  return defineWorkflow({
    name: "journey",
    version: "1",
    input: z.object({}),
    flow: flow("journey", State)
      .node("go", async (_, ctx) => {
        let last = 0;
        for (let at = 1; at <= stepsOfRun; at += 1) last = (await ctx.call(step, { at })).at;
        return { at: last };
      })
      .build(),
  });
}
