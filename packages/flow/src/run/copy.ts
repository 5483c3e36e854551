/**
 * A copy of a value for the journal (FLOW-47): what anybody does to the original later changes nothing.
 *
 * Containers are copied; leaves and instances that only a sealer understands are kept as they are (`opaque` is called then),
 * since whether they can be sealed is asked at the pause, with the path. So nothing is copied into a plainer form than it
 * has: a subclass, or a container with properties of its own, would be sealed as what it is not.
 */
import { copyOfBytes } from "./bytes.ts";

/** The copy of one value. */
export function copyOf(value: unknown, opaque: () => void = ignore): unknown {
  if (typeof value !== "object" || value === null) return value;
  try {
    return new Copier(opaque).copy(value);
  } catch {
    opaque(); // a proxy's trap threw: whoever seals it says so
    return value;
  }
}

/**
 * The copy of a value that a schema has built, of plain lists and objects down to leaves: nothing in it has to be looked for.
 * `containers`: how many of them it is made of.
 */
export function copyOfBuilt(value: object): { readonly copy: object; readonly containers: number } {
  const copier = new BuiltCopier();
  return { copy: copier.copy(value), containers: copier.containers };
}

class BuiltCopier {
  containers = 0;

  copy(value: object): object {
    this.containers += 1;
    if (Array.isArray(value)) {
      const list: unknown[] = [];
      for (let index = 0; index < value.length; index++) list.push(this.#part(value[index]));
      return list;
    }
    const copy: Members = {};
    for (const name of Object.keys(value)) {
      const inner = this.#part((value as Members)[name]);
      if (name in copy) Object.defineProperty(copy, name, { ...ordinary, value: inner });
      else copy[name] = inner; // what an object inherits an assignment could run into
    }
    return copy;
  }

  #part(inner: unknown): unknown {
    return typeof inner === "object" && inner !== null ? this.copy(inner) : inner;
  }
}

const ordinary = { writable: true, enumerable: true, configurable: true };
const ignore = (): void => {};

class Copier {
  readonly #opaque: () => void;
  /** The first container and its copy; a map of the others, made when there are any. */
  #first: readonly [object, object] | undefined;
  #seen: Map<object, object> | undefined;

  constructor(opaque: () => void) {
    this.#opaque = opaque;
  }

  copy(value: object): object {
    const known = this.#first?.[0] === value ? this.#first[1] : this.#seen?.get(value);
    if (known !== undefined) return known; // a cycle stays one, and is refused with its path when sealed
    if (Array.isArray(value)) return this.#array(value);
    const prototype: unknown = Object.getPrototypeOf(value);
    switch (prototype) {
      case Object.prototype:
      case null:
        return this.#plain(value);
      case Date.prototype:
        return isBare(value) ? new Date((value as Date).getTime()) : this.#kept(value);
      case Map.prototype:
        return isBare(value) ? this.#map(value as Map<unknown, unknown>) : this.#kept(value);
      case Set.prototype:
        return isBare(value) ? this.#set(value as Set<unknown>) : this.#kept(value);
    }
    if (ArrayBuffer.isView(value) || value instanceof ArrayBuffer) {
      return copyOfBytes(value) ?? this.#kept(value);
    }
    return this.#kept(value);
  }

  #met(value: object, copy: object): void {
    if (this.#first === undefined) this.#first = [value, copy];
    else (this.#seen ??= new Map()).set(value, copy);
  }

  #part(inner: unknown): unknown {
    return typeof inner === "object" && inner !== null ? this.copy(inner) : inner;
  }

  #kept(value: object): object {
    this.#opaque();
    return value;
  }

  #array(value: unknown[]): object {
    const keys = Object.keys(value);
    const { length } = value;
    // Integer keys come first and in order: this many, up to the last, are all of a dense array's.
    const dense =
      keys.length === length && (length === 0 || keys[length - 1] === String(length - 1));
    if (!dense || Object.getPrototypeOf(value) !== Array.prototype) return this.#kept(value);
    const copy: unknown[] = [];
    this.#met(value, copy);
    for (const inner of value) copy.push(this.#part(inner));
    return copy;
  }

  #map(value: Map<unknown, unknown>): object {
    const copy = new Map<unknown, unknown>();
    this.#met(value, copy);
    for (const [key, inner] of value) copy.set(this.#part(key), this.#part(inner));
    return copy;
  }

  #set(value: Set<unknown>): object {
    const copy = new Set<unknown>();
    this.#met(value, copy);
    for (const inner of value) copy.add(this.#part(inner));
    return copy;
  }

  #plain(value: object): object {
    const copy = (Object.getPrototypeOf(value) === null ? Object.create(null) : {}) as Members;
    this.#met(value, copy);
    for (const key of Reflect.ownKeys(value)) {
      const descriptor = Object.getOwnPropertyDescriptor(value, key);
      if (descriptor === undefined) continue;
      // Objects that are assigned the same names share their layout; what an object inherits an assignment could run into.
      if (isOrdinary(descriptor) && !(key in copy)) copy[key] = this.#part(descriptor.value);
      else this.#define(copy, key, descriptor);
    }
    return copy;
  }

  #define(copy: object, key: PropertyKey, descriptor: PropertyDescriptor): void {
    if ("value" in descriptor) descriptor.value = this.#part(descriptor.value);
    Object.defineProperty(copy, key, descriptor);
  }
}

type Members = Record<PropertyKey, unknown>;

/** As an assignment makes it. */
function isOrdinary({ writable, enumerable, configurable }: PropertyDescriptor): boolean {
  return writable === true && enumerable === true && configurable === true;
}

function isBare(value: object): boolean {
  return Reflect.ownKeys(value).length === 0;
}
