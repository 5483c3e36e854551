import { runInNewContext } from "node:vm";

import { isSealError } from "@holdpoint/seal";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import * as mini from "zod/mini";

import { defineTool, inputOf, type Schema } from "../src/index.ts";
import { compileWalk } from "../src/input-walk.ts";

const tool = (input: Schema<unknown, unknown>, key?: (input: unknown) => unknown) =>
  defineTool({ name: "t", description: "", input, ...(key && { key }), execute: () => 1 });
const keyOf = (schema: Schema<unknown, unknown>, value: unknown) =>
  inputOf(tool(schema), value).key();

const notSealable = expect.toSatisfy((e) => isSealError(e, "state-not-sealable"));

class Point {
  x = 1;
  get y() {
    return 2;
  }
}

interface Row {
  readonly kind: string;
  readonly schema: Schema<unknown, unknown>;
  /** Inputs that are one input to the schema. */
  readonly same: readonly unknown[];
  /** Inputs that are others, each than the first and than each other. */
  readonly others: readonly unknown[];
}

const object = z.object({ a: z.number(), b: z.string().optional() });
const draw = () => Math.floor(performance.now() * 1e6).toString();
const made = z.transform((from: z.output<typeof object>) => `${from.a} ${draw()}`);

const table: readonly Row[] = [
  { kind: "string", schema: z.string(), same: ["a"], others: ["b", "", 1] },
  { kind: "trimmed string", schema: z.string().trim(), same: ["x"], others: [" x"] },
  { kind: "number", schema: z.number(), same: [0], others: [-0, 1, "0"] },
  { kind: "bigint", schema: z.bigint(), same: [1n], others: [1, 2n] },
  { kind: "date", schema: z.date(), same: [new Date(5), new Date(5)], others: [new Date(6), 5] },
  { kind: "literal", schema: z.literal(["a", "b"]), same: ["a"], others: ["b"] },
  { kind: "enum", schema: z.enum(["a", "b"]), same: ["a"], others: ["b"] },
  {
    kind: "template literal",
    schema: z.templateLiteral(["a", z.number()]),
    same: ["a1"],
    others: ["a2"],
  },
  {
    kind: "optional",
    schema: z.object({ v: z.string().optional() }),
    same: [{}, { v: undefined }],
    others: [{ v: "" }],
  },
  { kind: "nullable", schema: z.number().nullable(), same: [null], others: [undefined, 0] },
  {
    kind: "default, drawn at random",
    schema: z.object({ id: z.string().default(draw) }),
    same: [{}, { id: undefined }],
    others: [{ id: "x" }],
  },
  {
    kind: "default, equal to an explicit value",
    schema: z.object({ id: z.string().default("x") }),
    same: [{}],
    others: [{ id: "x" }],
  },
  {
    kind: "default in a nested array element",
    schema: z.object({ lines: z.array(z.object({ id: z.string().default(draw), n: z.number() })) }),
    same: [{ lines: [{ n: 1 }] }, { lines: [{ n: 1, id: undefined }] }],
    others: [{ lines: [{ n: 1, id: "x" }] }, { lines: [{ n: 1 }, { n: 1 }] }],
  },
  {
    kind: "prefault",
    schema: z.object({ v: z.string().prefault("x") }),
    same: [{}],
    others: [{ v: "x" }],
  },
  { kind: "nonoptional", schema: z.number().optional().nonoptional(), same: [1], others: [2] },
  {
    kind: "readonly",
    schema: object.readonly(),
    same: [{ a: 1 }, { a: 1, c: 1 }],
    others: [{ a: 2 }],
  },
  { kind: "catch", schema: z.number().catch(7), same: ["x"], others: ["y", 7] },
  {
    kind: "success",
    schema: z.success(object),
    same: [{ a: 1 }, { a: 1, c: 1 }],
    others: [{ a: 2 }],
  },
  {
    kind: "lazy",
    schema: z.lazy(() => object),
    same: [{ a: 1 }, { a: 1, c: 1 }],
    others: [{ a: 2 }],
  },
  {
    kind: "brand",
    schema: object.brand("b"),
    same: [{ a: 1 }, { a: 1, c: 1 }],
    others: [{ a: 2 }],
  },
  {
    kind: "transform",
    schema: object.transform(draw),
    same: [{ a: 1 }, { a: 1, c: 1 }],
    others: [{ a: 2 }],
  },
  { kind: "pipe", schema: object.pipe(made), same: [{ a: 1 }, { a: 1, c: 1 }], others: [{ a: 2 }] },
  {
    kind: "codec",
    schema: z.codec(z.string(), z.date(), {
      decode: (s) => new Date(s),
      encode: (d) => d.toJSON(),
    }),
    same: ["2026-01-01T00:00:00Z"],
    others: ["2026-01-01T00:00:00.000Z"],
  },
  { kind: "stringbool", schema: z.stringbool(), same: ["yes"], others: ["true", true] },
  {
    kind: "preprocess",
    schema: z.preprocess(draw, object),
    same: [{ a: 1 }, { a: 1, b: undefined }],
    others: [{ a: 1, c: 1 }],
  },
  {
    kind: "object",
    schema: object,
    same: [
      { a: 1, b: "" },
      { b: "", a: 1 },
      { b: "", a: 1, c: 5 },
    ],
    others: [{ a: 1 }, { a: 1, b: "x" }, { a: "1", b: "" }],
  },
  {
    kind: "object of a class instance",
    schema: z.object({ x: z.number(), y: z.number() }),
    same: [{ x: 1, y: 2 }, new Point()],
    others: [{ x: 1 }],
  },
  {
    kind: "loose object",
    schema: z.looseObject({ a: z.number() }),
    same: [{ a: 1, c: undefined }, { a: 1 }],
    others: [
      { a: 1, c: 1 },
      { a: 1, c: { d: 1 } },
    ],
  },
  {
    kind: "catchall",
    schema: z.object({ a: z.number() }).catchall(z.object({ b: z.number() })),
    same: [
      { a: 1, c: { b: 1 } },
      { a: 1, c: { b: 1, d: 1 } },
    ],
    others: [{ a: 1, c: { b: 2 } }, { a: 1 }],
  },
  {
    kind: "catchall of one option for what another declares",
    schema: z.union([z.object({ a: z.number() }).catchall(object), z.object({ b: z.number() })]),
    same: [{ b: { a: 1 } }, { b: { a: 1, c: 1 } }],
    others: [{ b: { a: 2 } }, { b: 1 }],
  },
  {
    kind: "strict object",
    schema: z.strictObject({ a: z.number() }),
    same: [{ a: 1 }, { a: 1, c: undefined }],
    others: [{ a: 1, c: 1 }],
  },
  {
    kind: "array",
    schema: z.array(z.number().optional()),
    same: [[1, undefined]],
    others: [[1], [undefined, 1], [1, null]],
  },
  {
    kind: "tuple",
    schema: z.tuple([z.number(), z.number().optional(), z.number().optional()]),
    same: [[1], [1, undefined], [1, undefined, undefined]],
    others: [
      [1, 2],
      [1, undefined, 2],
    ],
  },
  {
    kind: "tuple with a rest",
    schema: z.tuple([z.number()], object),
    same: [
      [1, { a: 1 }],
      [1, { a: 1, c: 1 }],
    ],
    others: [[1], [1, undefined], [1, { a: 2 }]],
  },
  {
    kind: "record",
    schema: z.record(z.string(), object.optional()),
    same: [{ k: { a: 1 } }, { k: { a: 1, c: 1 }, l: undefined }],
    others: [{ l: { a: 1 } }, {}],
  },
  {
    kind: "record of an enum",
    schema: z.partialRecord(z.enum(["k", "l"]), z.number()),
    same: [{ k: 1 }],
    others: [{ l: 1 }, { K: 1 }],
  },
  {
    kind: "map",
    schema: z.map(z.string(), object),
    same: [new Map([["k", { a: 1 }]]), new Map([["k", { a: 1, c: 1 }]])],
    others: [new Map([["l", { a: 1 }]]), new Map(), { k: { a: 1 } }],
  },
  {
    kind: "set",
    schema: z.set(object),
    same: [new Set([{ a: 1 }]), new Set([{ a: 1, c: 1 }])],
    others: [new Set([{ a: 2 }]), new Set(), [{ a: 1 }]],
  },
  {
    kind: "union",
    schema: z.union([z.object({ a: z.number() }), z.object({ b: z.number() }), z.string()]),
    same: [{ a: 1 }, { a: 1, c: 1 }],
    others: [{ b: 1 }, { a: 1, b: 1 }, "a"],
  },
  {
    kind: "discriminated union",
    schema: z.discriminatedUnion("k", [
      z.object({ k: z.literal("x"), a: z.number() }),
      z.object({ k: z.literal("y"), b: z.array(z.number()) }),
    ]),
    same: [
      { k: "x", a: 1 },
      { a: 1, k: "x", z: 1 },
    ],
    others: [
      { k: "y", b: [1] },
      { k: "x", a: 2 },
    ],
  },
  {
    kind: "exclusive union",
    schema: z.xor([z.object({ a: z.number() }), z.number()]),
    same: [{ a: 1 }, { a: 1, c: 1 }],
    others: [1],
  },
  {
    kind: "intersection",
    schema: z.intersection(z.object({ a: z.number() }), z.object({ b: z.number() })),
    same: [
      { a: 1, b: 1 },
      { a: 1, b: 1, c: 1 },
    ],
    others: [{ a: 1, b: 2 }],
  },
  {
    kind: "object or record",
    schema: z.union([object, z.record(z.string(), z.number())]),
    same: [{ a: 1 }],
    others: [{ a: 1, c: 1 }],
  },
  {
    kind: "array or tuple or set",
    schema: z.union([z.array(object), z.tuple([z.string()]), z.set(object)]),
    same: [[{ a: 1 }], [{ a: 1, c: 1 }]],
    others: [["x"], new Set([{ a: 1 }])],
  },
  {
    kind: "union with an open option",
    schema: z.union([object, z.any()]),
    same: [{ a: 1 }],
    others: [{ a: 1, c: 1 }],
  },
  { kind: "coerced number", schema: z.coerce.number(), same: ["5", 5, " 5"], others: [6, null] },
  { kind: "coerced string", schema: z.coerce.string(), same: ["5", 5, [5]], others: ["6"] },
  { kind: "coerced boolean", schema: z.coerce.boolean(), same: ["x", true, 1], others: ["", null] },
  { kind: "coerced bigint", schema: z.coerce.bigint(), same: ["5", 5, 5n], others: ["x", 6n] },
  {
    kind: "coerced date",
    schema: z.coerce.date(),
    same: ["1970-01-01T00:00:00.005Z", 5, new Date(5)],
    others: ["never", 6],
  },
  {
    kind: "coerced number beside a string",
    schema: z.union([z.string(), z.coerce.number()]),
    same: ["5"],
    others: [5],
  },
  {
    kind: "coerced and optional",
    schema: z.object({ n: z.coerce.number().optional() }),
    same: [{}, { n: undefined }],
    others: [{ n: 0 }],
  },
  {
    kind: "any",
    schema: z.any(),
    same: [{ a: { b: 1 } }, { a: { b: 1, c: undefined }, d: undefined }],
    others: [{ a: { b: 1, c: null } }, { a: { b: [undefined] } }, { a: { b: [] } }],
  },
  { kind: "unknown", schema: z.unknown(), same: [[1]], others: [[1, 2]] },
  { kind: "custom", schema: z.custom(() => true), same: [{ a: 1 }], others: [{ a: 1, c: 1 }] },
  {
    kind: "instanceof",
    schema: z.instanceof(Uint8Array),
    same: [new Uint8Array([1]), new Uint8Array([1])],
    others: [new Uint8Array([2])],
  },
  { kind: "promise", schema: z.promise(object), same: [{ a: 1 }], others: [{ a: 1, c: 1 }] },
  {
    kind: "zod mini",
    schema: mini.object({ a: mini.number(), b: mini._default(mini.string(), draw) }),
    same: [{ a: 1 }, { a: 1, c: 1 }],
    others: [{ a: 1, b: "x" }],
  },
  {
    kind: "another Standard Schema",
    schema: { "~standard": { version: 1, vendor: "test", validate: (value) => ({ value }) } },
    same: [{ a: 1 }, { a: 1, c: undefined }],
    others: [{ a: 1, c: 1 }],
  },
];

