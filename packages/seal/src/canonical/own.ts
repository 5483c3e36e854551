/**
 * A quicker look at data that the caller has built itself and that nobody else holds.
 *
 * O1 Such data has no accessors, no hidden properties and no proxies, so that reading a property runs nobody's code: descriptors,
 *    which are most of the cost of the walk that writes, need not be asked for.
 * O2 Only what the text holds as it is passes: whatever needs a tag, and whatever meets a limit, is left to that walk, which
 *    writes or refuses it. So both give one text, and one refusal.
 */
import {
  arrayPrototype,
  getPrototypeOf,
  hasOwn,
  isArray,
  isBare,
  objectPrototype,
} from "../platform.ts";
import type { Limits } from "../limits.ts";
import { isReservedKey } from "./collection-rows.ts";

/** Whether the native writer prints it as it is, within the limits. */
export function isPlainOwn(value: unknown, limits: Limits): boolean {
  const walk = new OwnWalk(limits);
  return walk.value(value, 0) && walk.bytes <= limits.bytes;
}

class OwnWalk {
  readonly #maxDepth: number;
  readonly #maxBytes: number;
  /** Something enumerable was put on the prototype of all objects, and is listed with own names. */
  readonly #inherits = !isBare(objectPrototype);
  #nodes: number;
  #brackets: number;
  /** Characters, as that walk counts them. */
  bytes = 0;

  constructor({ depth, nodes, brackets, bytes }: Limits) {
    this.#maxDepth = depth;
    this.#maxBytes = bytes;
    this.#nodes = nodes;
    this.#brackets = brackets;
  }

  value(value: unknown, depth: number): boolean {
    if (--this.#nodes < 0) return false;
    switch (typeof value) {
      case "string":
        this.bytes += value.length + 2;
        return this.bytes <= this.#maxBytes;
      case "number":
        return value === 0 ? 1 / value > 0 : value - value === 0;
      case "boolean":
        return true;
      case "object":
        return value === null || this.#container(value, depth);
      default:
        return false;
    }
  }

  #container(value: object, depth: number): boolean {
    if (depth >= this.#maxDepth || --this.#brackets < 0) return false;
    if (isArray(value)) return this.#elements(value, depth + 1);
    return getPrototypeOf(value) === objectPrototype && this.#members(value, depth + 1);
  }

  #elements(list: readonly unknown[], depth: number): boolean {
    if (getPrototypeOf(list) !== arrayPrototype) return false;
    const { length } = list;
    this.bytes += length + 1;
    for (let i = 0; i < length; i++) if (!this.value(list[i], depth)) return false;
    return true;
  }

  #members(object: object, depth: number): boolean {
    let bytes = 2;
    for (const key in object) {
      if (this.#inherits && !hasOwn(object, key)) continue;
      if (isReservedKey(key)) return false;
      bytes += key.length + 3;
      if (!this.value((object as Record<string, unknown>)[key], depth)) return false;
    }
    this.bytes += bytes;
    return true;
  }
}
