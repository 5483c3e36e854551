import type { Schema } from "@holdpoint/tools";

import { WorkflowError } from "../errors.ts";

/** A JSON Schema of draft 2020-12, as plain data. */
export type JsonSchema = Readonly<Record<string, unknown>>;

/**
 * A schema as JSON Schema (WF-03): by the schema's own converter, which zod and others carry in their standard part. Of the side
 * that is given to it, for forms and tools; `output`: of what it gives. Objects of zod are closed where the boundary refuses
 * fields that they don't name: what the published schema takes is not refused for that.
 * @throws WorkflowError `schema-not-describable` where there is none, or a part of it has no JSON form
 */
export function jsonSchemaOf(
  schema: Schema,
  what: string,
  side: "input" | "output" = "input",
): JsonSchema {
  const standard: object = schema["~standard"];
  const converter = "jsonSchema" in standard ? standard.jsonSchema : undefined;
  if (!isConverter(converter)) {
    throw new WorkflowError(
      "schema-not-describable",
      `the schema of the ${what} can't be published: it brings no JSON Schema of its own`,
    );
  }
  try {
    const published = converter[side]({ target: "draft-2020-12" });
    return side === "input" && "_zod" in schema ? closed(published) : published;
  } catch (cause) {
    throw new WorkflowError(
      "schema-not-describable",
      `the schema of the ${what} can't be published: a part of it has no JSON form`,
      {},
      cause,
    );
  }
}

/** The same schema, whose objects take no other members than those that they name, or say that they take. */
function closed(schema: JsonSchema): JsonSchema {
  const parts = Object.entries(schema).map(([name, value]) => [name, closedPart(name, value)]);
  const own = Object.fromEntries(parts) as JsonSchema;
  // A member is known where any of several parts names it, so it is the whole that is closed.
  if (Array.isArray(schema["allOf"])) return { ...own, unevaluatedProperties: false };
  const isOpen = isSchema(schema["properties"]) && schema["additionalProperties"] === undefined;
  return isOpen ? { ...own, additionalProperties: false } : own;
}

function closedPart(name: string, value: unknown): unknown {
  if (name === "allOf") return value;
  if (name === "properties" || name === "$defs") {
    if (!isSchema(value)) return value;
    return Object.fromEntries(Object.entries(value).map(([key, of]) => [key, closedOne(of)]));
  }
  if (lists.has(name) && Array.isArray(value)) return value.map(closedOne);
  return ones.has(name) ? closedOne(value) : value;
}

/** Keywords whose value is a list of schemas, and a schema. */
const lists: ReadonlySet<string> = new Set(["anyOf", "oneOf", "prefixItems"]);
const ones: ReadonlySet<string> = new Set(["additionalProperties", "items"]);

function closedOne(value: unknown): unknown {
  return isSchema(value) ? closed(value) : value;
}

function isSchema(value: unknown): value is JsonSchema {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

type Convert = (options: { readonly target: "draft-2020-12" }) => JsonSchema;

interface Converter {
  readonly input: Convert;
  readonly output: Convert;
}

function isConverter(value: unknown): value is Converter {
  return (
    typeof value === "object" &&
    value !== null &&
    "input" in value &&
    typeof value.input === "function" &&
    "output" in value &&
    typeof value.output === "function"
  );
}
