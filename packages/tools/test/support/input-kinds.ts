import { z } from "zod";
import * as mini from "zod/mini";

import type { Schema } from "../../src/index.ts";

/** An instance with a property of its own and a getter of its class. */
export class Point {
  x = 1;
  get y() {
    return 2;
  }
}

/** A kind of schema, with inputs that it reads as one and inputs that it keeps apart. */
export interface InputKind {
  readonly kind: string;
  readonly schema: Schema<unknown, unknown>;
  /** Inputs that are one input to the schema. */
  readonly same: readonly unknown[];
  /** Inputs that are others, each than the first and than each other. */
  readonly others: readonly unknown[];
}

export const object = z.object({ a: z.number(), b: z.string().optional() });
const draw = () => Math.floor(performance.now() * 1e6).toString();
const made = z.transform((from: z.output<typeof object>) => `${from.a} ${draw()}`);

/** Each kind of schema that a walk reads through. */
export const inputKinds: readonly InputKind[] = [
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
