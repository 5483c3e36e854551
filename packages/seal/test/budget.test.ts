import fc from "fast-check";
import { describe, expect, it } from "vitest";

import {
  createSealer,
  decode,
  defineCodec,
  encode,
  type Sealer,
  type SealerOptions,
} from "../src/index.ts";
import { confusable, sealable } from "./arbitrary-values.ts";
import { refusal } from "./refusal.ts";
import { Basket, basket, Money, money, refund, secret } from "./shop-models.ts";

/** A class of its own, kept as whatever it holds. */
class Box {
  readonly held: unknown;
  constructor(held: unknown) {
    this.held = held;
  }
}
const box = defineCodec({
  type: "box",
  is: (value): value is Box => value instanceof Box,
  encode: ({ held }) => held,
  decode: (held) => new Box(held),
});
const parts = { models: [money, refund, secret, basket], codecs: [box] };

function withBytes(bytes: number, own: SealerOptions = {}): Sealer {
  return createSealer({ ...own, limits: { bytes } });
}

/** One of each kind whose characters are counted before they are made. */
const KINDS: readonly (readonly [name: string, value: unknown, own: SealerOptions])[] = [
  ["a string", "x".repeat(40), {}],
  ["an empty object", {}, {}],
  ["an empty list", [], {}],
  ["an object", { name: "x".repeat(30), count: 1, list: [] }, {}],
  ["a list", ["x".repeat(20), 1, "y", null, true], {}],
  ["a list of strings", ["x", "y", "z"], {}],
  ["an object of strings", { a: "x", b: "y", c: "z" }, {}],
  ["a list of pairs", { $a: "x".repeat(20), $b: 2 }, {}],
  ["a longer list of pairs", { $a: "x", $b: "x", $c: "x", $d: "x", $e: "x" }, {}],
  [
    "a Map",
    new Map<unknown, unknown>([
      ["key", "x".repeat(20)],
      ["k", 1],
      ["l", []],
    ]),
    {},
  ],
  ["a Set", new Set<unknown>(["x".repeat(20), 1, {}]), {}],
  ["a Date", new Date(0), {}],
  ["bytes", new Uint8Array(40), {}],
  ["a buffer", new ArrayBuffer(41), {}],
  ["a view of two-byte elements", new Uint16Array(21), {}],
  ["units", `${"x".repeat(20)}\0`, {}],
  ["a key of units", { [`${"k".repeat(20)}\0`]: 1 }, {}],
  ["a bigint", 10n ** 40n, {}],
  ["a long bigint", 10n ** 800n, {}],
  ["NaN", NaN, {}],
  ["undefined", undefined, {}],
  ["a model", new Money(12, "EUR"), parts],
  ["a model of models", Object.assign(new Basket(), { items: [new Money(1, "EUR")] }), parts],
  ["a codec's value", new Box("x".repeat(30)), parts],
  ["a duration", decode('{"$duration":{"hours":1,"minutes":20}}'), {}],
  ["a duration of nothing", decode('{"$duration":{}}'), {}],
  ["an instant", decode('{"$instant":"2026-01-01T00:00:00Z"}'), {}],
  ["a zoned time", decode('{"$zoned":["2026-01-01T00:00:00Z","Europe/Berlin","iso8601"]}'), {}],
];

/** Characters that each is known to have before its text is made: all but those of numbers, words and some commas. */
const COUNTED: readonly (readonly [string, unknown, SealerOptions, number])[] = [
  ["an empty object", {}, {}, 2],
  ["an object of strings", { a: "x", bc: "y" }, {}, '{"a":"x""bc":"y"}'.length],
  ["an object of other scalars", { a: 1, bc: true, d: null }, {}, '{"a":"bc":"d":}'.length],
  ["a list of strings", ["x", "y", "z"], {}, '["x","y","z"]'.length],
  ["a list of scalars", [1, null, false], {}, "[,,]".length],
  ["one pair", { $a: "x" }, {}, '{"$object":[["$a","x"]]}'.length],
  ["two pairs", { $a: "x", $b: "y" }, {}, '{"$object":[["$a","x"],["$b","y"]]}'.length],
  ["a pair of units", { "k\0": "x" }, {}, '{"$object":[[{"$utf16":"awAAAA"},"x"]]}'.length],
  ["an empty Map", new Map(), {}, '{"$map":}'.length],
  ["a Map", new Map([["k", "x"]]), {}, '{"$map":["k","x"]]}'.length],
  ["an empty Set", new Set(), {}, '{"$set":}'.length],
  ["a Set", new Set(["x", "y"]), {}, '{"$set":"x""y"}'.length],
  ["a Date", new Date(0), {}, '{"$date":"1970-01-01T00:00:00.000Z"}'.length],
  ["bytes", new Uint8Array(4), {}, '{"$bytes":"AAAAAA"}'.length],
  ["a buffer", new ArrayBuffer(3), {}, '{"$buffer":"AAAA"}'.length],
  ["units", "x\0", {}, '{"$utf16":"eAAAAA"}'.length],
  ["a bigint", -12n, {}, '{"$bigint":"-12"}'.length],
  ["a long bigint", 16n ** 600n, {}, `{"$bigint16":"1${"0".repeat(600)}"}`.length],
  ["a negative zero", -0, {}, '{"$num":"-0"}'.length],
  ["undefined", undefined, {}, '{"$undefined":true}'.length],
  ["a model", new Money(12, "EUR"), parts, '{"$model":["money",{"cents":"currency":"EUR"}'.length],
  ["a codec's value", new Box("x"), parts, '{"$codec":["box""x"}'.length],
  ["a duration", decode('{"$duration":{"hours":1}}'), {}, '{"$duration":{""}}'.length],
  [
    "an instant",
    decode('{"$instant":"2026-01-01T00:00:00Z"}'),
    {},
    '{"$instant":"2026-01-01T00:00:00Z"}'.length,
  ],
];

