import { defineTool, type CallContext } from "@holdpoint/tools";
import { z } from "zod";

import type { ToolKind } from "../books/effects.ts";

/** What a tool's code does: in a simulated world, whatever the world says, when it says so. */
export type Doing = (tool: string, args: Args, context: CallContext) => Promise<{ ref: string }>;

export interface Args {
  readonly id: string;
  readonly n: number;
}

/** What every tool answers: made of its arguments alone, so that runs can be compared. */
export function resultOf(tool: string, { id, n }: Args): { ref: string } {
  return { ref: `${tool} ${id} ${n}` };
}

const Args = z.object({ id: z.string(), n: z.int() });
const Ref = z.object({ ref: z.string() });

export const minuteMs = 60_000;

/** The tools of one process. */
export function toolsDoing(doing: Doing) {
  const base = <const N extends string>(name: N) => ({
    name,
    description: `Does ${name}.`,
    input: Args,
    output: Ref,
    execute: (args: Args, context: CallContext) => doing(name, args, context),
  });
  return {
    lookUp: defineTool({ ...base("look_up"), idempotent: true }),
    // Its default is drawn by the schema, so its arguments have to be on record before it runs.
    book: defineTool({
      ...base("book"),
      input: Args.extend({ memo: z.string().default("none") }),
      idempotent: true,
    }),
    pay: defineTool({ ...base("pay"), idempotent: true, confirm: true }),
    // What is put in its arguments' place needs the word of somebody who may not have put it there.
    ship: defineTool({
      ...base("ship"),
      idempotent: true,
      confirm: ({ id }) => (id === "edited" ? { approvers: ["erik"] } : true),
    }),
    wire: defineTool({
      ...base("wire"),
      confirm: () => ({ approvers: ["dana", "erik"], excludeRequester: true }),
    }),
    grant: defineTool({
      ...base("grant"),
      confirm: () => ({ expiresInMs: 30 * minuteMs }),
    }),
    mail: defineTool(base("mail")),
  };
}

export type Tools = ReturnType<typeof toolsDoing>;

const kind = (how: Partial<ToolKind>): ToolKind => ({ idempotent: false, confirms: false, ...how });

/** What has to hold of each tool. */
export const toolKinds: ReadonlyMap<string, ToolKind> = new Map([
  ["look_up", kind({ idempotent: true })],
  ["book", kind({ idempotent: true })],
  ["pay", kind({ idempotent: true, confirms: true })],
  ["ship", kind({ idempotent: true, confirms: true })],
  ["wire", kind({ confirms: true })],
  ["grant", kind({ confirms: true })],
  ["mail", kind({})],
]);
