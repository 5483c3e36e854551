import { runInNewContext } from "node:vm";

import { describe, expect, it } from "vitest";

import { canonicalize, decode, digest, digestText, encode } from "../src/index.ts";
import { describeValue } from "./describe-value.ts";
import { readIndependently } from "./independent-reader.ts";
import { refusal } from "./refusal.ts";

interface Row {
  readonly title: string;
  readonly value: unknown;
  readonly text: string;
  readonly canonical?: string;
}

function bytes(...values: number[]): Uint8Array {
  return Uint8Array.from(values);
}

function own(entries: readonly (readonly [string, unknown])[]): object {
  return Object.fromEntries(entries);
}

const float16 = (globalThis as { Float16Array?: { of(...values: number[]): object } }).Float16Array;

const ROWS: readonly Row[] = [
  { title: "SEAL-01 keeps null as it is", value: null, text: "null" },
  { title: "SEAL-01 keeps booleans as they are", value: [true, false], text: "[true,false]" },
  {
    title: "SEAL-01 keeps strings as they are",
    value: 'é😀"\\\n\u001f/\u2028',
    text: '"é😀\\"\\\\\\n\\u001f/\u2028"',
  },
  {
    title: "SEAL-02 prints numbers as ECMAScript does",
    value: [0, 1.5, 1e21, 1e-7, 5e-324, -1e300],
    text: "[0,1.5,1e+21,1e-7,5e-324,-1e+300]",
  },
  { title: "SEAL-03 tags NaN", value: NaN, text: '{"$num":"NaN"}' },
  { title: "SEAL-03 tags Infinity", value: Infinity, text: '{"$num":"Infinity"}' },
  { title: "SEAL-03 tags -Infinity", value: -Infinity, text: '{"$num":"-Infinity"}' },
  { title: "SEAL-03 keeps -0 apart from 0", value: [-0, 0], text: '[{"$num":"-0"},0]' },
  {
    title: "SEAL-04 tags a bigint in decimal",
    value: [1n, -12n, 0n],
    text: '[{"$bigint":"1"},{"$bigint":"-12"},{"$bigint":"0"}]',
  },
  {
    title: "SEAL-04 writes 600 digits in decimal",
    value: 10n ** 599n,
    text: `{"$bigint":"1${"0".repeat(599)}"}`,
  },
  {
    title: "SEAL-04 writes more than 600 digits in hex",
    value: -(10n ** 600n),
    text: `{"$bigint16":"-${(10n ** 600n).toString(16)}"}`,
  },
  { title: "SEAL-05 tags undefined by itself", value: undefined, text: '{"$undefined":true}' },
  {
    title: "SEAL-05 keeps an undefined property and element",
    value: { a: undefined, b: [undefined] },
    text: '{"a":{"$undefined":true},"b":[{"$undefined":true}]}',
  },
  { title: "SEAL-06 keeps arrays as they are", value: [1, [2, []]], text: "[1,[2,[]]]" },
  {
    title: "SEAL-07 keeps own order, and sorts by UTF-16 unit in the canonical form",
    value: { b: 1, דּ: 2, "😀": 3, a: 4 },
    text: '{"b":1,"\ufb33":2,"😀":3,"a":4}',
    canonical: '{"a":4,"b":1,"😀":3,"\ufb33":2}',
  },
  {
    title: "SEAL-07 sorts integer keys as text in the canonical form",
    value: { 10: 1, 9: 2, a: 3 },
    text: '{"9":2,"10":1,"a":3}',
    canonical: '{"10":1,"9":2,"a":3}',
  },
  {
    title: "SEAL-08 lists pairs for a $ key",
    value: { $price: 1, a: 2 },
    text: '{"$object":[["$price",1],["a",2]]}',
  },
  {
    title: "SEAL-08 lists pairs for a __proto__ key",
    value: own([
      ["b", 1],
      ["__proto__", { x: 1 }],
      ["a", 2],
    ]),
    text: '{"$object":[["b",1],["__proto__",{"x":1}],["a",2]]}',
    canonical: '{"$object":[["__proto__",{"x":1}],["a",2],["b",1]]}',
  },
  {
    title: "SEAL-08 sorts pairs by the key, not by its spelling",
    value: { $: 1, "\n": 2, " ": 3, "\0": 4, "\ud800": 5 },
    text: '{"$object":[["$",1],["\\n",2],[" ",3],[{"$utf16":"AAA"},4],[{"$utf16":"ANg"},5]]}',
    canonical: '{"$object":[[{"$utf16":"AAA"},4],["\\n",2],[" ",3],["$",1],[{"$utf16":"ANg"},5]]}',
  },
  {
    title: "SEAL-07 sorts names by the name, not by its spelling",
    value: { b: 1, "\n": 2, " ": 3, '"': 4 },
    text: '{"b":1,"\\n":2," ":3,"\\"":4}',
    canonical: '{"\\n":2," ":3,"\\"":4,"b":1}',
  },
  {
    title: "SEAL-08 lists pairs inside pairs",
    value: { $a: { $b: [] } },
    text: '{"$object":[["$a",{"$object":[["$b",[]]]}]]}',
  },
  {
    title: "SEAL-09 keeps a Map's order, and sorts it in the canonical form",
    value: new Map<unknown, unknown>([
      ["b", 1],
      [2, null],
      [{ k: 1 }, "x"],
    ]),
    text: '{"$map":[["b",1],[2,null],[{"k":1},"x"]]}',
    canonical: '{"$map":[["b",1],[2,null],[{"k":1},"x"]]}',
  },
  {
    title: "SEAL-09 sorts equal-looking keys by their values",
    value: new Map([
      [{}, 2],
      [{}, 1],
    ]),
    text: '{"$map":[[{},2],[{},1]]}',
    canonical: '{"$map":[[{},1],[{},2]]}',
  },
  { title: "SEAL-09 keeps an empty Map", value: new Map(), text: '{"$map":[]}' },
  {
    title: "SEAL-10 keeps a Set's order, and sorts it in the canonical form",
    value: new Set(["b", "a", 1]),
    text: '{"$set":["b","a",1]}',
    canonical: '{"$set":["a","b",1]}',
  },
  {
    title: "SEAL-10 keeps two members that look equal",
    value: new Set([{ a: 1 }, { a: 1 }]),
    text: '{"$set":[{"a":1},{"a":1}]}',
  },
  { title: "SEAL-11 tags a Uint8Array", value: bytes(1, 2, 255), text: '{"$bytes":"AQL_"}' },
  {
    title: "SEAL-11 keeps one byte and two bytes",
    value: [bytes(255), bytes(255, 254)],
    text: '[{"$bytes":"_w"},{"$bytes":"__4"}]',
  },
  {
    title: "SEAL-11 writes a Buffer as a Uint8Array",
    value: Buffer.from("a"),
    text: '{"$bytes":"YQ"}',
  },
  { title: "SEAL-11 tags an ArrayBuffer", value: bytes(1, 2).buffer, text: '{"$buffer":"AQI"}' },
  {
    title: "SEAL-11 tags a DataView's own window",
    value: new DataView(bytes(1, 2, 3, 4).buffer, 1, 2),
    text: '{"$dataview":"AgM"}',
  },
  { title: "SEAL-11 tags an Int8Array", value: Int8Array.of(-1), text: '{"$int8":"_w"}' },
  {
    title: "SEAL-11 tags a Uint8ClampedArray",
    value: Uint8ClampedArray.of(300),
    text: '{"$uint8c":"_w"}',
  },
  {
    title: "SEAL-11 tags an Int16Array, low byte first",
    value: Int16Array.of(1, -2),
    text: '{"$int16":"AQD-_w"}',
  },
  { title: "SEAL-11 tags a Uint16Array", value: Uint16Array.of(258), text: '{"$uint16":"AgE"}' },
  { title: "SEAL-11 tags an Int32Array", value: Int32Array.of(-2), text: '{"$int32":"_v___w"}' },
  { title: "SEAL-11 tags a Uint32Array", value: Uint32Array.of(1), text: '{"$uint32":"AQAAAA"}' },
  {
    title: "SEAL-11 tags a Float32Array",
    value: Float32Array.of(1.5),
    text: '{"$float32":"AADAPw"}',
  },
  {
    title: "SEAL-11 tags a Float64Array",
    value: Float64Array.of(-0),
    text: '{"$float64":"AAAAAAAAAIA"}',
  },
  {
    title: "SEAL-11 tags a BigInt64Array",
    value: BigInt64Array.of(-1n),
    text: '{"$bigint64":"__________8"}',
  },
  {
    title: "SEAL-11 tags a BigUint64Array",
    value: BigUint64Array.of(1n),
    text: '{"$biguint64":"AQAAAAAAAAA"}',
  },
  ...(float16 === undefined
    ? []
    : [
        {
          title: "SEAL-11 tags a Float16Array",
          value: float16.of(1.5),
          text: '{"$float16":"AD4"}',
        },
      ]),
  {
    title: "SEAL-12 tags a Date with milliseconds",
    value: new Date(Date.UTC(2026, 0, 2, 3, 4, 5, 6)),
    text: '{"$date":"2026-01-02T03:04:05.006Z"}',
  },
  {
    title: "SEAL-12 keeps the whole range of Date",
    value: [new Date(8.64e15), new Date(-8.64e15)],
    text: '[{"$date":"+275760-09-13T00:00:00.000Z"},{"$date":"-271821-04-20T00:00:00.000Z"}]',
  },
  { title: "SEAL-14 tags a string with U+0000", value: "a\0", text: '{"$utf16":"YQAAAA"}' },
  {
    title: "SEAL-14 tags a string with an unpaired surrogate",
    value: ["\ud800", "\udc00x", "😀"],
    text: '[{"$utf16":"ANg"},{"$utf16":"ANx4AA"},"😀"]',
  },
  {
    title: "SEAL-14 lists the pairs of an object with such a key",
    value: { b: 1, "\0": 2 },
    text: '{"$object":[["b",1],[{"$utf16":"AAA"},2]]}',
    canonical: '{"$object":[[{"$utf16":"AAA"},2],["b",1]]}',
  },
  {
    title: "SEAL-14 leaves a string that only looks like an escape",
    value: "\\u0000 \\ud800",
    text: '"\\\\u0000 \\\\ud800"',
  },
];

