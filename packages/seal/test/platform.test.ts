import { afterEach, describe, expect, it, vi } from "vitest";

import {
  createKeyring,
  createSealer,
  decode,
  defineCodec,
  digest,
  encode,
  isSealError,
  nobleMac,
  open,
  seal,
} from "../src/index.ts";
import { nodeMac } from "../src/node.ts";
import { byteLength, slotGetter } from "../src/platform.ts";
import { refusal } from "./refusal.ts";

type Seal = typeof import("../src/index.ts");

/** A property set for one test and put back after it, by definition so that nothing is inherited. */
const undo: (() => void)[] = [];
function patch(target: object, name: PropertyKey, value: unknown): void {
  const before = Object.getOwnPropertyDescriptor(target, name);
  Object.defineProperty(target, name, {
    value,
    configurable: true,
    writable: true,
    enumerable: true,
  });
  undo.push(() => {
    if (before === undefined) Reflect.deleteProperty(target, name);
    else Object.defineProperty(target, name, before);
  });
}
function restore(): void {
  while (undo.length > 0) undo.pop()!();
}
afterEach(() => {
  restore();
  vi.unstubAllGlobals();
});

const value = {
  b: [1.5, -0, "x\0", undefined, 7n],
  a: new Map<unknown, unknown>([["k", new Set([2, 1])]]),
  d: new Date(5),
  t: Uint16Array.of(1, 2),
  $x: { 2: 1, 10: 3 },
};
const text = encode(value);
const hash = digest(value);
const options = {
  // Node's MAC stands on nothing that a program can patch.
  keyring: createKeyring({ current: { id: "k1", key: new Uint8Array(32).fill(1) }, mac: nodeMac }),
  purpose: "decision",
};
const sealed = seal(value, options);

/** Runs under a patch, restored before anything is asserted: the test's own tools stand on these too. */
function under(target: object, name: PropertyKey, replacement: unknown): readonly unknown[] {
  patch(target, name, replacement);
  const results: unknown[] = [];
  try {
    results.push(
      encode(value),
      digest(value),
      encode(decode(text)),
      encode(open(sealed, options).value),
      seal(value, options),
    );
  } finally {
    restore();
  }
  return results;
}

/** The code of what is thrown, found without a built-in that a test may have replaced. */
function codeOf(run: () => unknown): string {
  try {
    run();
    return "taken";
  } catch (error) {
    return isSealError(error) ? error.code : "untyped";
  }
}

const boom = (): never => {
  throw new Error("patched");
};
const PATCHES: readonly (readonly [string, object, PropertyKey, unknown])[] = [
  ["JSON.stringify", JSON, "stringify", () => '{"approved":true}'],
  ["JSON.parse", JSON, "parse", () => ({ approved: true })],
  [
    "Array.prototype.sort",
    Array.prototype,
    "sort",
    function (this: unknown[]) {
      return this;
    },
  ],
  [
    "Array.prototype.toSorted",
    Array.prototype,
    "toSorted",
    function (this: unknown[]) {
      return this;
    },
  ],
  ["Array.prototype[Symbol.iterator]", Array.prototype, Symbol.iterator, boom],
  ["Map.prototype.forEach", Map.prototype, "forEach", boom],
  ["Map.prototype[Symbol.iterator]", Map.prototype, Symbol.iterator, boom],
  [
    "Map.prototype.set",
    Map.prototype,
    "set",
    function (this: unknown) {
      return this;
    },
  ],
  ["Map.prototype.get", Map.prototype, "get", () => undefined],
  ["Map.prototype.has", Map.prototype, "has", () => true],
  ["Set.prototype.has", Set.prototype, "has", () => false],
  ["RegExp.prototype.exec", RegExp.prototype, "exec", () => ["x"]],
  [
    "Set.prototype.add",
    Set.prototype,
    "add",
    function (this: unknown) {
      return this;
    },
  ],
  ["Set.prototype.forEach", Set.prototype, "forEach", boom],
  ["Date.prototype.toISOString", Date.prototype, "toISOString", () => "1970-01-01T00:00:00.000Z"],
  ["Date.prototype.getTime", Date.prototype, "getTime", () => 0],
  ["Date.prototype.toJSON", Date.prototype, "toJSON", () => "x"],
  ["BigInt.prototype.toJSON", BigInt.prototype, "toJSON", () => "x"],
  ["BigInt.prototype.toString", BigInt.prototype, "toString", () => "0"],
  ["String.prototype.toJSON", String.prototype, "toJSON", () => "x"],
  ["String.prototype.charCodeAt", String.prototype, "charCodeAt", () => 34],
  ["String.prototype.slice", String.prototype, "slice", () => ""],
  ["String.prototype.isWellFormed", String.prototype, "isWellFormed", () => true],
  ["String.prototype.includes", String.prototype, "includes", () => false],
  ["RegExp.prototype.test", RegExp.prototype, "test", () => true],
  ["Object.keys", Object, "keys", () => []],
  ["Object.getOwnPropertyNames", Object, "getOwnPropertyNames", () => []],
  ["Object.getOwnPropertyDescriptor", Object, "getOwnPropertyDescriptor", () => undefined],
  ["Array.isArray", Array, "isArray", () => false],
  ["Function.prototype.call", Function.prototype, "call", boom],
];

