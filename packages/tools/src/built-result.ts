/**
 * Whether all that a schema gives is of its own building: new lists and objects, down to leaves that are no objects. Then
 * nobody else holds any part of it, and reading it runs nobody's code.
 *
 * B1 What lets anything through as it was given (any, custom, a date, a catchall of such), or lets somebody else make a part of it
 *    (transforms, defaults, catches, refinements, which get the value in their hands), is not.
 * B2 What is not known here, a newer kind included, is not.
 */
interface ZodLike {
  readonly _zod: { readonly def: Def };
}

interface Def {
  readonly type: string;
  readonly checks?: readonly ZodLike[];
  readonly [field: string]: unknown;
}

const leaves: ReadonlySet<string> = new Set([
  "string",
  "number",
  "int",
  "boolean",
  "bigint",
  "null",
  "undefined",
  "void",
  "never",
  "nan",
  "literal",
  "enum",
  "template_literal",
  "success",
]);

/** Checks that look, and neither change nor hand on what they look at. */
const looking: ReadonlySet<unknown> = new Set([
  "less_than",
  "greater_than",
  "multiple_of",
  "number_format",
  "bigint_format",
  "max_length",
  "min_length",
  "length_equals",
  "string_format",
]);

/** Of any schema. A recursive one is looked at once. */
export function buildsAll(schema: unknown): boolean {
  return builds(schema, new Set());
}

function builds(schema: unknown, met: Set<unknown>): boolean {
  if (!isZod(schema)) return false;
  if (met.has(schema)) return true;
  met.add(schema);
  const { def } = schema._zod;
  if (def.checks?.some((check) => !looking.has(check._zod.def["check"])) === true) return false;
  const all = (schemas: unknown): boolean =>
    (schemas as readonly unknown[]).every((one) => builds(one, met));
  switch (def.type) {
    case "object":
      return all(Object.values(def["shape"] as object)) && isClosed(def["catchall"], met);
    case "record":
      return all([def["keyType"], def["valueType"]]);
    case "array":
      return builds(def["element"], met);
    case "tuple":
      return all(def["items"]) && (def["rest"] === null || builds(def["rest"], met));
    case "union":
      return all(def["options"]);
    case "pipe":
      return builds(def["out"], met); // built anew of whatever came before
    case "optional":
    case "nullable":
    case "nonoptional":
    case "readonly":
      return builds(def["innerType"], met);
    default:
      return leaves.has(def.type);
  }
}

function isClosed(catchall: unknown, met: Set<unknown>): boolean {
  return catchall === undefined || builds(catchall, met);
}

function isZod(schema: unknown): schema is ZodLike {
  return typeof schema === "object" && schema !== null && "_zod" in schema;
}