describe("the budget of bytes", () => {
  it.each(KINDS)("SEAL-21 takes %s of exactly the limit, and nothing past it", (_, value, own) => {
    const written = createSealer(own).encode([value]);
    expect(withBytes(written.length, own).encode([value])).toBe(written);
    const error = refusal(() => withBytes(written.length - 1, own).encode([value]));
    expect([error.code, error.limit]).toEqual(["state-not-sealable", written.length - 1]);
    expect(error.figure).toBeLessThanOrEqual(written.length);
  });

  it.each(KINDS)("SEAL-21 refuses many of %s long before their text is made", (_, value, own) => {
    const many = Array.from({ length: 3000 }, () => value);
    const length = createSealer(own).encode(many).length;
    const limit = Math.floor(length / 30);
    const error = refusal(() => withBytes(limit, own).encode([many]));
    // The finished text is the value's own, and has no place in it.
    expect(error.path).toMatch(/^\[0\]/);
    expect(error.found).toBe(`its text passes ${limit} bytes`);
    expect(error.figure).toBeGreaterThan(limit);
  });

  it.each(KINDS)(
    "SEAL-20 SEAL-21 counts what %s nests and holds as its reader does",
    (_, value, own) => {
      const written = createSealer(own).encode([value]);
      for (const name of ["depth", "nodes", "brackets"]) {
        const passes = (most: number, how: (sealer: Sealer) => void): boolean => {
          try {
            how(createSealer({ ...own, limits: { [name]: most } }));
            return true;
          } catch (error) {
            // A class that no schema reaches is refused later, and for another reason.
            return !/(?:more than|deeper than)/.test((error as Error).message);
          }
        };
        for (let most = 1; most < 24; most++) {
          const reads = passes(most, ({ decode: read }) => read(written));
          expect([name, most, passes(most, (sealer) => sealer.encode([value]))]).toEqual([
            name,
            most,
            reads,
          ]);
        }
      }
    },
  );

  it.each(COUNTED)("SEAL-21 counts the characters of %s one by one", (_, value, own, counted) => {
    const refused = refusal(() => withBytes(counted - 1, own).encode([value]));
    expect([refused.path, refused.figure]).toMatchObject([
      expect.stringMatching(/^\[0\]/),
      counted,
    ]);
    // Where all its characters pass, the bracket around it is the next that is counted.
    const next = refusal(() => withBytes(counted, own).encode([value]));
    expect(next.figure).toBe(counted + 2);
  });

  it("SEAL-21 counts bytes in the finished text, and says of it what it says of a part", () => {
    for (const how of ["encode", "encodeOwn"] as const) {
      expect(withBytes(42)[how]("é".repeat(20))).toHaveLength(22);
      expect(refusal(() => withBytes(41)[how]("é".repeat(20)))).toMatchObject({
        code: "state-not-sealable",
        path: "",
        found: "its text passes 41 bytes",
        advice: "Keep bulk data outside",
        limit: 41,
        figure: 42,
      });
    }
  });

  it("SEAL-21 takes any value of exactly its length", () => {
    fc.assert(
      fc.property(fc.oneof(sealable, confusable), (value) => {
        const written = encode(value);
        expect(withBytes(Buffer.byteLength(written)).encode(value)).toBe(written);
      }),
    );
  });

  it("SEAL-21 counts what one key, one element, one entry adds", () => {
    const key = "k".repeat(5000);
    const wide = Object.fromEntries(Array.from({ length: 50 }, (_, i) => [`${i}${key}`, i]));
    expect(refusal(() => withBytes(20_000).encode([wide, wide])).figure).toBeLessThan(300_000);
    const list = Array.from({ length: 20_000 }, () => [] as unknown[]);
    expect(refusal(() => withBytes(30_000).encode([list, list])).figure).toBeLessThan(65_000);
  });
});

describe("names with an escape", () => {
  const NAMES = ["\\", '"', "\n", "\t", "a", "\u001f", "\\n", "\nx", "p", "q", "r"];

  it("SEAL-23 are read right among many objects of other names", () => {
    let state = 1;
    const next = (below: number): number => {
      state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff;
      return (state >> 8) % below;
    };
    const make = (depth: number): object => {
      const made: Record<string, unknown> = {};
      for (let count = next(4); count > 0; count--) {
        const inner = depth > 0 && next(3) === 0;
        made[NAMES[next(NAMES.length)]!] = inner ? [make(depth - 1), make(depth - 1)] : next(3);
      }
      return made;
    };
    for (let round = 0; round < 3000; round++) {
      const text = encode([make(2), make(2), make(2)]);
      expect(encode(decode(text))).toBe(text);
    }
  });
});