describe("the key of an input, by kind of schema", () => {
  it.each(table)("FLOW-31 reads through $kind", ({ schema, same, others }) => {
    const keys = same.map((value) => keyOf(schema, value));
    expect(new Set(keys).size).toBe(1);
    expect(new Set([...keys, ...others.map((value) => keyOf(schema, value))]).size).toBe(
      others.length + 1,
    );
  });

  it("FLOW-31 is of the tool too, and of nothing else that a tool has", () => {
    const named = (name: string, description: string) =>
      inputOf(defineTool({ name, description, input: z.any(), execute: () => 1 }), 1).key();
    expect(named("a", "")).toBe(named("a", "other"));
    expect(named("a", "")).not.toBe(named("b", ""));
  });

  it("FLOW-31 reads recursive schemas, cyclic ones that sealing then refuses by path included", () => {
    interface Node {
      name: string;
      children: Node[];
    }
    const node: z.ZodType<Node> = z.lazy(() =>
      z.object({ name: z.string(), children: z.array(node) }),
    );
    const getter = z.object({
      name: z.string(),
      get children() {
        return z.array(getter);
      },
    });
    const fresh = (): z.ZodType<Node> =>
      z.object({ name: z.string(), children: z.array(z.lazy(() => fresh())) });
    for (const schema of [node, getter, fresh()]) {
      const shared = { name: "s", children: [], extra: 1 };
      const tree = { name: "a", children: [shared, shared] };
      const plain = { name: "s", children: [] };
      expect(keyOf(schema, tree)).toBe(keyOf(schema, { name: "a", children: [plain, plain] }));
      const cycle: Node = { name: "a", children: [] };
      cycle.children.push(cycle);
      expect(() => keyOf(schema, cycle)).toThrow(notSealable);
    }
    const self: z.ZodType = z.lazy(() => z.union([z.string(), self, object, object]));
    expect(keyOf(self, { a: 1, extra: 1 })).toBe(keyOf(self, { a: 1 }));
    expect(keyOf(z.json(), { a: [1, { b: null }] })).toBe(keyOf(z.json(), { a: [1, { b: null }] }));
  });

  it("FLOW-31 reads schemas that make new ones without an end as far down as the input goes", () => {
    const fresh = (): z.ZodType => z.object({ down: z.lazy(() => fresh()).optional() });
    let deep: object = {};
    let plain: object = {};
    for (let level = 0; level < 300; level++) {
      deep = { down: deep, extra: 1 };
      plain = { down: plain };
    }
    const read = compileWalk(fresh());
    expect(read(deep, "key")).toEqual(plain);
    expect(read(deep, "key")).toEqual(plain);
  });

  it("FLOW-31 ends in bounded time for shared references that would double at each level", () => {
    let bomb: unknown = 1;
    for (let level = 0; level < 60; level++) bomb = [bomb, bomb];
    const schema: z.ZodType = z.lazy(() => z.union([z.number(), z.array(schema)]));
    expect(() => inputOf(tool(schema), bomb)).not.toThrow();
    expect(() => inputOf(tool(z.any()), bomb)).not.toThrow();
  });

  it("FLOW-31 takes a tool's own key where the input can't be sealed", () => {
    const stream = { read: () => 1, path: "/a" };
    expect(() => keyOf(z.any(), stream)).toThrow(
      expect.toSatisfy((e) => isSealError(e, "state-not-sealable")),
    );
    const byPath = tool(z.any(), (input) => (input as typeof stream).path);
    const key = inputOf(byPath, stream).key();
    expect(inputOf(byPath, { ...stream }).key()).toBe(key);
    expect(inputOf(byPath, { ...stream, path: "/b" }).key()).not.toBe(key);
  });

  it("FLOW-31 runs no part of a schema but its shape: no default, transform, check or catch", () => {
    let ran = 0;
    const count = () => String(++ran);
    const schema = z.object({
      a: z.string().default(count),
      b: z.any().transform(count),
      c: z.string().refine(count).catch(count),
      d: z.preprocess(count, z.string()),
    });
    inputOf(tool(schema), { b: 1, c: 2, d: 3 }).key();
    expect(ran).toBe(0);
  });
});

