import type { CallContext } from "./context.ts";
import type { AnyTool } from "./tool.ts";

/**
 * The one place that holds what tools do (TOOL-10).
 *
 * `define-tool.ts` puts a function in, `attempt.ts` (an executor's own) takes it out, and nothing
 * else imports this file; a test reads the imports. The map is this copy's alone: a second copy of
 * the package in the same process has another, so that no global name opens `execute` to whoever
 * knows it. The price is `foreign-tool`.
 */
export type Execute = (args: unknown, context: CallContext) => unknown;

const handles = new WeakMap<AnyTool, Execute>();

export function keepExecute(tool: AnyTool, execute: Execute): void {
  handles.set(tool, execute);
}

export function executeOf(tool: AnyTool): Execute | undefined {
  return handles.get(tool);
}