describe("a runtime changed after import", () => {
  it.each(PATCHES)(
    "SEAL-26 R149 gives the same texts with %s patched",
    (_, target, name, replacement) => {
      expect(under(target, name, replacement)).toEqual([text, hash, text, text, sealed]);
    },
  );

  it("SEAL-26 R149 hashes nothing while a built-in of the hash is another, whichever way it came there", () => {
    const current = { id: "k1", key: new Uint8Array(32) };
    const slow = { keyring: createKeyring({ current, mac: nobleMac }), purpose: "decision" };
    const signed = seal(value, slow);
    const own = Uint8Array.prototype;
    const typed = Object.getPrototypeOf(own) as object;
    const same = Reflect.get(own, "set");
    /** It gives what is right, for now. */
    const another = (name: string): PropertyDescriptor => {
      const read = slotGetter(typed, name)!;
      return {
        get(this: object) {
          return read(this);
        },
      };
    };
    const ways: readonly (readonly [object, PropertyKey, PropertyDescriptor])[] = [
      [typed, "set", { value: () => undefined }],
      // In front of the one that was looked at.
      [own, "set", { value: () => undefined }],
      [own, "length", { get: () => 1 }],
      [own, "byteLength", { get: () => 1 }],
      [own, "byteOffset", { get: () => 0 }],
      [own, "buffer", { get: () => new ArrayBuffer(16) }],
      [typed, "length", { get: () => 7 }],
      [typed, "buffer", { get: boom }],
      ...["length", "buffer", "byteLength", "byteOffset"].map(
        (name) => [typed, name, another(name)] as const,
      ),
      [own, "fill", { get: boom }],
      [DataView.prototype, "getUint32", { get: () => () => 1 }],
      [DataView.prototype, "setUint32", { value: () => undefined }],
      [typed, "slice", { value: () => new Uint8Array(32) }],
      [typed, "subarray", { value: () => new Uint8Array(32) }],
      [Math, "min", { value: () => 0 }],
      [globalThis, "DataView", { value: class Replaced {} }],
      [globalThis, "Uint8Array", { value: class Replaced {} }],
    ];
    for (const [target, name, descriptor] of ways) {
      patch(target, name, undefined);
      Object.defineProperty(target, name, { ...descriptor, configurable: true });
      const codes = [() => seal(value, slow), () => open(signed, slow)].map((run) => codeOf(run));
      restore();
      expect([name, ...codes]).toEqual([name, "platform-altered", "platform-altered"]);
    }
    patch(own, "set", same);
    const kept = [seal(value, slow), digest(value)];
    restore();
    expect(kept).toEqual([signed, hash]);
  });

  it("SEAL-26 R149 refuses while plain values inherit a toJSON or an element", () => {
    for (const [target, name] of [
      [Object.prototype, "toJSON"],
      [Array.prototype, "toJSON"],
      [Array.prototype, 0],
      [Object.prototype, 0],
      [Array.prototype, 1],
      [Object.prototype, 1],
      [Array.prototype, 70_000],
      [Object.prototype, 4_294_967_294],
    ] as const) {
      patch(target, name, () => "denied");
      const codes = [
        () => encode(value),
        () => digest(value),
        () => decode(text),
        () => open(sealed, options),
      ].map((run) => refusal(run).code);
      restore();
      expect(codes).toEqual(Array.from({ length: 4 }, () => "platform-altered"));
    }
    expect(encode(value)).toBe(text);
  });

  it("SEAL-26 R149 keeps values apart under a polluted Object.prototype, or refuses", () => {
    for (const name of ["polluted", "$num", "a", "constructor", "value", "enumerable"]) {
      patch(Object.prototype, name, "polluted");
      const results = [encode(value), encode(decode(text))];
      restore();
      expect(results).toEqual([text, text]);
    }
    for (const name of ["get", "set"]) {
      patch(Object.prototype, name, boom);
      const code = refusal(() => encode(value)).code;
      restore();
      expect(code).toBe("state-not-sealable");
    }
  });

  it("SEAL-26 reads own members alone where a codec pollutes Object.prototype while it decodes", () => {
    const { decode: read } = createSealer({
      codecs: [
        defineCodec({
          type: "polluter",
          is: (found): found is () => void => typeof found === "function",
          encode: () => 1,
          decode: () => {
            patch(Object.prototype, "polluted", { a: 1 });
            return boom;
          },
        }),
      ],
    });
    const back = read('{"p":{"$codec":["polluter",1]},"q":{"b":{}}}') as { q: object };
    restore();
    expect(Object.keys(back)).toEqual(["p", "q"]);
    expect(back.q).toEqual({ b: {} });
  });

  it("SEAL-26 R149 refuses where a codec gives lists an element while it encodes", () => {
    const sealer = createSealer({
      codecs: [
        defineCodec({
          type: "polluter",
          is: (found): found is () => void => typeof found === "function",
          encode: () => {
            patch(Array.prototype, 2, "denied");
            return 1;
          },
          decode: () => boom,
        }),
      ],
    });
    let code: string | undefined;
    try {
      code = refusal(() => sealer.encode([boom, new Set([1, 2, 3, 4])])).code;
    } finally {
      restore();
    }
    expect(code).toBe("platform-altered");
    expect(encode(new Set([1, 2, 3, 4]))).toBe('{"$set":[1,2,3,4]}');
  });

  it("SEAL-26 leaves Object.prototype as it was", () => {
    const before = JSON.stringify(Object.getOwnPropertyDescriptors(Object.prototype));
    decode('{"$object":[["__proto__",{"a":1}],["constructor",{"prototype":{"a":1}}]]}');
    expect(refusal(() => decode('{"__proto__":{"a":1}}')).code).toBe("seal-malformed");
    decode('{"constructor":{"prototype":{"a":1}}}');
    expect(JSON.stringify(Object.getOwnPropertyDescriptors(Object.prototype))).toBe(before);
  });
});

