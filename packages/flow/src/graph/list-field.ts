/**
 * A field of the state that is a list: what was read of it in an earlier round is not read again, so that a list that grows by
 * an element a round costs that element (FLOW-03).
 *
 * K1 An element is known where it stands in the list that the state holds, and all of that is known (K2). A leaf is known by its
 *    place there, anything else wherever it went.
 * K2 A list is known where its schema built every element, down to leaves, and each was frozen to the ground: nobody can have
 *    changed it since. With an instance in it, or what a schema passes through untouched, it is read anew each time.
 * K3 Only a list whose schema looks at each element by itself is read so; one with a check of the user's is read whole.
 * K4 What does not fit is read whole once more, which says so.
 */
import { z } from "zod";

import { freezeBuilt } from "./built.ts";

/** K2: by which schema all elements of a list were read. */
const lists = new WeakMap<readonly unknown[], z.ZodType>();
const none: readonly unknown[] = Object.freeze([]);

/** Whether nobody can change a list any more, nor anything in it (K2). */
export function isKnownList(value: unknown): value is readonly unknown[] {
  return Array.isArray(value) && lists.has(value);
}

/** Reads a list, given the one that the state holds; `undefined`: it has to be read whole. */
export type ListReader = (value: unknown, current: unknown) => readonly unknown[] | undefined;

/** The reader of a field's output side; `undefined` where it is no list, or none of K3. */
export function listReader(field: z.ZodType): ListReader | undefined {
  const list = listOf(field);
  if (list === undefined) return undefined;
  const { element, least, most } = list;
  return (value, current) => {
    if (!Array.isArray(value) || Object.getPrototypeOf(value) !== Array.prototype) return undefined;
    const { length } = value;
    if (length < least || length > most) return undefined; // K4
    const before = isKnownList(current) && lists.get(current) === element ? current : none;
    let standing: ReadonlySet<unknown> | undefined;
    const stands = (item: unknown): boolean =>
      before.length > 0 && isContainer(item) && (standing ??= new Set(before)).has(item);
    const read: unknown[] = [];
    let [isSame, isKnown] = [true, true];
    for (let at = 0; at < length; at++) {
      const item: unknown = value[at];
      isSame &&= at < before.length && Object.is(item, before[at]);
      if (isSame || stands(item)) {
        read.push(item); // K1
        continue;
      }
      const own = z.safeParse(element, item);
      if (!own.success) return undefined; // K4
      read.push(own.data);
      if (!freezeBuilt(own.data, item)) isKnown = false;
    }
    Object.freeze(read);
    if (isKnown) lists.set(read, element);
    return read;
  };
}

function isContainer(item: unknown): boolean {
  return typeof item === "object" && item !== null;
}

interface ListOf {
  readonly element: z.ZodType;
  readonly least: number;
  readonly most: number;
}

interface Def {
  readonly type: string;
  readonly innerType?: z.ZodType;
  readonly element?: z.ZodType;
  readonly checks?: readonly { readonly _zod: { readonly def: SizeCheck } }[];
}

interface SizeCheck {
  readonly check: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly length?: number;
}

/** K3 */
function listOf(field: z.ZodType): ListOf | undefined {
  const def: object = field._zod.def;
  const { type, innerType, element, checks = [] } = def as Def;
  if ((type === "optional" || type === "nullable") && innerType !== undefined)
    return checks.length === 0 ? listOf(innerType) : undefined;
  if (type !== "array" || element === undefined) return undefined;
  let [least, most] = [0, Infinity];
  for (const { _zod } of checks) {
    const { check, minimum, maximum, length } = _zod.def;
    if (!sizes.has(check)) return undefined;
    least = Math.max(least, minimum ?? length ?? 0);
    most = Math.min(most, maximum ?? length ?? Infinity);
  }
  return { element, least, most };
}

const sizes: ReadonlySet<string> = new Set(["min_length", "max_length", "length_equals"]);
