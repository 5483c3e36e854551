import { z } from "zod";

import { defineTool, Executor, type RecordedCall } from "../../src/index.ts";
import { handClock } from "./hand-clock.ts";
import { orderOf } from "./orders.ts";
import { approved, scriptedPort } from "./ports.ts";

/** What the traced tool takes: a sum, and an id that is drawn where none is given. */
export const input = z.object({
  cents: z.int(),
  id: z.string().default(() => crypto.randomUUID()),
});

/** A tool and ports that note each step as it is taken. */
export function traced(more: object = {}) {
  const steps: string[] = [];
  const tool = defineTool({
    name: "pay",
    description: "",
    input: input.refine(() => steps.push("arguments")),
    output: z.string().refine(() => steps.push("output")),
    confirm: () => {
      steps.push("confirm");
      return true;
    },
    revalidate: () => void steps.push("revalidate"),
    execute: () => {
      steps.push("execute");
      return "done";
    },
    ...more,
  });
  const approvals = scriptedPort(() => {
    steps.push("port");
    return approved();
  });
  const executor = new Executor({
    approvals,
    clock: handClock(),
    guards: [
      { name: "g", check: () => void steps.push("guard"), charge: () => void steps.push("charge") },
    ],
    ledger: { record: () => void steps.push("ledger") },
    listeners: [({ kind }) => void steps.push(kind)],
  });
  const order = (recorded?: RecordedCall) =>
    orderOf(
      tool,
      { cents: 1 },
      {
        dispatch: () => void steps.push("dispatch"),
        ...(recorded && { recorded }),
      },
    );
  return { steps, tool, approvals, executor, order };
}
