import type { Retry } from "./retry.ts";
import type { Schema } from "./schema.ts";
import type { AnyTool } from "./tool.ts";
import { recordOf } from "./tool-record.ts";

/**
 * What may be known of a tool without being able to run it: for graphs, digests, pages and models.
 */
export interface ToolFacts {
  readonly name: string;
  readonly description: string;
  readonly version: string | undefined;
  readonly idempotent: boolean;
  /** Whether some call of it may need a person: false only where `confirm` is absent or `false`. */
  readonly confirms: boolean;
  readonly input: Schema;
  readonly output: Schema | undefined;
  readonly secrets: readonly string[];
  readonly retry: Retry | undefined;
  readonly timeoutMs: number | undefined;
}

/**
 * Whether what a call of it gives was built by its output schema alone, down to leaves that are no objects: then nobody else
 * holds any part of it until it is handed out, and no part of it is code. @throws as `toolFacts`
 */
export function buildsResult(tool: AnyTool): boolean {
  return recordOf(tool).buildsResult();
}

/** @throws ToolDefinitionError `foreign-tool`, `not-a-tool`. */
export function toolFacts(tool: AnyTool): ToolFacts {
  const record = recordOf(tool);
  const { name, version, idempotent, input, output, secrets, retry, timeoutMs } = record;
  return {
    name,
    description: tool.description,
    version,
    idempotent,
    confirms: record.confirm !== false,
    input,
    output,
    secrets,
    retry,
    timeoutMs,
  };
}