describe("the bounds of a walk", () => {
  it("FLOW-31 reads what is past the bound of a schema's positions as passed", () => {
    const names = Array.from({ length: 5010 }, (_, at) => `f${at}`);
    const schema = z.object(
      Object.fromEntries(names.map((name) => [name, z.object({ a: z.number() }).optional()])),
    );
    const read = compileWalk(schema);
    const extra = { a: 1, extra: 1 };
    expect(read({ f0: extra, f5009: extra }, "key")).toEqual({ f0: { a: 1 }, f5009: extra });
  });

  it("FLOW-31 knows plain objects of another realm", () => {
    const foreign: unknown = runInNewContext("({ a: { b: 1 }, u: undefined })");
    const own = { a: { b: 1 } };
    expect(keyOf(z.any(), foreign)).toBe(keyOf(z.any(), own));
    expect(keyOf(z.record(z.string(), z.any()), foreign)).toBe(keyOf(z.any(), own));
    const { value } = inputOf(tool(z.any()), foreign);
    expect(Object.getPrototypeOf(value)).toBe(Object.prototype);
  });
});

describe("the snapshot of an input", () => {
  it.each(table)("FLOW-31 is no longer the caller's: $kind", ({ schema, same: [value] }) => {
    if (typeof value !== "object" || value === null) return;
    const { value: copy } = inputOf(tool(schema), value);
    expect(copy).not.toBe(value);
    expect(Object.prototype.toString.call(copy)).toBe(Object.prototype.toString.call(value));
  });

  it("FLOW-31 copies built-in data at open positions, and leaves instances as they are", () => {
    const bytes = new Uint8Array([1, 2, 3, 4]);
    const point = new Point();
    const input = {
      map: new Map([[{ k: 1 }, new Set([new Date(1)])]]),
      view: new DataView(bytes.buffer, 1, 2),
      buffer: bytes.buffer,
      node: Buffer.from("ab"),
      bare: Object.assign(Object.create(null), { a: 1 }),
      holes: Object.assign([], { 1: "x" }),
      point,
      [Symbol.for("s")]: 1,
      ["__proto__"]: 1,
    };
    const { value } = inputOf(tool(z.any()), input);
    const copy = value as typeof input;
    expect(copy).toEqual(input);
    expect(copy.view.byteLength).toBe(2);
    expect(copy.view.buffer.byteLength).toBe(2);
    expect(copy.point).toBe(point);
    expect(Object.getPrototypeOf(copy.bare)).toBeNull();
    expect(1 in copy.holes && !(0 in copy.holes)).toBe(true);
    expect(Buffer.isBuffer(copy.node)).toBe(true);
    bytes.fill(9);
    input.node.fill("z");
    expect(new Uint8Array(copy.buffer)).toEqual(new Uint8Array([1, 2, 3, 4]));
    expect(copy.view.getUint8(0)).toBe(2);
    expect(copy.node.toString()).toBe("ab");
  });

  it("FLOW-31 keeps declared properties that are undefined for validation, and no others", () => {
    const schema = z.object({ a: z.exactOptional(z.number()), b: z.number().optional() });
    const { value } = inputOf(tool(schema), { a: undefined, x: undefined });
    expect(Object.entries(value as object)).toEqual([["a", undefined]]);
    expect(schema.safeParse(value).success).toBe(false);
  });

  it("FLOW-31 copies what fits no reading, whatever its kind", () => {
    const wrong = [new Map([["k", {}]]), new Set([{}]), [{}], { a: {} }, new Date(5)];
    for (const schema of [z.string(), z.number(), z.literal("a"), z.map(z.string(), z.string())]) {
      for (const value of wrong) {
        const copy = inputOf(tool(schema), value).value;
        expect(copy).toEqual(value);
        expect(copy).not.toBe(value);
      }
    }
  });

  it("FLOW-31 copies all of a cyclic input but the way back", () => {
    interface Node {
      name: string;
      children: Node[];
    }
    const node: z.ZodType<Node> = z.lazy(() =>
      z.object({ name: z.string(), children: z.array(node) }),
    );
    const cycle: Node = { name: "a", children: [] };
    cycle.children.push(cycle);
    for (const schema of [node, z.any()]) {
      const copy = inputOf(tool(schema), cycle).value as Node;
      expect(copy).not.toBe(cycle);
      cycle.name = "changed";
      expect(copy.name).toBe("a");
      cycle.name = "a";
    }
  });

  it("FLOW-31 keeps an own `__proto__` at an open position a property", () => {
    const input: unknown = JSON.parse('{"__proto__": {"polluted": true}}');
    const { value } = inputOf(tool(z.any()), input);
    expect(Object.getPrototypeOf(value)).toBe(Object.prototype);
    expect(Object.keys(value as object)).toEqual(["__proto__"]);
    const loose = inputOf(tool(z.looseObject({})), input);
    expect(Object.keys(loose.value as object)).toEqual([]);
  });

  it("FLOW-31 is total: throwing getters, proxies, and nestings past the stack are left to validation", () => {
    const throwing = {
      get a() {
        throw new Error("no");
      },
    };
    const proxy = new Proxy(
      {},
      {
        get: () => {
          throw new Error("no");
        },
      },
    );
    for (const value of [throwing, proxy]) {
      expect(() => inputOf(tool(object), value)).not.toThrow();
    }
    let deep: unknown = 1;
    for (let level = 0; level < 100_000; level++) deep = { deep };
    expect(inputOf(tool(z.any()), deep).value).toBe(deep);
  });

  it("FLOW-31 does not walk an open array longer than a million elements, nor a subclass of Array", () => {
    class List extends Array<number> {}
    const sparse: unknown[] = [];
    sparse.length = 4_000_000_000;
    const most: unknown[] = [];
    most.length = 1_000_000;
    expect(inputOf(tool(z.any()), most).value).not.toBe(most);
    most.length += 1;
    expect(inputOf(tool(z.any()), most).value).toBe(most);
    const rootless = Object.create(Object.create(null)) as object;
    expect(inputOf(tool(z.any()), rootless).value).toBe(rootless);
    const list = List.from([1]);
    expect(inputOf(tool(z.any()), sparse).value).toBe(sparse);
    expect(inputOf(tool(z.any()), list).value).toBe(list);
  });
});
