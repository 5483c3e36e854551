import { describe, expect, it } from "vitest";
import {
  canonicalize,
  decode,
  digest,
  encode,
  keyringOf,
  open,
  seal,
  sign,
  verify,
} from "../src/index.ts";
import { aesGcm, nodeMac } from "../src/node.ts";
import { createKeyring } from "../src/index.ts";

const keyring = keyringOf(new Uint8Array(32).fill(7));

describe("slice", () => {
  const values: unknown[] = [
    null,
    1,
    -0,
    NaN,
    Infinity,
    1n,
    10n ** 700n,
    "a",
    "\0",
    "\ud800",
    undefined,
    [1, [2]],
    { b: 1, a: 2 },
    { $x: 1, "\0": [1] },
    JSON.parse('{"__proto__":{"a":1}}'),
    new Map<unknown, unknown>([
      [{ a: 1 }, new Set([1, 1n])],
      [NaN, -0],
    ]),
    new Date(5),
    new Uint8Array([1, 2, 3]),
    new Float32Array([NaN, 1]),
    new DataView(new ArrayBuffer(3)),
    new ArrayBuffer(2),
    { "2": 1, "1": 2, a: 1 },
    (
      globalThis as { Temporal?: { Duration: { from(x: unknown): unknown } } }
    ).Temporal?.Duration.from({ hours: 1, milliseconds: 1500 }),
  ];
  it.each(values.map((v, i) => [i, v]))("value %d", (_i, v) => {
    const text = encode(v);
    const back = decode(text);
    expect(encode(back)).toBe(text);
    expect(back).toEqual(v);
    expect(canonicalize(back)).toBe(canonicalize(v));
    expect(digest(v)).toHaveLength(43);
  });
  it("seals", () => {
    const text = seal(
      { a: new Date(3), s: 'q"\\\n' },
      { keyring, purpose: "checkpoint", header: { run: "r1", n: 3 } },
    );
    expect(JSON.parse(text).body).toBe(
      '{"a":{"$date":"1970-01-01T00:00:00.003Z"},"s":"q\\"\\\\\\n"}',
    );
    expect(open(text, { keyring, purpose: "checkpoint" }).value).toEqual({
      a: new Date(3),
      s: 'q"\\\n',
    });
    expect(() => open(text, { keyring, purpose: "cursor" })).toThrow("changed");
    const m = { mac: nodeMac, current: { id: "k1", key: new Uint8Array(32).fill(7) } };
    expect(verify(text, { keyring: createKeyring(m), purpose: "checkpoint" }).header).toEqual({
      run: "r1",
      n: 3,
    });
    const c = createKeyring({ ...m, cipher: aesGcm });
    const secret = sign("hello", { keyring: c, purpose: "cursor" });
    expect(secret.text).toContain('{"v":2');
    expect(verify(secret.text, { keyring: c, purpose: "cursor" }).body).toBe("hello");
  });
  it("refuses", () => {
    for (const bad of [
      Object.assign([1], { x: 1 }),
      () => 1,
      new (class A {})(),
      {
        get a() {
          return 1;
        },
      },
      new Error("x"),
      globalThis,
      new Proxy({}, {}),
    ]) {
      expect(() => encode({ x: [bad] })).toThrow(/^x\[0\]/);
    }
    const a: unknown[] = [];
    a.push({ q: a });
    expect(() => encode({ x: a })).toThrow("x[0].q can't be sealed: a cycle back to x");
    for (const bad of [
      "1.0",
      " 1",
      '{"a":1,"a":2}',
      '{"b":1,"1":2}',
      '{"$num":"1"}',
      '{"$x":1}',
      '{"$object":[["a",1]]}',
      '"\\u0000"',
      "[1,]",
      "tru",
    ]) {
      expect(() => decode(bad)).toThrow(/can't be read/);
    }
  });
});