describe("a runtime changed before import", () => {
  async function fresh(): Promise<Seal> {
    vi.resetModules();
    return import("../src/index.ts");
  }

  const early: readonly (readonly [string, object, PropertyKey, unknown])[] = [
    ["JSON.stringify that drops", JSON, "stringify", () => "{}"],
    [
      "Array.prototype.sort that doesn't",
      Array.prototype,
      "sort",
      function (this: unknown[]) {
        return this;
      },
    ],
    [
      "Date.prototype.toISOString of another time",
      Date.prototype,
      "toISOString",
      () => "1970-01-01T00:00:00.000Z",
    ],
    ["BigInt.prototype.toString of another number", BigInt.prototype, "toString", () => "0"],
    ["Map.prototype.forEach that throws", Map.prototype, "forEach", boom],
  ];
  it.each(early)("SEAL-26 R149 refuses with a %s", async (_, target, name, replacement) => {
    // The module is loaded while the patch stands, and asked when it is gone.
    vi.resetModules();
    patch(target, name, replacement);
    const loading = import("../src/platform.ts").then(
      () => undefined,
      () => undefined,
    );
    await loading;
    await import("../src/canonical/scalar-rows.ts").catch(() => undefined);
    await import("../src/canonical/collection-rows.ts").catch(() => undefined);
    restore();
    const altered = await import("../src/index.ts");
    const error = refusal(() => altered.encode({ denied: true }));
    expect(error.code).toBe("platform-altered");
    expect(refusal(() => altered.decode("1")).code).toBe("platform-altered");
  });

  it("SEAL-26 R149 refuses to make a keyring over a hash that gives another answer", async () => {
    vi.stubGlobal("process", undefined);
    const altered = await fresh();
    const key = new Uint8Array(32);
    patch(DataView.prototype, "getUint32", () => 7);
    let code: string | undefined;
    try {
      code = refusal(() => altered.keyringOf(key)).code;
    } finally {
      restore();
    }
    expect(code).toBe("platform-altered");
  });

  it("SEAL-26 R149 refuses to make a keyring over a hash that gave another answer from the start", async () => {
    vi.stubGlobal("process", undefined);
    patch(DataView.prototype, "getUint32", () => 7);
    let error: { code?: string; message?: string };
    try {
      const altered = await fresh();
      error = refusal(() => altered.keyringOf(new Uint8Array(32)));
    } finally {
      restore();
    }
    expect([error.code, error.message]).toEqual([
      "platform-altered",
      "HMAC-SHA256 gives another answer",
    ]);
  });

  it("SEAL-11 works on a runtime without Buffer, Float16Array and the newer buffer members", async () => {
    vi.stubGlobal("Float16Array", undefined);
    vi.stubGlobal("Buffer", undefined);
    const resizable = Object.getOwnPropertyDescriptor(ArrayBuffer.prototype, "resizable")!;
    const detached = Object.getOwnPropertyDescriptor(ArrayBuffer.prototype, "detached")!;
    Reflect.deleteProperty(ArrayBuffer.prototype, "resizable");
    Reflect.deleteProperty(ArrayBuffer.prototype, "detached");
    const older = await fresh();
    const written = older.encode([new Uint8Array(2), new ArrayBuffer(1)]);
    const unknown = refusal(() => older.decode('{"$float16":"AD4"}'));
    Object.defineProperty(ArrayBuffer.prototype, "resizable", resizable);
    Object.defineProperty(ArrayBuffer.prototype, "detached", detached);
    vi.unstubAllGlobals();
    expect(written).toBe('[{"$bytes":"AAA"},{"$buffer":"AA"}]');
    expect(unknown.found).toBe("an unknown tag");
  });

  it("SEAL-26 checks the canonical form by a known answer too", async () => {
    const { checkPlatform } = await import("../src/guard.ts");
    const codec = { write: encode, canonical: (v: unknown) => v as string, read: decode };
    expect(refusal(() => checkPlatform(codec)).code).toBe("platform-altered");
  });

  it("SEAL-22 reads each property once where a proxy can't be told", async () => {
    vi.stubGlobal("process", undefined);
    const blind = await fresh();
    const reads: PropertyKey[] = [];
    const proxy = new Proxy({ a: 1, b: [2] } as Record<string, unknown>, {
      getOwnPropertyDescriptor(target, name) {
        reads.push(name);
        return Reflect.getOwnPropertyDescriptor(target, name);
      },
      get: boom,
    });
    const written = blind.encode({ p: proxy, q: [new Proxy([5], {})] });
    const thrown = refusal(() => blind.encode({ p: new Proxy({}, { ownKeys: boom }) }));
    const vanishing = refusal(() =>
      blind.encode({ p: new Proxy({ a: 1 }, { getOwnPropertyDescriptor: () => undefined }) }),
    );
    const stray = refusal(() => blind.encode(Object.assign(new Uint8Array(5000), { x: 1 })));
    const long = blind.encode(new Uint8Array(5000));
    vi.unstubAllGlobals();
    expect(written).toBe('{"p":{"a":1,"b":[2]},"q":[[5]]}');
    expect(reads).toEqual(["a", "b"]);
    expect([thrown.code, (thrown.cause as Error).message]).toEqual([
      "state-not-sealable",
      "patched",
    ]);
    expect(vanishing.found).toBe("a property that vanished");
    expect(stray.found).toMatch(/extra properties/);
    expect(long).toBe(encode(new Uint8Array(5000)));
  });
});

describe("the count of bytes", () => {
  it("SEAL-21 SEAL-29 is that of UTF-8, wherever a pair falls", () => {
    const texts = [
      "",
      "a",
      "é",
      "a".repeat(256),
      "a".repeat(257),
      "é".repeat(256),
      "é".repeat(300),
    ];
    for (const before of [16_382, 16_383, 16_384, 16_385, 32_767]) {
      texts.push(`${"x".repeat(before)}😀${"y".repeat(20_000)}`, `${"x".repeat(before)}😀`);
    }
    texts.push("😀".repeat(20_000), "é✓😀a".repeat(17_000));
    for (const text of texts) expect(byteLength(text)).toBe(Buffer.byteLength(text));
  });
});
