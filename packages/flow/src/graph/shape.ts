/**
 * A schema as text, for the graph's digest (FLOW-51): what decides how a sealed value is *read*, and nothing else.
 *
 * In it: field names, kinds, optionality, literals, enum members, nesting, names of registered models. Not in it:
 * descriptions, messages, metadata, order, default values, coercion, bounds, formats, refinements; those decide which
 * values are *valid*, which the validation of the opened state covers, naming the field. JSON Schema is no base for a
 * digest: over the releases of zod 4 it changed for a quarter of the schema families tried.
 *
 * Of zod only `_zod.def` is read, which its documentation keeps for library authors.
 */
import { modelNameOf } from "@holdpoint/seal/zod";

interface Def {
  readonly type: string;
  readonly [part: string]: unknown;
}

interface Internals {
  readonly _zod: { readonly def: Def };
}

/** Reads a schema's output side into its shape text. Anything that is no zod schema is `any`. */
export function shapeText(schema: unknown): string {
  return shape(schema, []);
}

function isSchema(value: unknown): value is Internals {
  return typeof value === "object" && value !== null && "_zod" in value;
}

/** Kinds whose shape is that of the schema inside: what they add changes no stored value's reading. */
const transparent = new Set(["default", "prefault", "catch", "readonly", "brand", "success"]);

function shape(schema: unknown, above: readonly unknown[]): string {
  return joined(options(schema, above));
}

/** The alternatives of a schema: more than one for unions, enums, literals and what may be absent, however nested. */
function options(schema: unknown, above: readonly unknown[]): readonly string[] {
  if (!isSchema(schema)) return ["any"];
  const seen = above.indexOf(schema);
  if (seen >= 0) return [`@${above.length - seen}`]; // a lazy loop, by how far up it closes
  const def = schema._zod.def;
  const path = [...above, schema];
  if (transparent.has(def.type)) return options(def["innerType"], above);
  switch (def.type) {
    case "union":
      return (def["options"] as unknown[]).flatMap((option) => options(option, path));
    case "optional":
      return [...options(def["innerType"], path), "undefined"];
    case "nonoptional":
      return options(def["innerType"], above).filter((option) => option !== "undefined");
    case "nullable":
      return [...options(def["innerType"], path), "null"];
    case "pipe":
    case "codec":
      return options(def["out"], above);
    case "lazy":
      return options((def["getter"] as () => unknown)(), path);
    case "literal":
      return (def["values"] as unknown[]).map(literalText);
    case "enum":
      return enumMembers(def["entries"] as Record<string, unknown>).map(literalText);
    default:
      return [single(def, path)];
  }
}

/** A shape that is one alternative. */
function single(def: Def, path: readonly unknown[]): string {
  const inner = (part: unknown): string => shape(part, path);
  switch (def.type) {
    case "object":
      return objectShape(def, path);
    case "array":
      return `[${inner(def["element"])}]`;
    case "tuple": {
      const rest = isSchema(def["rest"]) ? `,...${inner(def["rest"])}` : "";
      return `(${(def["items"] as unknown[]).map(inner).join(",")}${rest})`;
    }
    case "record":
      return `record<${inner(def["keyType"])},${inner(def["valueType"])}>`;
    case "map":
      return `map<${inner(def["keyType"])},${inner(def["valueType"])}>`;
    case "set":
      return `set<${inner(def["valueType"])}>`;
    case "intersection":
      return `(${[inner(def["left"]), inner(def["right"])].sort().join("&")})`;
    case "custom": {
      const model = modelNameOf({ _zod: { def } });
      return model === undefined ? "custom" : `model<${model}>`;
    }
    default:
      return def.type; // string, number, bigint, boolean, date, any, unknown, transform …
  }
}

function objectShape(def: Def, path: readonly unknown[]): string {
  const fields = def["shape"] as Record<string, unknown>;
  const parts = Object.keys(fields)
    .sort()
    .map((name) => `${JSON.stringify(name)}:${shape(fields[name], path)}`);
  const rest = isSchema(def["catchall"]) ? shape(def["catchall"], path) : "never";
  return `{${parts.join(",")}${rest === "never" ? "" : `,*:${rest}`}}`;
}

/** Alternatives as one text: nested unions, order and repetition make no difference. */
function joined(all: readonly string[]): string {
  const members = [...new Set(all)].filter((option) => option !== "never").sort();
  if (members.length === 1) return members[0]!;
  return members.length === 0 ? "never" : `<${members.join("|")}>`;
}

function literalText(value: unknown): string {
  if (typeof value === "bigint") return `${value}n`;
  return value === undefined ? "undefined" : (JSON.stringify(value) ?? typeof value);
}

/** A TypeScript enum lists its numeric members twice, once by value; only names count. */
function enumMembers(entries: Record<string, unknown>): unknown[] {
  const numeric = Object.values(entries).filter((value) => typeof value === "number");
  return Object.entries(entries)
    .filter(([key]) => !numeric.includes(Number(key)))
    .map(([, value]) => value);
}

/** Paths of the schema where it ends in a bare transform: such a value can't be checked on its output side (FLOW-03). */
export function bareTransforms(
  schema: unknown,
  path = "state",
  above: readonly unknown[] = [],
): string[] {
  if (!isSchema(schema) || above.includes(schema)) return [];
  const def = schema._zod.def;
  const next = [...above, schema];
  const into = (part: unknown, at: string): string[] => bareTransforms(part, at, next);
  switch (def.type) {
    case "transform":
      return [path];
    case "pipe":
    case "codec":
      return into(def["out"], path);
    case "object":
      return [
        ...Object.entries(def["shape"] as Record<string, unknown>).flatMap(([name, field]) =>
          into(field, `${path}.${name}`),
        ),
        ...into(def["catchall"], `${path}.*`),
      ];
    case "array":
      return into(def["element"], `${path}[]`);
    case "tuple":
      return [
        ...(def["items"] as unknown[]).flatMap((item, index) => into(item, `${path}[${index}]`)),
        ...into(def["rest"], `${path}[]`),
      ];
    case "record":
    case "map":
      return [...into(def["keyType"], `${path}.(key)`), ...into(def["valueType"], `${path}.*`)];
    case "set":
      return into(def["valueType"], `${path}[]`);
    case "union":
      return (def["options"] as unknown[]).flatMap((option) => into(option, path));
    case "intersection":
      return [...into(def["left"], path), ...into(def["right"], path)];
    case "lazy":
      return into((def["getter"] as () => unknown)(), path);
    default:
      return isSchema(def["innerType"]) ? into(def["innerType"], path) : [];
  }
}
