import { defineTool, type CallContext } from "@holdpoint/tools";
import { defineCodec } from "@holdpoint/seal";
import { z } from "zod";

/** What happens around a tool's own effect. */
export interface Moments {
  readonly effect: (tool: string, args: unknown, context: CallContext) => void;
  /** A value of the run's state is being sealed. */
  readonly sealing: () => void;
}

/** Tools that are not idempotent: where one of them has begun and has no end on record, nobody may run it again. */
export const onceOnly: ReadonlySet<string> = new Set(["mail", "wire"]);

export const Money = z.object({ orderId: z.string(), cents: z.int() });
export const Ref = z.object({ ref: z.string() });

/** What a tool that did its work answers: a function of its arguments alone. */
export function refOf(tool: string, { orderId, cents }: z.output<typeof Money>): string {
  return `${tool} ${orderId} ${cents}`;
}

/** A tool that leaves its effect in the world outside, and answers what it did. */
export function effectTool<const N extends string>(
  name: N,
  effect: Moments["effect"],
  how: { readonly confirm?: true; readonly idempotent?: true } = {},
) {
  return defineTool({
    name,
    description: `Does ${name}.`,
    input: Money,
    output: Ref,
    ...how,
    execute: ({ orderId, cents }, context) => {
      effect(name, { orderId, cents }, context);
      return { ref: refOf(name, { orderId, cents }) };
    },
  });
}

/** A value of a class of our own, so that sealing runs code that can be killed. */
export class Stamp {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}

export function stamps(sealing: () => void) {
  return defineCodec({
    type: "Stamp",
    is: (value): value is Stamp => value instanceof Stamp,
    encode: ({ text }) => {
      sealing();
      return text;
    },
    decode: (text) => new Stamp(String(text)),
  });
}
