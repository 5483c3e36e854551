/**
 * Members that a schema does not name (WF-02). A zod object drops them silently unless it was built strict or loose; at a
 * boundary a dropped member is a misspelt one, so they are found here and refused. Where a schema takes other members (a
 * `catchall`, a record) or says nothing of them (a transform, another library's schema), it has the word.
 */

import type { z } from "zod";

/** What a zod schema says of itself; which members it has depends on its type. */
type Definition = Readonly<Record<string, unknown>> & { readonly type: string };

type Path = readonly (string | number)[];
type Find = (schema: unknown, value: unknown, path: Path) => Path[];

/** The paths of all members that no part of the schema names. */
export function unknownFields(schema: unknown, value: unknown): Path[] {
  return find(schema, value, []);
}

const find: Find = (schema, value, path) => {
  if (!isZod(schema) || typeof value !== "object" || value === null) return [];
  const def = schema._zod.def as Definition;
  const look = looks[def.type];
  return look === undefined ? [] : look(def, value, path);
};

type Look = (def: Definition, value: object, path: Path) => Path[];

const inner: Look = (def, value, path) => find(def["innerType"], value, path);

const looks: Readonly<Record<string, Look>> = {
  object(def, value, path) {
    if (Array.isArray(value)) return [];
    const shape = def["shape"] as Readonly<Record<string, unknown>>;
    return Object.entries(value).flatMap(([name, member]) => {
      if (Object.hasOwn(shape, name)) return find(shape[name], member, [...path, name]);
      if (def["catchall"] !== undefined) return find(def["catchall"], member, [...path, name]);
      return [[...path, name]];
    });
  },
  array(def, value, path) {
    if (!Array.isArray(value)) return [];
    return value.flatMap((item, at) => find(def["element"], item, [...path, at]));
  },
  tuple(def, value, path) {
    if (!Array.isArray(value)) return [];
    const items = def["items"] as readonly unknown[];
    return value.flatMap((item, at) => find(items[at] ?? def["rest"], item, [...path, at]));
  },
  record(def, value, path) {
    return Object.entries(value).flatMap(([name, member]) =>
      find(def["valueType"], member, [...path, name]),
    );
  },
  /** The first option that takes the value decides, as in zod; one that also names every member is preferred. */
  union(def, value, path) {
    const options = (def["options"] as readonly unknown[]).filter((option) => takes(option, value));
    const found = options.map((option) => find(option, value, path));
    return found.find((paths) => paths.length === 0) ?? found[0] ?? [];
  },
  /** Unknown is what neither side names. */
  intersection(def, value, path) {
    const right = new Set(find(def["right"], value, path).map(String));
    return find(def["left"], value, path).filter((left) => right.has(String(left)));
  },
  pipe: (def, value, path) => find(def["in"], value, path),
  lazy: (def, value, path) => find((def["getter"] as () => unknown)(), value, path),
  optional: inner,
  nullable: inner,
  nonoptional: inner,
  default: inner,
  prefault: inner,
  catch: inner,
  readonly: inner,
};

function takes(option: unknown, value: unknown): boolean {
  if (!isZod(option)) return false;
  try {
    return option.safeParse(value).success;
  } catch {
    return true; // asynchronous: the schema itself decides later
  }
}

function isZod(schema: unknown): schema is z.ZodType {
  return typeof schema === "object" && schema !== null && "_zod" in schema && "safeParse" in schema;
}
