import { describe, expect, it } from "vitest";

import { createSealer, encode, isSealError } from "../src/index.ts";
import { cpuMs } from "./cpu-time.ts";
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
    title: "SEAL-09 refuses a Map subclass",
    value: () => new (class Index extends Map {})(),
    found: /a Index \(a Map\)/,
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

describe("cycles and bounds", () => {
  it("SEAL-18 names both ends of a cycle", () => {
    const list: unknown[] = [];
    list.push({ back: list });
    const error = refusal(() => encode({ a: { list } }));
    expect(error.path).toBe("a.list[0].back");
    expect(error.found).toBe("a cycle back to a.list");
    const self: { self?: unknown } = {};
    self.self = self;
    expect(refusal(() => encode(self)).found).toBe("a cycle back to the value itself");
    const map = new Map<unknown, unknown>();
    map.set("m", map);
    expect(refusal(() => encode(map)).path).toBe("values(0)");
    const set = new Set<unknown>();
    set.add(set);
    expect(refusal(() => encode([set])).found).toBe("a cycle back to [0]");
  });

  it("SEAL-18 finds a cycle in a wide object before its bounds", () => {
    const wide: Record<string, unknown> = { items: Array.from({ length: 20_000 }, () => 0) };
    wide["self"] = wide;
    expect(refusal(() => encode(wide)).found).toMatch(/^a cycle/);
  });

  it("SEAL-19 meets a bomb of shared references with its budget", () => {
    let bomb: unknown = [1];
    for (let i = 0; i < 40; i++) bomb = [bomb, bomb];
    let found: string | undefined;
    const spent = cpuMs(() => {
      found = refusal(() => encode(bomb)).found;
    });
    expect(found).toMatch(/more than 1000000 values/);
    expect(spent).toBeLessThan(2000);
  }, 30_000);

  function nest(depth: number, wrap: (inner: unknown) => unknown): unknown {
    let value: unknown = [];
    for (let i = 1; i < depth; i++) value = wrap(value);
    return value;
  }

  it("SEAL-20 takes 256 brackets and refuses 257, with the path", () => {
    expect(encode(nest(256, (inner) => [inner]))).toHaveLength(512);
    const error = refusal(() => encode(nest(257, (inner) => [inner])));
    expect(error.found).toBe("it nests deeper than 256");
    expect(error.limit).toBe(256);
    expect(error.path).toMatch(/^\[0\]\[0\].* … \[0\]/);
  });

  it.each([
    ["objects", (inner: unknown) => ({ a: inner })],
    ["arrays", (inner: unknown) => [inner]],
    ["maps by value", (inner: unknown) => new Map([[1, inner]])],
    ["maps by key", (inner: unknown) => new Map([[inner, 1]])],
    ["sets", (inner: unknown) => new Set([inner])],
    ["lists of pairs", (inner: unknown) => ({ $a: inner })],
  ] as const)("SEAL-20 refuses 100,000 nested %s without running out of stack", (_, wrap) => {
    expect(refusal(() => encode(nest(100_000, wrap))).found).toMatch(/deeper/);
  });

  it("SEAL-20 counts the brackets that tags add, so that all that is written is read", () => {
    for (const limit of [1, 2, 3, 4, 5, 6, 7]) {
      const sealer = createSealer({ limits: { depth: limit } });
      for (const value of [
        -0,
        "\0",
        [1],
        [-0],
        new Map(),
        new Map([[1, 2]]),
        new Map([[-0, {}]]),
        new Set([1]),
        new Set([[]]),
        { $a: 1 },
        { $a: [] },
        { "\0": 1 },
        { a: "\0" },
        new Uint8Array(1),
      ]) {
        const written = encode(value);
        expect([limit, written, accepted(() => sealer.encode(value))]).toEqual([
          limit,
          written,
          accepted(() => sealer.decode(written)),
        ]);
      }
    }
  });

  it("SEAL-21 counts the values of a text as the reader counts them", () => {
    const values = [
      1,
      [1, 2],
      { a: 1 },
      -0,
      "\0",
      new Map([[1, 2]]),
      new Set([1, -0]),
      { $a: 1, b: 2 },
      { "\0": 1 },
      new Date(0),
      new Uint8Array(2),
      5n,
      undefined,
    ];
    for (const value of values) {
      for (let nodes = 1; nodes < 12; nodes++) {
        const sealer = createSealer({ limits: { nodes } });
        const written = encode(value);
        const reads = accepted(() => sealer.decode(written));
        expect([nodes, written, accepted(() => sealer.encode(value))]).toEqual([
          nodes,
          written,
          reads,
        ]);
      }
    }
  });

  function accepted(run: () => unknown): boolean {
    try {
      run();
      return true;
    } catch (error) {
      if (isSealError(error)) return false;
      throw error;
    }
  }

  it("SEAL-21 refuses past the bytes of the text, exactly", () => {
    const sealer = createSealer({ limits: { bytes: 20 } });
    expect(sealer.encode("x".repeat(18))).toHaveLength(20);
    expect(refusal(() => sealer.encode("x".repeat(19))).found).toBe("its text passes 20 bytes");
    expect(sealer.encode("é".repeat(9))).toHaveLength(11);
    expect(refusal(() => sealer.encode("é".repeat(10))).figure).toBe(22);
    expect(refusal(() => encode("x".repeat(17 * 1024 * 1024))).limit).toBe(16 * 1024 * 1024);
    expect(refusal(() => encode(["x".repeat(9e6), "x".repeat(9e6)])).found).toMatch(
      /16777216 bytes/,
    );
    expect(refusal(() => sealer.encode(new Uint8Array(21))).found).toMatch(/20 bytes/);
    expect(refusal(() => sealer.encode(10n ** 700n)).found).toMatch(/20 bytes/);
  });

  it("SEAL-21 refuses an array longer than the budget by its length", () => {
    const sparse: unknown[] = [];
    sparse[4_294_967_294] = 1;
    expect(refusal(() => encode(sparse)).found).toMatch(/more than 1000000 values/);
    expect(cpuMs(() => encode(sparse))).toBeLessThan(50);
  });

  it("SEAL-06 refuses a long sparse array in time bounded by its keys", () => {
    const sparse: unknown[] = [];
    sparse[999_999] = 1;
    expect(refusal(() => encode(sparse)).found).toMatch(/sparse/);
    expect(cpuMs(() => encode(sparse))).toBeLessThan(50);
  });

  it("SEAL-21 tells of a large text before it is returned", () => {
    const told: unknown[] = [];
    const sealer = createSealer({
      limits: { warnBytes: 100 },
      onLarge: (figure) => told.push(figure),
    });
    sealer.encode("x".repeat(97));
    expect(told).toEqual([]);
    sealer.encode("x".repeat(98));
    expect(told).toEqual([{ bytes: 100, warnBytes: 100 }]);
    sealer.encode("é".repeat(49));
    expect(told).toHaveLength(2);
    createSealer({ limits: { warnBytes: 1 } }).encode("quiet without a listener");
  });

  it("SEAL-04 refuses a bigint past 1 MiB of hex digits, and takes the last one within", () => {
    const largest = (1n << 4_194_304n) - 1n;
    expect(encode(largest)).toBe(`{"$bigint16":"${"f".repeat(1024 * 1024)}"}`);
    expect(refusal(() => encode({ a: largest + 1n })).path).toBe("a");
    expect(refusal(() => encode(-(largest + 1n))).found).toMatch(/1048576 hexadecimal/);
  });

  it("SEAL-20 SEAL-21 takes no limit out of range", () => {
    for (const limits of [
      { depth: 0 },
      { depth: 1001 },
      { nodes: 1.5 },
      { bytes: -1 },
      { warnBytes: NaN },
    ]) {
      expect(refusal(() => createSealer({ limits })).code).toBe("option-invalid");
    }
    const deep = createSealer({ limits: { depth: 1000 } });
    expect(deep.decode(deep.encode(nest(1000, (inner) => [inner])))).toHaveLength(1);
  });
});
