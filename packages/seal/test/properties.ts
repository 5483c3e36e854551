import fc from "fast-check";

import {
  canonicalize,
  createKeyring,
  decode,
  digest,
  encode,
  isSealError,
  open,
  seal,
} from "../src/index.ts";
import { nodeMac } from "../src/node.ts";
import { confusable, sealable } from "./arbitrary-values.ts";
import { describeValue } from "./describe-value.ts";
import {
  canonicalIndependently,
  parseIndependently,
  readIndependently,
} from "./independent-reader.ts";

const keyring = createKeyring({
  current: { id: "k1", key: new Uint8Array(32).fill(9) },
  mac: nodeMac,
});
const sealing = { keyring, purpose: "checkpoint" };

/** What must hold of every sealable value; each throws where it doesn't. */
export interface Property {
  readonly title: string;
  readonly run: (runs: number, seed?: number) => void;
}

const changes: fc.Arbitrary<Change> = fc.record({
  kind: fc.constantFrom("flip", "remove", "insert", "double", "swap"),
  at: fc.nat(),
  bit: fc.nat(7),
  insert: fc.constantFrom(" ", "0", "\n", ",", '"', "\\", "{}", "$", "null", "\u00e9", ".0", "e+1"),
});

export const PROPERTIES: readonly Property[] = [
  {
    title: "SEAL-23 SEAL-52 P4 CASE-090 gives back every value in value, type and order",
    run: check(sealable, (value) => {
      const text = encode(value);
      const before = describeValue(value);
      same(describeValue(decode(text)), before);
      same(encode(decode(text)), text);
      same(describeValue(readIndependently(text)), before);
    }),
  },
  {
    title: "SEAL-07 SEAL-52 has one canonical form for every order",
    run: check(sealable, (value) => {
      const text = encode(value);
      const canonical = canonicalize(value);
      same(canonical, canonicalIndependently(parseIndependently(text)));
      same(canonicalize(decode(canonicalText(value))), canonical);
      same(digest(reversed(value)), digest(value));
    }),
  },
  {
    title: "SEAL-23 SEAL-52 P4 never gives two values one text",
    run: check(fc.tuple(confusable, confusable), ([a, b]) => {
      same(encode(a) === encode(b), describeValue(a) === describeValue(b));
    }),
  },
  {
    title: "SEAL-23 SEAL-24 P4 takes a changed text only as the very text of its value",
    run: check(fc.tuple(sealable, changes), ([value, change]) => {
      const text = changed(encode(value), change);
      let again: unknown;
      try {
        again = decode(text);
      } catch (error) {
        if (!isSealError(error, "seal-malformed")) throw error;
        return;
      }
      same(encode(again), text);
    }),
  },
  {
    title: "SEAL-28 SEAL-52 opens no envelope with a byte changed",
    run: check(fc.tuple(sealable, changes), ([value, change]) => {
      const text = seal(value, sealing);
      const other = changed(text, change);
      if (other === text) return;
      try {
        open(other, sealing);
      } catch (error) {
        if (isSealError(error, "checkpoint-tampered")) return;
        if (isSealError(error, "seal-version-unsupported")) return;
        throw error;
      }
      // White space between members is the one change that a store may make.
      same(JSON.stringify(JSON.parse(other)), text);
    }),
  },
];

function check<T>(values: fc.Arbitrary<T>, holds: (value: T) => void): Property["run"] {
  return (runs, seed) => {
    fc.assert(fc.property(values, holds), {
      numRuns: runs,
      ...(seed === undefined ? {} : { seed }),
    });
  };
}

function same(actual: unknown, expected: unknown): void {
  if (actual !== expected) {
    throw new Error(`expected ${String(expected)}\n     got ${String(actual)}`);
  }
}

/** The text of a value whose maps and sets are in another order is read back to the same form. */
function canonicalText(value: unknown): string {
  return encode(reversed(value));
}

/** The same value with all that has no order in a canonical form turned round. */
function reversed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(reversed);
  if (value instanceof Map) {
    return new Map([...value].toReversed().map(([k, v]) => [reversed(k), reversed(v)]));
  }
  if (value instanceof Set) return new Set([...value].toReversed().map(reversed));
  if (typeof value !== "object" || value === null) return value;
  if (Object.getPrototypeOf(value) !== Object.prototype) return value;
  const object = {};
  for (const [key, held] of Object.entries(value).toReversed()) {
    Object.defineProperty(object, key, {
      value: reversed(held),
      enumerable: true,
      writable: true,
      configurable: true,
    });
  }
  return object;
}

interface Change {
  readonly kind: "flip" | "remove" | "insert" | "double" | "swap";
  readonly at: number;
  readonly bit: number;
  readonly insert: string;
}

function changed(text: string, { kind, at, bit, insert }: Change): string {
  const bytes = Buffer.from(text);
  const index = at % bytes.length;
  const before = bytes.subarray(0, index);
  const after = bytes.subarray(index + 1);
  switch (kind) {
    case "flip":
      return Buffer.concat([before, Buffer.of(bytes[index]! ^ (1 << bit)), after]).toString();
    case "remove":
      return Buffer.concat([before, after]).toString();
    case "insert":
      return Buffer.concat([before, Buffer.from(insert), bytes.subarray(index)]).toString();
    case "double":
      return Buffer.concat([
        before,
        bytes.subarray(index, index + 1 + bit),
        bytes.subarray(index),
      ]).toString();
    case "swap":
      return Buffer.concat([
        before,
        after.subarray(0, 1),
        bytes.subarray(index, index + 1),
        after.subarray(1),
      ]).toString();
  }
}
