/**
 * Which registered classes a schema reaches (SEAL-41).
 *
 * Walks the output side of a zod schema by its definitions, without importing zod. A model is
 * known by the identity of its check function, which zod keeps in every copy that `.refine()`,
 * `.describe()` and the like make. A kind that is not listed here opens nothing.
 */
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
const found = new WeakMap<object, ReadonlySet<unknown>>();

/** The models, of those given, that the schemas let be built. */
export function reachable(
  schemas: readonly unknown[],
  models: readonly Model[],
): ReadonlySet<string> {
  const names = new Set<string>();
  const byCheck = new Map(models.map((model) => [model.check as unknown, model] as const));
  const opened = new Set<Model>();
  const waiting: unknown[] = [...schemas];
  while (waiting.length > 0) {
    for (const check of checksIn(waiting.pop())) {
      const model = byCheck.get(check);
      if (model === undefined) continue;
      for (const other of models) {
        if (opened.has(other) || !isSubclass(other, model)) continue;
        opened.add(other);
        names.add(other.name);
        waiting.push(other.fields);
      }
    }
  }
  return names;
}

function isSubclass(model: Model, of: Model): boolean {
  return model === of || Object.prototype.isPrototypeOf.call(of.prototype, model.prototype);
}

function checksIn(schema: unknown): ReadonlySet<unknown> {
  if (typeof schema !== "object" || schema === null) return new Set();
  const known = found.get(schema);
  if (known !== undefined) return known;
  const checks = new Set<unknown>();
  const seen = new Set<object>();
  const waiting: unknown[] = [schema];
  while (waiting.length > 0) {
    const at = waiting.pop();
    if (typeof at !== "object" || at === null || seen.has(at)) continue;
    seen.add(at);
    if (Array.isArray(at)) waiting.push(...(at as unknown[]));
    else visit(at, checks, waiting);
  }
  found.set(schema, checks);
  return checks;
}

function visit(schema: object, checks: Set<unknown>, waiting: unknown[]): void {
  const definition = definitionOf(schema);
  if (definition === undefined) return;
  const { type } = definition;
  if (type === "custom") checks.add(definition.fn);
  if (type === "lazy" && typeof definition["getter"] === "function") {
    waiting.push((definition["getter"] as () => unknown)());
  }
  const parts = typeof type === "string" && Object.hasOwn(PARTS, type) ? PARTS[type]! : [];
  for (const part of parts) {
    const held = definition[part];
    if (part === "shape") waiting.push(...Object.values(held as object));
    else waiting.push(held);
  }
}

function definitionOf(schema: object): Definition | undefined {
  const internals = (schema as { _zod?: { def?: Definition } })._zod;
  return internals?.def;
}
