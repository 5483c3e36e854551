/**
 * Which registered classes a schema reaches (SEAL-41).
 *
 * Walks the output side of a zod schema by its definitions, without importing zod. A model is
 * known by the identity of its check function, which zod keeps in every copy that `.refine()`,
 * `.describe()` and the like make. A kind that is not listed here opens nothing.
 */
import { hasOwn, isArray, methodOf, objectValues, setAdd, setHas } from "../platform.ts";
import type { Model } from "./model.ts";

interface Definition {
  readonly type?: unknown;
  readonly fn?: unknown;
  readonly [part: string]: unknown;
}

/** Parts of a definition that hold schemas, by kind. */
const PARTS: Readonly<Record<string, readonly string[]>> = {
  optional: ["innerType"],
  nullable: ["innerType"],
  nonoptional: ["innerType"],
  default: ["innerType"],
  prefault: ["innerType"],
  catch: ["innerType"],
  readonly: ["innerType"],
  pipe: ["out"],
  array: ["element"],
  set: ["valueType"],
  map: ["keyType", "valueType"],
  record: ["keyType", "valueType"],
  tuple: ["items", "rest"],
  union: ["options"],
  intersection: ["left", "right"],
  object: ["shape", "catchall"],
};

/** Check functions found in a schema; schemas are immutable, so each is walked once. */
const found = new WeakMap<object, readonly unknown[]>();
const foundGet = methodOf<(self: typeof found, schema: object) => readonly unknown[] | undefined>(
  WeakMap.prototype,
  "get",
);
const foundSet = methodOf<(self: typeof found, schema: object, checks: unknown[]) => unknown>(
  WeakMap.prototype,
  "set",
);
const isPrototypeOf = methodOf<(self: object, value: object) => boolean>(
  Object.prototype,
  "isPrototypeOf",
);

/** The models, of those given, that the schemas let be built. Lists are walked by index while they grow. */
export function reachable(
  schemas: readonly unknown[],
  models: readonly Model[],
): ReadonlySet<string> {
  const names = new Set<string>();
  const waiting: unknown[] = [];
  addAll(waiting, schemas);
  for (let at = 0; at < waiting.length; at++) {
    const checks = checksIn(waiting[at]);
    for (let i = 0; i < checks.length; i++) {
      for (let k = 0; k < models.length; k++) {
        if (models[k]!.check === checks[i]) open(models[k]!, models, names, waiting);
      }
    }
  }
  return names;
}

/** A class that is reached, and those of the models that extend it. */
function open(
  model: Model,
  models: readonly Model[],
  names: Set<string>,
  waiting: unknown[],
): void {
  for (let i = 0; i < models.length; i++) {
    const other = models[i]!;
    const { prototype } = other;
    if (other !== model && !isPrototypeOf(model.prototype, prototype)) continue;
    if (setHas(names, other.name)) continue;
    setAdd(names, other.name);
    waiting[waiting.length] = other.fields;
  }
}

function checksIn(schema: unknown): readonly unknown[] {
  if (typeof schema !== "object" || schema === null) return [];
  const known = foundGet(found, schema);
  if (known !== undefined) return known;
  const checks: unknown[] = [];
  const seen = new Set<object>();
  const waiting: unknown[] = [schema];
  for (let i = 0; i < waiting.length; i++) {
    const at = waiting[i];
    if (typeof at !== "object" || at === null || setHas(seen, at)) continue;
    setAdd(seen, at);
    if (isArray(at)) addAll(waiting, at);
    else visit(at, checks, waiting);
  }
  foundSet(found, schema, checks);
  return checks;
}

function addAll(waiting: unknown[], more: readonly unknown[]): void {
  for (let i = 0; i < more.length; i++) waiting[waiting.length] = more[i];
}

function visit(schema: object, checks: unknown[], waiting: unknown[]): void {
  const definition = definitionOf(schema);
  if (definition === undefined) return;
  const { type } = definition;
  if (type === "custom") checks[checks.length] = definition.fn;
  if (type === "lazy" && typeof definition["getter"] === "function") {
    waiting[waiting.length] = (definition["getter"] as () => unknown)();
  }
  const parts = typeof type === "string" && hasOwn(PARTS, type) ? PARTS[type]! : [];
  for (let i = 0; i < parts.length; i++) {
    const held = definition[parts[i]!];
    if (parts[i] === "shape") addAll(waiting, objectValues(held as object));
    else waiting[waiting.length] = held;
  }
}

function definitionOf(schema: object): Definition | undefined {
  const internals = (schema as { _zod?: { def?: Definition } })._zod;
  return internals?.def;
}
