import { getDescriptor, methodOf } from "../platform.ts";
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
    return this.#byTag.get(tag);
  }

  /** The row for instances of a prototype, of this realm or another. */
  of(prototype: object): Row | undefined {
    const row = this.#byPrototype.get(prototype);
    if (row !== undefined) return row;
    const name = intrinsicName(prototype);
    return name === undefined ? undefined : this.#byClass.get(name);
  }
}

const sourceOf = methodOf<(self: object) => string>(Function.prototype, "toString");
const NATIVE = /^function ([A-Za-z0-9]+)\(\) \{\s+\[native code\]\s+\}$/;
const intrinsicNames = new WeakMap<object, string>();

/**
 * The class whose built-in prototype this is, in whichever realm it was made: own `constructor`,
 * native, and pointing back. Only data properties are looked at, so nothing runs.
 */
export function intrinsicName(prototype: object): string | undefined {
  const known = intrinsicNames.get(prototype);
  if (known !== undefined) return known === "" ? undefined : known;
  const made: unknown = getDescriptor(prototype, "constructor")?.value;
  let name = "";
  if (typeof made === "function" && getDescriptor(made, "prototype")?.value === prototype) {
    name = NATIVE.exec(sourceOf(made))?.[1] ?? "";
  }
  intrinsicNames.set(prototype, name);
  return name === "" ? undefined : name;
}
