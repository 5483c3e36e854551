import type { StandardSchemaV1 } from "@standard-schema/spec";

import { output, type ZodType } from "zod";

import { issueCharactersMax, issuesMax } from "./limits.ts";

/** A zod schema, or any Standard Schema where only validation is needed. */
export type Schema<In = unknown, Out = In> = StandardSchemaV1<In, Out>;
export type InputOf<S extends Schema> = StandardSchemaV1.InferInput<S>;
export type OutputOf<S extends Schema> = StandardSchemaV1.InferOutput<S>;

/** One thing that a value's schema has against it; says where and what, never the value. */
export interface ValidationIssue {
  /** `order.items.3.price`; empty for the value itself. */
  readonly path: string;
  readonly message: string;
}

export type Validated =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly issues: readonly ValidationIssue[] };

export type Validate = (value: unknown) => Validated | Promise<Validated>;

type ZodResult =
  | { readonly success: true; readonly data: unknown }
  | {
      readonly success: false;
      readonly error: { readonly issues: readonly StandardSchemaV1.Issue[] };
    };

/**
 * As much of a zod schema as is called here; its own entry is a third dearer through the standard
 * one.
 */
interface ZodParser {
  safeParse(value: unknown): ZodResult;
  safeParseAsync(value: unknown): Promise<ZodResult>;
}

/**
 * The validation of what a schema has made: of arguments that were validated once, and run as they
 * stand. `undefined` where a schema can't say (any Standard Schema but zod's).
 */
export function outputValidatorOf(schema: Schema): Validate | undefined {
  if (!isZodParser(schema)) return undefined;
  return zodValidator(output(schema as Schema & ZodType));
}

/** The validation of one schema. What a schema's own code throws passes through. */
export function validatorOf(schema: Schema): Validate {
  return isZodParser(schema) ? zodValidator(schema) : standardValidator(schema);
}

function isZodParser(schema: unknown): schema is ZodParser {
  return (
    typeof schema === "object" &&
    schema !== null &&
    "_zod" in schema &&
    "safeParse" in schema &&
    typeof schema.safeParse === "function"
  );
}

function zodValidator(schema: ZodParser): Validate {
  let asynchronous = false;
  return (value) => {
    if (!asynchronous) {
      try {
        return fromZod(schema.safeParse(value));
      } catch (thrown) {
        if (!isAsyncError(thrown)) throw thrown;
        // Known once per schema: from here on its async checks run once a call.
        asynchronous = true;
      }
    }
    return schema.safeParseAsync(value).then(fromZod);
  };
}

function fromZod(result: ZodResult): Validated {
  if (result.success) return { ok: true, value: result.data };
  return { ok: false, issues: issuesOf(result.error.issues) };
}

function isAsyncError(thrown: unknown): boolean {
  return thrown instanceof Error && thrown.constructor.name === "$ZodAsyncError";
}

function standardValidator(schema: Schema): Validate {
  const { validate } = schema["~standard"];
  return (value) => {
    const result = validate(value);
    return result instanceof Promise ? result.then(fromStandard) : fromStandard(result);
  };
}

function fromStandard(result: StandardSchemaV1.Result<unknown>): Validated {
  if (result.issues === undefined) return { ok: true, value: result.value };
  return { ok: false, issues: issuesOf(result.issues) };
}

function issuesOf(issues: readonly StandardSchemaV1.Issue[]): readonly ValidationIssue[] {
  return issues.slice(0, issuesMax).map(({ path = [], message }) => ({
    path: path.map(segmentOf).join(".").slice(0, issueCharactersMax),
    message: String(message).slice(0, issueCharactersMax),
  }));
}

function segmentOf(segment: PropertyKey | StandardSchemaV1.PathSegment): string {
  return String(typeof segment === "object" ? segment.key : segment);
}

/** One line for messages: `orderId: expected string; cents: too small`. */
export function issuesText(issues: readonly ValidationIssue[]): string {
  return issues
    .map(({ path, message }) => `${path === "" ? "(value)" : path}: ${message}`)
    .join("; ");
}
