import { defineTool } from "@holdpoint/tools";
import { z } from "zod";

import { shortOf, type Trace } from "./trace.ts";

const Input = z.object({
  n: z.number(),
  /** Turns of the event loop that it takes. */
  slow: z.number(),
  /** Drawn by the node: another call each time, were it not replayed. */
  dice: z.number().optional(),
});
type Input = z.output<typeof Input>;
const Output = z.object({ got: z.string() });

/** What is said of a call: its result's or its failure's last word. */
export function markIn(text: string): string {
  return /:(?<mark>\w+)$/u.exec(text)?.groups?.["mark"] ?? "";
}

/**
 * Tools that write down what they do. A result says which call it is of, so that swapped results of equal calls show; one with
 * a drawn input does not, since the draw is another in every run.
 */
export function toolsOf(trace: Trace) {
  const tried = new Set<string>();
  const acts = async (name: string, { n, slow, dice }: Input, ctx: Context): Promise<string> => {
    const mark = dice === undefined ? shortOf(ctx.callId) : "";
    trace.effect(ctx.node, `${name}(${n})`, mark);
    for (let turn = 0; turn < slow; turn++) await new Promise((resolve) => setImmediate(resolve));
    return mark === "" ? `${name}${n}` : `${name}${n}:${mark}`;
  };
  const tool = <const N extends string>(
    name: N,
    confirm: boolean,
    end: (text: string, ctx: Context) => { got: string },
  ) =>
    defineTool({
      name,
      description: name,
      input: Input,
      output: Output,
      confirm,
      execute: async (input, ctx) => end(await acts(name, input, ctx), ctx),
    });
  const gives = (got: string) => ({ got });
  return {
    free: tool("free", false, gives),
    gated: tool("gated", true, gives),
    failing: tool("failing", false, (text) => {
      throw new RangeError(`no ${text}`);
    }),
    /** Fails the first time that a call of it runs. */
    flaky: tool("flaky", true, (text, { callId }) => {
      if (tried.has(callId)) return gives(text);
      tried.add(callId);
      throw new RangeError(`not yet ${text}`);
    }),
  };
}

interface Context {
  readonly node: string;
  readonly callId: string;
}

export type Tools = ReturnType<typeof toolsOf>;
export type ToolName = keyof Tools;
