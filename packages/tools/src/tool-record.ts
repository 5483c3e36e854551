import type { CallContext } from "./context.ts";
import type { GateAnswer } from "./confirm.ts";
import { ToolDefinitionError } from "./errors.ts";
import type { Retry } from "./retry.ts";
import type { Schema, Validate } from "./schema.ts";
import type { AnyTool } from "./tool.ts";

/**
 * What a tool is made of, `execute` excepted. This package's own modules read it; `toolFacts` shows
 * a part of it.
 */
export interface ToolRecord {
  readonly name: string;
  readonly version: string | undefined;
  readonly idempotent: boolean;
  readonly input: Schema;
  readonly output: Schema | undefined;
  readonly validateInput: Validate;
  readonly validateOutput: Validate | undefined;
  /**
   * Whether arguments that were validated once, or put in their place by a person, are still valid
   * as they stand.
   */
  readonly validateMade: () => Validate | undefined;
  /** Whether all of a validated result was built by the output schema. */
  readonly buildsResult: () => boolean;
  readonly confirm: boolean | ((args: unknown, context: CallContext) => GateAnswer);
  readonly revalidate: Revalidate | undefined;
  readonly retry: Retry | undefined;
  readonly timeoutMs: number | undefined;
  readonly secrets: readonly string[];
  readonly key: ((input: unknown) => unknown) | undefined;
  readonly cost: number | ((args: unknown) => number);
  /** Reads inputs through the schema; compiled when first asked for. */
  readonly walk: () => (value: unknown, mode: "snapshot" | "key") => unknown;
}

/** Asked once more right before execution; an object refuses, with a code of the tool's own. */
export type Revalidate<Args = unknown> = (
  args: Args,
  context: CallContext,
) => Revalidation | Promise<Revalidation>;

// oxlint-disable-next-line typescript/no-invalid-void-type -- a function that returns nothing lets
// the call pass
export type Revalidation = void | undefined | { readonly code: string; readonly message?: string };

const mark = Symbol.for("@holdpoint/tools.tool");
const records = new WeakMap<object, ToolRecord>();

export function keepRecord(tool: AnyTool, record: ToolRecord): void {
  Object.defineProperty(tool, mark, { value: true });
  records.set(tool, record);
}

/**
 * @throws ToolDefinitionError `foreign-tool` for a tool of another copy of this package,
 *   `not-a-tool` for anything that `defineTool` did not make.
 */
export function recordOf(tool: AnyTool): ToolRecord {
  const record = records.get(tool);
  if (record !== undefined) return record;
  const foreign = typeof tool === "object" && tool !== null && mark in tool;
  const name = foreign ? String(tool.name) : typeof tool;
  throw new ToolDefinitionError(
    foreign
      ? `the tool '${name}' was made by another copy of @holdpoint/tools: keep one version in the program`
      : `what was given is no tool (${name}): make one with defineTool`,
    { code: foreign ? "foreign-tool" : "not-a-tool", attributes: { tool: name } },
  );
}