describe("each kind of value has one text", () => {
  it.each(ROWS)("$title", ({ value, text, canonical }) => {
    expect(encode(value)).toBe(text);
    expect(canonicalize(value)).toBe(canonical ?? text);
    expect(describeValue(decode(text))).toBe(describeValue(value));
    expect(describeValue(readIndependently(text))).toBe(describeValue(value));
    expect(digest(value)).toBe(digestText(canonical ?? text));
  });

  it("SEAL-23 gives back a value that holds every kind at once", () => {
    const all = ROWS.map((row) => row.value);
    const text = encode(all);
    expect(text).toBe(`[${ROWS.map((row) => row.text).join(",")}]`);
    expect(describeValue(decode(text))).toBe(describeValue(all));
    expect(canonicalize(all)).toBe(`[${ROWS.map((row) => row.canonical ?? row.text).join(",")}]`);
  });

  it("SEAL-07 takes plain objects of another realm and without a prototype", () => {
    const foreign: unknown = runInNewContext(
      "({ a: [1, new Date(5), new Map([[1, new Set([2])]])], b: new Uint8Array([7]) })",
    );
    expect(encode(foreign)).toBe(
      '{"a":[1,{"$date":"1970-01-01T00:00:00.005Z"},{"$map":[[1,{"$set":[2]}]]}],"b":{"$bytes":"Bw"}}',
    );
    const bare = Object.assign(Object.create(null) as object, { a: 1 });
    expect(encode(bare)).toBe('{"a":1}');
    expect(Object.getPrototypeOf(decode('{"a":1}'))).toBe(Object.prototype);
  });

  it("SEAL-07 doesn't ask another realm's prototype for toJSON", () => {
    const foreign: unknown = runInNewContext(
      "Object.prototype.toJSON = () => 'x'; Array.prototype.toJSON = () => 'y'; ({ a: [1, {}], b: [2], c: [[3]] })",
    );
    expect(encode(foreign)).toBe('{"a":[1,{}],"b":[2],"c":[[3]]}');
    expect(encode([(foreign as { b: unknown }).b])).toBe("[[2]]");
  });

  it("SEAL-08 defines decoded keys and never touches a prototype", () => {
    const back = decode('{"$object":[["__proto__",{"polluted":1}]]}') as object;
    expect(Object.getPrototypeOf(back)).toBe(Object.prototype);
    expect(Object.getOwnPropertyDescriptor(back, "__proto__")).toEqual({
      value: { polluted: 1 },
      writable: true,
      enumerable: true,
      configurable: true,
    });
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
  });

  it("SEAL-11 seals a view's own window and gives it memory of its own", () => {
    const pool = Uint8Array.of(9, 9, 1, 2, 9, 9);
    const text = encode(pool.subarray(2, 4));
    expect(text).toBe('{"$bytes":"AQI"}');
    expect((decode(text) as Uint8Array).buffer.byteLength).toBe(2);
    const words = new Uint16Array(pool.buffer, 2, 1);
    expect((decode(encode(words)) as Uint16Array).buffer.byteLength).toBe(2);
  });

  it("SEAL-11 keeps the bits of a NaN", () => {
    const bits = Uint32Array.of(0x7fc01234, 0xffc00001);
    const back = decode(encode(new Float32Array(bits.buffer))) as Float32Array;
    expect([...new Uint32Array(back.buffer)]).toEqual([...bits]);
  });

  it("SEAL-11 gives a Buffer back as a Uint8Array", () => {
    const back = decode(encode(Buffer.from("abc").subarray(1))) as Uint8Array;
    expect(Object.getPrototypeOf(back)).toBe(Uint8Array.prototype);
    expect([...back]).toEqual([98, 99]);
  });

  it("SEAL-11 keeps a megabyte of bytes", () => {
    const long = Uint8Array.from({ length: 1_000_003 }, (_, i) => (i * 7) & 255);
    expect(Buffer.compare(decode(encode(long)) as Uint8Array, long)).toBe(0);
  });

  it("SEAL-14 R041 writes only plain well-formed text that every store can hold", () => {
    const text = encode({ "\0\udfff": ["\0", "\ud83d", "x\udc00"] });
    expect(text).not.toMatch(/\\u0000|\\ud/);
    expect((text as string & { isWellFormed(): boolean }).isWellFormed()).toBe(true);
    expect(describeValue(decode(text))).toBe(
      describeValue({ "\0\udfff": ["\0", "\ud83d", "x\udc00"] }),
    );
  });

  it("SEAL-14 keeps a long string of unpaired surrogates", () => {
    const long = "\ud800a".repeat(5000);
    expect(decode(encode(long))).toBe(long);
  });

  it("SEAL-19 writes a shared reference once a place, and gives back two", () => {
    const shared = { x: 1 };
    const text = encode([shared, shared]);
    expect(text).toBe('[{"x":1},{"x":1}]');
    const [a, b] = decode(text) as [object, object];
    expect(a).not.toBe(b);
  });

  it("SEAL-07 sorts names by UTF-16 unit, however many they are and in whatever order", () => {
    const beginnings = ["a", "\u{1f600}", "\ufb33", "Z", "1", "", "é"];
    for (const count of [0, 1, 2, 3, 23, 24, 25, 26, 90]) {
      const names = Array.from(
        { length: count },
        (_, i) => `${beginnings[i % beginnings.length]}${(i * 37) % 100}`,
      );
      const sorted = names.toSorted();
      const wanted = `{${sorted.map((name) => `${JSON.stringify(name)}:1`).join(",")}}`;
      const halves = [...names.slice(count / 2), ...names.slice(0, count / 2)];
      for (const order of [names, names.toReversed(), sorted, sorted.toReversed(), halves]) {
        expect(canonicalize(Object.fromEntries(order.map((name) => [name, 1])))).toBe(wanted);
      }
    }
  });

  it("SEAL-35 hashes the canonical form", () => {
    expect(digest({ b: new Set([2, 1]), a: 1 })).toBe(digestText('{"a":1,"b":{"$set":[1,2]}}'));
    expect(digestText("abc")).toBe("ungWv48Bz-pBQUDeXa4iI7ADYaOWF3qctBD_YfIAFa0");
    expect(digestText("é😀")).toHaveLength(43);
  });

  it("SEAL-47 keeps UUIDs and enum members as the strings and numbers they are", () => {
    const Status = { open: "open", paid: 2 } as const;
    const value = {
      id: "0191d6c2-7e4b-7c5a-9c1f-2b9a3f6d8e10",
      status: Status.open,
      level: Status.paid,
    };
    expect(encode(value)).toBe(JSON.stringify(value));
  });

  it("SEAL-23 keeps a value with a null prototype only as a plain object, as documented", () => {
    expect(encode(Object.create(null))).toBe(encode({}));
    expect(refusal(() => decode("")).code).toBe("seal-malformed");
  });
});
