import {
  getDescriptor,
  indexOfText,
  mapGet,
  methodOf,
  pattern,
  sliceText,
  testPattern,
} from "../platform.ts";
import { bufferRow, byteRows } from "./byte-rows.ts";
import { codecRow, mapRow, modelRow, objectRow, setRow } from "./collection-rows.ts";
import type { Row } from "./row.ts";
import {
  bigintHexRow,
  bigintRow,
  dateRow,
  numberRow,
  undefinedRow,
  unitsRow,
} from "./scalar-rows.ts";

const FIXED_ROWS: readonly Row[] = [
  numberRow,
  bigintRow,
  bigintHexRow,
  undefinedRow,
  unitsRow,
  objectRow,
  mapRow,
  setRow,
  dateRow,
  ...byteRows,
  bufferRow,
  modelRow,
  codecRow,
];

/** The rows of one sealer: the fixed ones, and those of the Temporal it was given. */
export class Registry {
  readonly #byTag = new Map<string, Row>();
  readonly #byClass = new Map<string, Row>();
  readonly #byPrototype = new Map<object, Row>();

  constructor(extra: readonly { row: Row; prototype: object }[]) {
    for (const row of FIXED_ROWS) {
      this.#byTag.set(row.tag, row);
      for (const name of row.classes ?? []) {
        this.#byClass.set(name, row);
        const made = (globalThis as { [name: string]: unknown })[name] as { prototype: object };
        this.#byPrototype.set(made.prototype, row);
      }
    }
    const buffer = (globalThis as { Buffer?: { prototype: object } }).Buffer;
    // Node's Buffer is a subclass in name only; it comes back as a Uint8Array (SEAL-11).
    if (buffer !== undefined) this.#byPrototype.set(buffer.prototype, this.#byTag.get("$bytes")!);
    for (const { row, prototype } of extra) {
      this.#byTag.set(row.tag, row);
      this.#byPrototype.set(prototype, row);
    }
  }

  tagged(tag: string): Row | undefined {
    return mapGet(this.#byTag, tag);
  }

  /** The row for instances of a prototype, of this realm or another. */
  of(prototype: object): Row | undefined {
    const row = mapGet(this.#byPrototype, prototype);
    if (row !== undefined) return row;
    const name = intrinsicName(prototype);
    return name === undefined ? undefined : mapGet(this.#byClass, name);
  }
}

const sourceOf = methodOf<(self: object) => string>(Function.prototype, "toString");
const NATIVE = pattern(/^function [A-Za-z0-9]+\(\) \{\s+\[native code\]\s+\}$/);
const intrinsicNames = new WeakMap<object, string>();
const namesGet = methodOf<(self: WeakMap<object, string>, key: object) => string | undefined>(
  WeakMap.prototype,
  "get",
);
const namesSet = methodOf<(self: WeakMap<object, string>, key: object, name: string) => unknown>(
  WeakMap.prototype,
  "set",
);

/** The name in a native function's source, or "". */
function nativeName(source: string): string {
  if (!testPattern(NATIVE, source)) return "";
  return sliceText(source, "function ".length, indexOfText(source, "("));
}

/**
 * The class whose built-in prototype this is, in whichever realm it was made: own `constructor`,
 * native, and pointing back. Only data properties are looked at, so nothing runs.
 */
export function intrinsicName(prototype: object): string | undefined {
  const known = namesGet(intrinsicNames, prototype);
  if (known !== undefined) return known === "" ? undefined : known;
  const made: unknown = getDescriptor(prototype, "constructor")?.value;
  let name = "";
  if (typeof made === "function" && getDescriptor(made, "prototype")?.value === prototype) {
    name = nativeName(sourceOf(made));
  }
  namesSet(intrinsicNames, prototype, name);
  return name === "" ? undefined : name;
}
