import { openElementsMax } from "./limits.ts";

/** What has been copied in one walk; the map is made when the first object is met. */
export interface OpenMemo {
  copies: Map<object, unknown> | undefined;
  readonly mode: "snapshot" | "key";
}

const typedArray = Object.getPrototypeOf(Uint8Array.prototype) as Uint8Array;

/** Whether sealing takes it for a plain object: `Object.prototype` of any realm, or none. */
export function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return (
    prototype === null ||
    prototype === Object.prototype ||
    (Object.getPrototypeOf(prototype) === null &&
      Object.hasOwn(prototype as object, "isPrototypeOf"))
  );
}

/** Sets an own property whatever its name: an assignment of `__proto__` would set the prototype. */
function defineOwn(target: object, name: PropertyKey, value: unknown): void {
  if (name !== "__proto__") (target as Record<PropertyKey, unknown>)[name] = value;
  else
    Object.defineProperty(target, name, {
      value,
      writable: true,
      enumerable: true,
      configurable: true,
    });
}

/**
 * A copy of data as passed, to which later changes of the original don't reach. Plain objects,
 * arrays, maps, sets, dates and bytes are copied; instances of other classes can't be, and stay
 * themselves. In `key` mode `undefined` properties of plain objects are left out, at every depth.
 */
export function copyOpen(value: unknown, memo: OpenMemo): unknown {
  if (typeof value !== "object" || value === null) return value;
  const known = memo.copies?.get(value);
  if (known !== undefined) return known;
  memo.copies ??= new Map();
  if (Array.isArray(value)) return copyArray(value, memo, memo.copies);
  if (isPlain(value)) return copyPlain(value as Record<PropertyKey, unknown>, memo, memo.copies);
  const copy = copyBuiltIn(value, memo, memo.copies);
  memo.copies.set(value, copy);
  return copy;
}

function copyArray(value: unknown[], memo: OpenMemo, copies: Map<object, unknown>): unknown {
  const plain = Object.getPrototypeOf(value) === Array.prototype;
  // Holes are not `undefined`: sealing refuses them, so they have to stay.
  if (!plain || value.length > openElementsMax) return value;
  const copy: unknown[] = [];
  copies.set(value, copy);
  for (let index = 0; index < value.length; index++) {
    if (index in value) copy[index] = copyOpen(value[index], memo);
  }
  copy.length = value.length;
  return copy;
}

function copyPlain(
  value: Record<PropertyKey, unknown>,
  memo: OpenMemo,
  copies: Map<object, unknown>,
): unknown {
  const bare = Object.getPrototypeOf(value) === null;
  const copy = (bare ? Object.create(null) : {}) as Record<PropertyKey, unknown>;
  copies.set(value, copy);
  for (const name of Object.keys(value)) {
    const field = value[name];
    if (field === undefined && memo.mode === "key") continue;
    defineOwn(copy, name, copyOpen(field, memo));
  }
  for (const name of Object.getOwnPropertySymbols(value)) copy[name] = value[name];
  return copy;
}

function copyBuiltIn(value: object, memo: OpenMemo, copies: Map<object, unknown>): unknown {
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype === Date.prototype) return new Date((value as Date).getTime());
  if (prototype === Map.prototype) {
    const copy = new Map<unknown, unknown>();
    copies.set(value, copy);
    for (const [key, item] of value as Map<unknown, unknown>) {
      copy.set(copyOpen(key, memo), copyOpen(item, memo));
    }
    return copy;
  }
  if (prototype === Set.prototype) {
    const copy = new Set<unknown>();
    copies.set(value, copy);
    for (const item of value as Set<unknown>) copy.add(copyOpen(item, memo));
    return copy;
  }
  if (value instanceof ArrayBuffer) return value.slice(0);
  if (value instanceof DataView && value.buffer instanceof ArrayBuffer) {
    return new DataView(value.buffer.slice(value.byteOffset, value.byteOffset + value.byteLength));
  }
  // The shared prototype's own `slice` copies; a Buffer's is a view.
  if (ArrayBuffer.isView(value)) return typedArray.slice.call(value as Uint8Array);
  return value;
}
