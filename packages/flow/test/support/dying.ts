import { defineTool, type CallContext } from "@holdpoint/tools";
import { z } from "zod";

import {
  inDoubt,
  memoryRunLog,
  type DoubtAnswer,
  type Flow,
  type FlowRunnerOptions,
  type RunLog,
} from "../../src/index.ts";
import { settle } from "./clock.ts";
import { dana, rejection, world } from "./world.ts";

export const State = z.object({
  n: z.number(),
  note: z.string().optional(),
  late: z.string().optional(),
});
export const never = new Promise<never>(() => {});
let drawn = 0;

/** A tool that dies with its process as often as is said, and writes down each time that it is entered. */
export function dying(how: { deaths?: number; idempotent?: boolean; confirm?: boolean } = {}) {
  const entered: { readonly id: number; readonly key: string }[] = [];
  let { deaths = 1 } = how;
  const pay = defineTool({
    name: "pay",
    description: "pays",
    input: z.object({ id: z.number().default(() => (drawn += 1)) }),
    output: z.object({ paid: z.number() }),
    idempotent: how.idempotent ?? false,
    confirm: how.confirm ?? false,
    execute: ({ id }, { idempotencyKey: key }: CallContext) => {
      entered.push({ id, key });
      if ((deaths -= 1) >= 0) return never;
      return { paid: id };
    },
  });
  return { pay, entered };
}

export const says: Record<string, (tool: ReturnType<typeof dying>["pay"]) => DoubtAnswer> = {
  ran: (tool) => inDoubt.ran(tool, { paid: 77 }, { by: dana }),
  "did not run": () => inDoubt.didNotRun({ by: dana }),
  failed: () => inDoubt.failed({ by: dana }),
};

/** Runs, or goes on with, a durable run until its process dies in the middle of something. */
export async function die(work: (signal: AbortSignal) => Promise<unknown>): Promise<void> {
  const stop = new AbortController();
  const dead = rejection(work(stop.signal));
  await settle(10);
  stop.abort("the process died");
  const { code } = await dead;
  if (code !== "aborted") throw new Error(`it ended by ${String(code)} before it could die`);
}

/** A run that died in a call, in a world that can take it up. */
export async function died(
  f: Flow<z.output<typeof State>, { n: number }>,
  more: FlowRunnerOptions = {},
) {
  const log: RunLog = memoryRunLog();
  const here = world({ log, ...more });
  await die((signal) => here.runner().run(f, { n: 1 }, { runId: "r", signal }));
  return here;
}
