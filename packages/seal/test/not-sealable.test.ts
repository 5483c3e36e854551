import { describe, expect, it } from "vitest";

import { encode } from "../src/index.ts";
import { refusal } from "./refusal.ts";

class Refund {
  cents = 1;
}

function withProperty(target: object, key: PropertyKey, descriptor: PropertyDescriptor): object {
  return Object.defineProperty(target, key, descriptor);
}

const thenKey = ["th", "en"].join("");
let ran = 0;
function trap(): never {
  ran++;
  throw new Error("user code ran");
}

interface Case {
  readonly title: string;
  readonly value: () => unknown;
  readonly found: RegExp;
}

const hidden = { value: 1, enumerable: false };

const CASES: readonly Case[] = [
  {
    title: "SEAL-06 refuses a hole",
    value: () => Object.assign([], { 0: 1, 2: 3 }),
    found: /sparse/,
  },
  {
    title: "SEAL-06 refuses a hole made up for by a property",
    value: () => Object.assign([], { 0: 1, 2: 3, x: 1 }),
    found: /sparse/,
  },
  {
    title: "SEAL-06 refuses an extra property",
    value: () => Object.assign([1], { x: 1 }),
    found: /extra properties/,
  },
  {
    title: "SEAL-06 refuses a hidden extra property",
    value: () => withProperty([1], "x", hidden),
    found: /extra properties/,
  },
  {
    title: "SEAL-06 refuses a symbol on an array",
    value: () => withProperty([1], Symbol("x"), { value: 1, enumerable: true }),
    found: /symbol key/,
  },
  {
    title: "SEAL-06 refuses an Array subclass",
    value: () => new (class List extends Array {})(),
    found: /Array subclass/,
  },
  {
    title: "SEAL-06 refuses an array without a prototype",
    value: () => Object.setPrototypeOf([1], null),
    found: /Array subclass/,
  },
  {
    title: "SEAL-06 refuses a hidden element",
    value: () => withProperty([1], 0, hidden),
    found: /hidden elements/,
  },
  {
    title: "SEAL-06 refuses an accessor element",
    value: () => withProperty([1, 2], 1, { get: trap, enumerable: true }),
    found: /accessor/,
  },
  {
    title: "SEAL-06 refuses an element that is a setter alone",
    value: () => withProperty([1, 2], 1, { set: trap, enumerable: true }),
    found: /accessor/,
  },
  {
    title: "SEAL-11 refuses shared memory",
    value: () => new Uint8Array(new SharedArrayBuffer(4)),
    found: /shared memory/,
  },
  {
    title: "SEAL-11 refuses a resizable buffer",
    value: () =>
      new Uint8Array(
        new (ArrayBuffer as unknown as new (n: number, o: object) => ArrayBuffer)(4, {
          maxByteLength: 8,
        }),
      ),
    found: /resizable/,
  },
  { title: "SEAL-11 refuses a detached buffer", value: detached, found: /detached/ },
  {
    title: "SEAL-11 refuses a detached view",
    value: () => new Uint8Array(detached.call(null)),
    found: /./,
  },
  {
    title: "SEAL-11 refuses a property on a typed array",
    value: () => Object.assign(new Uint8Array(3), { x: 1 }),
    found: /extra properties/,
  },
  {
    title: "SEAL-11 refuses a property on a long typed array",
    value: () => Object.assign(new Uint16Array(5000), { x: 1 }),
    found: /extra properties/,
  },
  {
    title: "SEAL-11 refuses a symbol on a long typed array",
    value: () => withProperty(new Int8Array(5000), Symbol("x"), { value: 1 }),
    found: /extra properties/,
  },
  {
    title: "SEAL-11 refuses a symbol on a typed array",
    value: () => withProperty(new Int8Array(1), Symbol("x"), { value: 1 }),
    found: /extra properties/,
  },
  {
    title: "SEAL-11 refuses a property on a DataView",
    value: () => Object.assign(new DataView(new ArrayBuffer(1)), { x: 1 }),
    found: /extra properties/,
  },
  {
    title: "SEAL-11 refuses a property on an ArrayBuffer",
    value: () => Object.assign(new ArrayBuffer(1), { x: 1 }),
    found: /extra properties/,
  },
  { title: "SEAL-12 refuses an invalid Date", value: () => new Date(NaN), found: /invalid Date/ },
  {
    title: "SEAL-12 refuses a Date subclass",
    value: () => new (class Day extends Date {})(0),
    found: /a Day \(a Date\)/,
  },
  {
    title: "SEAL-12 refuses a Date with a property",
    value: () => Object.assign(new Date(0), { x: 1 }),
    found: /Date with extra properties/,
  },
  {
    title: "SEAL-12 refuses a Date with a toJSON",
    value: () => Object.assign(new Date(0), { toJSON: trap }),
    found: /Date with extra properties/,
  },
  {
    title: "SEAL-09 refuses a Map with a property",
    value: () => Object.assign(new Map(), { x: 1 }),
    found: /Map with extra properties/,
  },
  {
    title: "SEAL-17 says an Error, not a Error",
    value: () => new Error("no"),
    found: /^an Error$/,
  },
  {
    title: "SEAL-09 refuses a Map subclass",
    value: () => new (class Index extends Map {})(),
    found: /an Index \(a Map\)/,
  },
  {
    title: "SEAL-10 refuses a Set with a symbol",
    value: () => withProperty(new Set(), Symbol("x"), { value: 1 }),
    found: /Set with extra properties/,
  },
  { title: "SEAL-17 refuses a function", value: () => () => 1, found: /a function/ },
  { title: "SEAL-17 refuses a class", value: () => Refund, found: /a function/ },
  { title: "SEAL-17 refuses a symbol", value: () => Symbol("s"), found: /a symbol/ },
  {
    title: "SEAL-17 refuses a symbol key",
    value: () => ({ [Symbol("s")]: 1 }),
    found: /a symbol key/,
  },
  {
    title: "SEAL-17 refuses an accessor",
    value: () => ({
      get a() {
        return trap();
      },
    }),
    found: /an accessor/,
  },
  {
    title: "SEAL-17 refuses a setter alone",
    value: () => withProperty({}, "a", { set: trap, enumerable: true }),
    found: /an accessor/,
  },
  {
    title: "SEAL-17 refuses a property that is not enumerable",
    value: () => withProperty({}, "a", hidden),
    found: /not enumerable/,
  },
  {
    title: "SEAL-17 refuses a class nobody registered",
    value: () => new Refund(),
    found: /an instance of Refund/,
  },
  {
    title: "SEAL-17 refuses an object with a prototype of its own",
    value: () => Object.create({ b: 2 }),
    found: /an instance of Object|a prototype of its own/,
  },
  { title: "SEAL-17 refuses an Error", value: () => new TypeError("x"), found: /a TypeError/ },
  { title: "SEAL-17 refuses a RegExp", value: () => /a/, found: /a RegExp/ },
  { title: "SEAL-17 refuses a promise", value: () => Promise.resolve(1), found: /a Promise/ },
  { title: "SEAL-17 refuses a WeakMap", value: () => new WeakMap(), found: /a WeakMap/ },
  { title: "SEAL-17 refuses a boxed string", value: () => Object("a"), found: /a String/ },
  { title: "SEAL-17 refuses a boxed bigint", value: () => Object(1n), found: /a BigInt/ },
  { title: "SEAL-17 refuses a global namespace", value: () => Math, found: /symbol key/ },
  {
    title: "SEAL-17 refuses the arguments object",
    value: () =>
      (function (..._rest: number[]) {
        return arguments;
      })(1),
    found: /symbol key/,
  },
  { title: "SEAL-17 refuses a proxy", value: () => new Proxy({ a: 1 }, {}), found: /a proxy/ },
  {
    title: "SEAL-17 refuses a proxy that throws",
    value: () => new Proxy({}, { ownKeys: trap, getPrototypeOf: trap }),
    found: /a proxy/,
  },
  {
    title: "SEAL-17 refuses what only looks like a Map",
    value: () => Object.create(Map.prototype),
    found: /reading it threw/,
  },
];

