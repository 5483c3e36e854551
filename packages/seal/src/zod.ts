import * as z from "zod";

import { SealError } from "./errors.ts";
import { checkName } from "./models/codec.ts";
import type { Model } from "./models/model.ts";
import { reachable } from "./models/reach.ts";
import {
  charCodeAt,
  defineData,
  getDescriptor,
  hasOwn,
  isDigit,
  keepSparse,
  objectKeys,
  sliceText,
} from "./platform.ts";

/** A class of which instances can be checked; abstract ones too, since their subclasses are sealed. */
type ClassOf<T extends object> = (abstract new (...parts: never[]) => T) & {
  readonly prototype: T;
};

export interface ModelOptions<T extends object, Fields extends z.ZodObject> {
  /** Name in the text: 1 to 64 of `A-Z a-z 0-9 . _ / -`, a letter first. Never give it to another class. */
  readonly name: string;
  /** The fields that are kept, on their output side: what the instance holds, not what it is made from. */
  readonly fields: Fields;
  /**
   * Makes the instance. Default: the prototype and the fields, without the constructor, which is
   * right only for a class without `#private` fields and without fields that begin with `_`.
   */
  readonly build?: (fields: z.output<Fields>) => T;
}

/** A model with its own schema: the one way in which its class enters another schema (SEAL-41). */
export interface ZodModel<T extends object> extends Model<T> {
  readonly schema: z.ZodType<T, T>;
}

/**
 * Gives a class a name that no minifier changes and a schema of its fields (SEAL-40). Hand the
 * model to `createSealer({ models })`, and use `model.schema` wherever a schema holds the class.
 *
 * @throws SealError `option-invalid` for a bad name
 */
export function model<T extends object, Fields extends z.ZodObject>(
  made: ClassOf<T>,
  options: ModelOptions<T, Fields>,
): ZodModel<T> {
  const { name, fields } = options;
  checkName("model", name);
  if (typeof made !== "function") throw new SealError("option-invalid", "a model needs a class");
  const { prototype } = made;
  const check = (value: unknown): boolean => value instanceof made;
  defineData(check, modelMark, name);
  // Values in a state are on the output side: its checks apply, its transforms have been done.
  // Made when it is first needed, since a field may be a model that is declared further down.
  let held: z.ZodType | undefined;
  const build = options.build ?? ((own: object) => instance(prototype, own));
  return Object.freeze({
    name,
    prototype,
    check,
    reachable,
    fields,
    schema: z.custom<T>(check, `not an instance of ${name}`),
    problem(own: Readonly<Record<string, unknown>>) {
      held ??= z.output(fields);
      return problemOf(held.safeParse(own), own);
    },
    build: (own: Record<string, unknown>) => build(own as z.output<Fields>),
  });
}

const createFrom = Object.create as <T>(prototype: T) => T;

/** The mark of a model's check function: known across copies of this package. */
const modelMark = Symbol.for("@holdpoint/seal.model");

/**
 * The name of the model whose `schema` this is, or a copy of it (`.describe()`, `.refine()` …): zod keeps the check function in
 * copies. `undefined` for any other schema.
 */
export function modelNameOf(schema: unknown): string | undefined {
  const check = (
    schema as { readonly _zod?: { readonly def?: { readonly fn?: unknown } } } | undefined
  )?._zod?.def?.fn;
  if (typeof check !== "function" || !hasOwn(check, modelMark)) return undefined;
  const name: unknown = getDescriptor(check, modelMark)?.value;
  return typeof name === "string" ? name : undefined;
}

function problemOf(
  result: z.ZodSafeParseResult<unknown>,
  own: Readonly<Record<string, unknown>>,
): string | undefined {
  if (!result.success) {
    // Codes and paths only: zod's messages may quote what they refuse.
    const { code, path } = result.error.issues[0]!;
    return `${code} at ${path.map(String).join(".") || "the fields"}`;
  }
  const known = result.data as object;
  for (const key of objectKeys(own)) {
    // A field that the schema would strip is one that a later version wrote: never dropped silently.
    if (!hasOwn(known, key)) return `unrecognized_keys at ${sliceText(key, 0, 64)}`;
  }
  return undefined;
}

function instance<T extends object>(prototype: T, fields: object): T {
  const made = createFrom(prototype);
  const keys = objectKeys(fields);
  if (isDigit(charCodeAt(keys[0] ?? "", 0))) keepSparse(made);
  for (const key of keys) {
    const value: unknown = getDescriptor(fields, key)?.value;
    defineData(made, key, value);
  }
  return made;
}
