import fc from "fast-check";
import { describe, expect, it } from "vitest";

import { isPlainOwn } from "../src/canonical/own.ts";
import {
  createSealer,
  DEFAULT_LIMITS,
  isSealError,
  type Sealer,
  type SealerOptions,
} from "../src/index.ts";
import { confusable, sealable } from "./arbitrary-values.ts";

/** A text, or what refused it. */
function written(sealer: Sealer, how: "encode" | "encodeOwn", value: unknown): unknown {
  try {
    return sealer[how](value);
  } catch (error) {
    if (!isSealError(error)) throw error;
    const { code, message, path } = error;
    return { code, message, path };
  }
}

const cyclic: unknown[] = [];
cyclic.push({ in: cyclic });

/** Nothing of it can be written as it is. */
const tagged: readonly unknown[] = [
  undefined,
  { a: undefined },
  [undefined],
  Object.assign([], { 1: 1 }),
  [-0, 0, NaN, Infinity, 1e21, 0.1],
  { $a: 1 },
  JSON.parse('{"__proto__":1}'),
  Object.create(null),
  class {},
  Symbol("s"),
  1n,
  new (class extends Array {})(),
  new (class Own {})(),
  [new Map([[1, new Set([{}])]]), new Date(5), Uint8Array.of(1)],
  cyclic,
];
/** What is found in the finished text. */
const searched: readonly unknown[] = [
  { 2: "b", 1: "a", x: "\0" },
  ["\ud800", "\\ud800", "\\u0000"],
  { "\ud800": 1 },
];
const odd = [...tagged, ...searched];

const bounds: readonly SealerOptions["limits"][] = [
  { depth: 2 },
  { depth: 3 },
  { nodes: 4 },
  { nodes: 5 },
  { brackets: 2 },
  { brackets: 3 },
  { bytes: 20 },
  { bytes: 21 },
  { bytes: 22 },
  { bytes: 30 },
];

describe("what is written without the walk", () => {
  const fits = { depth: 3, nodes: 6, brackets: 3, bytes: 22, warnBytes: 1 };
  const state = { a: [1, "text", {}], b: null };

  it("SEAL-20 SEAL-21 is what the text holds as it is, up to each limit", () => {
    expect(isPlainOwn(state, fits)).toBe(true);
    for (const name of ["depth", "nodes", "brackets", "bytes"] as const) {
      expect([name, isPlainOwn(state, { ...fits, [name]: fits[name] - 1 })]).toEqual([name, false]);
    }
    expect(isPlainOwn("x", { ...fits, bytes: 3 })).toBe(true);
    expect(isPlainOwn("x", { ...fits, bytes: 2 })).toBe(false);
    expect(isPlainOwn([1], { ...fits, bytes: 1 })).toBe(false);
    for (const value of ["text", 1, 0, -1.5, true, false, null, [], {}, [null, [], {}]])
      expect([value, isPlainOwn(value, fits)]).toEqual([value, true]);
  });

  it("SEAL-02 SEAL-03 SEAL-08 is nothing that needs a tag, or is refused", () => {
    for (const value of [...tagged, NaN, -0, -Infinity]) {
      expect([typeof value, isPlainOwn(value, DEFAULT_LIMITS)]).toEqual([typeof value, false]);
      expect(isPlainOwn({ at: [value] }, DEFAULT_LIMITS)).toBe(false);
    }
    for (const value of searched) expect(isPlainOwn(value, DEFAULT_LIMITS)).toBe(true);
  });

  it("SEAL-21 is not begun where it would be longer than any string", () => {
    const page = "x".repeat(1_000_000);
    const book = Array.from({ length: 1000 }, () => page);
    expect(written(createSealer(), "encodeOwn", book)).toEqual(
      written(createSealer(), "encode", book),
    );
  });
});

describe("data of one's own", () => {
  it("SEAL-06 SEAL-20 SEAL-23 is written and refused as any other, whatever it holds", () => {
    const sealer = createSealer();
    const both = (value: unknown): void => {
      expect(written(sealer, "encodeOwn", value)).toEqual(written(sealer, "encode", value));
    };
    odd.forEach(both);
    odd.map((value) => ({ deep: [{ at: value }] })).forEach(both);
    fc.assert(fc.property(fc.oneof(sealable, confusable, fc.jsonValue()), both));
  });

  it("SEAL-20 SEAL-21 meets the same limits at the same values", () => {
    const values = fc.jsonValue({ maxDepth: 4 });
    for (const limits of bounds) {
      const sealer = createSealer({ limits: { warnBytes: 1, ...limits } });
      fc.assert(
        fc.property(values, (value) => {
          expect(written(sealer, "encodeOwn", value)).toEqual(written(sealer, "encode", value));
        }),
      );
      for (const value of [
        [[]],
        [[[]]],
        { a: [1, 2] },
        { a: { b: 1 } },
        [[{ "  ": false, "     ": null }, null, [0, null]]],
        ["é".repeat(8)],
        "x".repeat(19),
      ])
        expect(written(sealer, "encodeOwn", value)).toEqual(written(sealer, "encode", value));
    }
  });

  it("SEAL-26 is not written where prototypes were polluted, and names that all objects have are not listed", () => {
    const sealer = createSealer();
    const prototype = Object.prototype as { toJSON?: unknown; everywhere?: number };
    try {
      prototype.toJSON = () => "changed";
      expect(written(sealer, "encodeOwn", { a: 1 })).toMatchObject({ code: "platform-altered" });
      delete prototype.toJSON;
      prototype.everywhere = 1;
      expect(sealer.encodeOwn({ a: 1 })).toBe('{"a":1}');
      Object.assign(prototype, { everywhere: () => 1 });
      const plain = isPlainOwn({ a: 1 }, DEFAULT_LIMITS);
      delete prototype.everywhere;
      expect(plain).toBe(true);
    } finally {
      delete prototype.toJSON;
      delete prototype.everywhere;
    }
  });
});
