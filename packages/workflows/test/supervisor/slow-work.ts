import { flow } from "@holdpoint/flow";
import { defineTool } from "@holdpoint/tools";
import { z } from "zod";

import { defineWorkflow } from "../../src/index.ts";

/** One execution of the slow tool, in the test's hands. */
export interface Begun {
  readonly order: string;
  readonly key: string;
  readonly signal: AbortSignal;
  end(): void;
}

/** A definition whose one tool ends when the test says so. */
export function slowWork() {
  const begun: Begun[] = [];
  const tool = defineTool({
    name: "slow",
    description: "Ends when it is told.",
    input: z.object({ order: z.string() }),
    output: z.object({ at: z.int() }),
    idempotent: true,
    execute: ({ order }, { signal, idempotencyKey: key }) =>
      new Promise<{ at: number }>((resolve) => {
        begun.push({ order, key, signal, end: () => resolve({ at: begun.length }) });
      }),
  });
  const State = z.object({ order: z.string(), at: z.int().optional() });
  const definition = defineWorkflow({
    name: "slow",
    version: "1",
    input: z.object({ order: z.string() }),
    flow: flow("slow", State)
      .call("wait", tool, { args: ({ order }) => ({ order }), into: ({ at }) => ({ at }) })
      .build(),
  });
  return { definition, begun };
}
