import type { Schema } from "@holdpoint/tools";

import { WorkflowError } from "../errors.ts";

/** A JSON Schema of draft 2020-12, as plain data. */
export type JsonSchema = Readonly<Record<string, unknown>>;

/**
 * A schema as JSON Schema, of the side that is given to it (WF-03): by the schema's own converter, which zod and others
 * carry in their standard part.
 * @throws WorkflowError `schema-not-describable` where there is none, or a part of it has no JSON form
 */
export function jsonSchemaOf(schema: Schema, what: string): JsonSchema {
  const standard: object = schema["~standard"];
  const converter = "jsonSchema" in standard ? standard.jsonSchema : undefined;
  if (!isConverter(converter)) {
    throw new WorkflowError(
      "schema-not-describable",
      `the schema of the ${what} can't be published: it brings no JSON Schema of its own`,
    );
  }
  try {
    return converter.input({ target: "draft-2020-12" });
  } catch (cause) {
    throw new WorkflowError(
      "schema-not-describable",
      `the schema of the ${what} can't be published: a part of it has no JSON form`,
      {},
      cause,
    );
  }
}

interface Converter {
  input(options: { readonly target: "draft-2020-12" }): JsonSchema;
}

function isConverter(value: unknown): value is Converter {
  return (
    typeof value === "object" &&
    value !== null &&
    "input" in value &&
    typeof value.input === "function"
  );
}