function detached(): ArrayBuffer {
  const buffer = new ArrayBuffer(4);
  structuredClone(buffer, { transfer: [buffer] });
  return buffer;
}

describe("what can't be sealed is refused, with its place and what to do", () => {
  it.each(CASES.filter((entry) => entry.title !== "SEAL-11 refuses a detached view"))(
    "$title",
    ({ value, found }) => {
      const error = refusal(() => encode({ order: { items: [0, value()] } }));
      expect(error.code).toBe("state-not-sealable");
      expect(error.found).toMatch(found);
      expect(error.path).toMatch(/^order\.items\[1\]/);
      expect(error.advice).toMatch(/^[A-Z]/);
      expect(error.message).toContain(error.path);
      expect(ran).toBe(0);
    },
  );

  it("SEAL-11 refuses a view on a detached buffer", () => {
    const view = new Uint8Array(4);
    structuredClone(view.buffer, { transfer: [view.buffer] });
    expect(refusal(() => encode(view)).found).toMatch(/detached/);
  });

  it("SEAL-17 names the place of a symbol key, a hidden key, a map's key and a set's member", () => {
    expect(refusal(() => encode({ a: withProperty({}, "b", hidden) })).path).toBe("a.b");
    expect(refusal(() => encode({ a: [new Map([[() => 1, 1]])] })).path).toBe("a[0].keys(0)");
    expect(
      refusal(() =>
        encode({
          a: new Map<unknown, unknown>([
            ["x", 1],
            ["k", () => 1],
          ]),
        }),
      ).path,
    ).toBe("a.values(1)");
    expect(refusal(() => encode(new Set([1, new Set([() => 1])]))).path).toBe(
      "values(1).values(0)",
    );
    expect(refusal(() => encode({ "a b": { "": () => 1 } })).path).toBe('["a b"][""]');
    expect(refusal(() => encode({ a: [1, { b: 1 }, { [Symbol("x")]: 1 }] })).path).toBe("a[2]");
    expect(refusal(() => encode(() => 1)).path).toBe("");
    expect(refusal(() => encode(() => 1)).message).toMatch(
      /^the value itself can't be sealed: a function/,
    );
  });

  it("SEAL-17 gives an own refusal to each proxy trap that could be met", () => {
    const traps: (keyof ProxyHandler<object>)[] = [
      "get",
      "has",
      "ownKeys",
      "getOwnPropertyDescriptor",
      "getPrototypeOf",
    ];
    for (const name of traps) {
      expect(refusal(() => encode([new Proxy({ a: 1 }, { [name]: trap })])).path).toBe("[0]");
    }
    expect(ran).toBe(0);
  });

  it("SEAL-22 R044 R049 R050 runs nothing of the data", () => {
    const value = {
      toJSON: { trap: 1 },
      [thenKey]: null,
      valueOf: 1,
      list: Object.assign([1, 2], {}),
      map: new Map([[1, 2]]),
    };
    const text = encode(value);
    const overridden = new Map([[1, 2]]);
    Object.setPrototypeOf(overridden, Map.prototype);
    expect(text).toBe(
      '{"toJSON":{"trap":1},"then":null,"valueOf":1,"list":[1,2],"map":{"$map":[[1,2]]}}',
    );
    expect(refusal(() => encode({ a: { toJSON: trap } })).path).toBe("a.toJSON");
    expect(refusal(() => encode({ [thenKey]: trap })).path).toBe("then");
    expect(
      refusal(() => encode(Object.assign(new Map(), { [Symbol.iterator]: trap }))).found,
    ).toMatch(/extra/);
    expect(ran).toBe(0);
  });

  it("SEAL-22 SEAL-17 refuses data whose class name is a trap, without asking it", () => {
    class Sly {
      static get name(): string {
        return trap();
      }
    }
    expect(refusal(() => encode(new Sly())).found).toBe("an object with a prototype of its own");
    expect(ran).toBe(0);
  });
});
