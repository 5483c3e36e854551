import { defineTool, type ToolSpec } from "@holdpoint/tools";
import { z } from "zod";

const Input = z.object({ n: z.number() });
const Output = z.object({ got: z.number() });
type Spec = ToolSpec<string, typeof Input, typeof Output, z.input<typeof Output>>;

/** Tools that write down each execution: `name(n)`. They answer ten times what they get. */
export function effects() {
  const log: string[] = [];
  const tool = <const N extends string>(
    name: N,
    more: Partial<Pick<Spec, "confirm" | "idempotent" | "timeoutMs" | "retry" | "cost">> & {
      run?: (n: number) => number | Promise<number>;
    } = {},
  ) => {
    const { run = (n: number) => n * 10, ...spec } = more;
    return defineTool({
      name,
      description: name,
      input: Input,
      output: Output,
      execute: async ({ n }) => {
        log.push(`${name}(${n})`);
        return { got: await run(n) };
      },
      ...spec,
    });
  };
  return {
    log,
    tool,
    /** A tool that nobody has to allow. */
    free: tool("free"),
    /** Tools that a person has to allow. */
    gated: tool("gated", { confirm: true }),
    other: tool("other", { confirm: true }),
  };
}
