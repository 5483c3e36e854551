import { model } from "@holdpoint/seal/zod";
import { defineTool } from "@holdpoint/tools";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { z as oldest } from "zod-oldest";

import { shapeText } from "../../src/graph/shape.ts";
import { flow } from "../../src/index.ts";

type Zod = typeof z;
const releases: readonly (readonly [string, Zod])[] = [
  ["newest", z],
  ["oldest", oldest as unknown as Zod],
];

/** A TypeScript enum as compilers write it: members by name, and numeric ones by value too. */
function compiledEnum() {
  return { A: 0, B: 1, 0: "A", 1: "B" } as const;
}

/** Schema families with the shape that each has to have, under every release of the peer range. */
const families: Record<string, [(zod: Zod) => unknown, string]> = {
  string: [(zod) => zod.string(), "string"],
  "formats and bounds": [(zod) => zod.email().max(9), "string"],
  number: [(zod) => zod.number().min(1), "number"],
  int: [(zod) => zod.int(), "number"],
  bigint: [(zod) => zod.bigint(), "bigint"],
  boolean: [(zod) => zod.boolean(), "boolean"],
  date: [(zod) => zod.date(), "date"],
  "null and undefined": [(zod) => zod.union([zod.null(), zod.undefined()]), "<null|undefined>"],
  literal: [(zod) => zod.literal(["b", "a", 1]), '<"a"|"b"|1>'],
  enum: [(zod) => zod.enum(["b", "a"]), '<"a"|"b">'],
  "native enum": [(zod) => zod.enum(compiledEnum()), "<0|1>"],
  optional: [(zod) => zod.string().optional(), "<string|undefined>"],
  nullable: [(zod) => zod.string().nullable(), "<null|string>"],
  nullish: [(zod) => zod.string().nullish(), "<null|string|undefined>"],
  nonoptional: [(zod) => zod.nonoptional(zod.string().optional()), "string"],
  default: [(zod) => zod.string().default("x"), "string"],
  catch: [(zod) => zod.string().catch("x"), "string"],
  readonly: [(zod) => zod.array(zod.string()).readonly(), "[string]"],
  brand: [(zod) => zod.string().brand("Id"), "string"],
  object: [(zod) => zod.object({ b: zod.string(), a: zod.number() }), '{"a":number,"b":string}'],
  loose: [(zod) => zod.looseObject({ a: zod.string() }), '{"a":string,*:unknown}'],
  strict: [(zod) => zod.strictObject({ a: zod.string() }), '{"a":string}'],
  tuple: [(zod) => zod.tuple([zod.string()], zod.number()), "(string,...number)"],
  record: [(zod) => zod.record(zod.string(), zod.number()), "record<string,number>"],
  "map and set": [(zod) => zod.map(zod.string(), zod.set(zod.date())), "map<string,set<date>>"],
  "nested unions": [
    (zod) => zod.union([zod.union([zod.string(), zod.number()]), zod.string().nullable()]),
    "<null|number|string>",
  ],
  "unions within unions": [
    (zod) =>
      zod
        .union([zod.object({ a: zod.string().optional() }), zod.object({ b: zod.number() })])
        .optional(),
    '<undefined|{"a":<string|undefined>}|{"b":number}>',
  ],
  discriminated: [
    (zod) =>
      zod.discriminatedUnion("k", [
        zod.object({ k: zod.literal("a") }),
        zod.object({ k: zod.literal("b"), n: zod.number() }),
      ]),
    '<{"k":"a"}|{"k":"b","n":number}>',
  ],
  intersection: [
    (zod) => zod.intersection(zod.object({ b: zod.string() }), zod.object({ a: zod.string() })),
    '({"a":string}&{"b":string})',
  ],
  pipe: [(zod) => zod.string().transform(Number).pipe(zod.number()), "number"],
  codec: [
    (zod) =>
      zod.codec(zod.string(), zod.date(), { decode: (text) => new Date(text), encode: String }),
    "date",
  ],
  any: [(zod) => zod.any(), "any"],
  custom: [(zod) => zod.custom(() => true), "custom"],
  lazy: [
    (zod) => {
      const tree: unknown = zod.object({
        name: zod.string(),
        get children() {
          return zod.array(tree as z.ZodType);
        },
      });
      return tree;
    },
    '{"children":[@2],"name":string}',
  ],
};

describe("the digest of a graph", () => {
  it("FLOW-51 reads each family of schemas into the same shape under the oldest and the newest zod of the peer range", () => {
    expect(oldest).not.toBe(z);
    for (const [family, [make, shape]] of Object.entries(families)) {
      for (const [release, zod] of releases) {
        expect(shapeText(make(zod)), `${family} under the ${release}`).toBe(shape);
      }
    }
  });

  it("FLOW-51 tells models apart by the names that they stand in texts by, in copies of their schemas too", () => {
    class Money {
      declare cents: number;
    }
    const of = (name: string) =>
      model(Money, { name, fields: z.object({ cents: z.int() }) }).schema;
    const shown = shapeText(z.object({ price: of("money") }));
    expect(shown).toBe('{"price":model<money>}');
    expect(shapeText(z.object({ price: of("money").describe("what it costs") }))).toBe(shown);
    expect(shapeText(z.object({ price: of("amount") }))).not.toBe(shown);
    expect(shapeText(z.object({ price: z.instanceof(Money) }))).toBe('{"price":custom}');
  });

  it("FLOW-51 does not see labels, messages, order, defaults, bounds, formats and refinements", () => {
    const plain = z.object({ a: z.string(), b: z.number().optional() });
    const harmless = z
      .object({
        b: z.number("what?").max(5).optional().describe("how many"),
        a: z
          .string()
          .min(3)
          .meta({ id: "x", title: "A" })
          .default("z")
          .refine(() => true),
      })
      .describe("whole");
    expect(shapeText(harmless)).toBe(shapeText(plain));
    const real = [
      z.object({ a: z.string(), b: z.number() }),
      z.object({ a: z.string(), b: z.string().optional() }),
      z.object({ a: z.string(), c: z.number().optional() }),
      z.object({ a: z.string().nullable(), b: z.number().optional() }),
      z.object({ a: z.array(z.string()), b: z.number().optional() }),
      z.object({ a: z.literal("x"), b: z.number().optional() }),
      z.object({ a: z.string() }),
    ];
    for (const schema of real) expect(shapeText(schema)).not.toBe(shapeText(plain));
    expect(new Set(real.map(shapeText)).size).toBe(real.length);
  });

  it("FLOW-51 keeps its golden digest, under both releases", () => {
    for (const [, zod] of releases) {
      const tool = defineTool({
        name: "pay",
        description: "pays",
        input: zod.object({ cents: zod.int() }),
        output: zod.object({ id: zod.string() }),
        version: "1",
        execute: () => ({ id: "x" }),
      });
      const State = zod.object({
        order: zod.string(),
        cents: zod.int().optional(),
        tags: zod.array(zod.enum(["a", "b"])).default([]),
        id: zod.string().optional(),
      });
      const f = flow("refund", State, { version: "3" })
        .node("assess", () => ({ cents: 1 }), { version: "2", title: "Assess" })
        .gate("review", { payload: (s) => s.cents, approvers: ["erin"], quorum: 1 })
        .call("pay", tool, { args: { cents: 5 }, into: (r) => ({ id: r.id }) })
        .reduce("tags", (a, b) => [...a, ...b])
        .path("assess", "review", "pay")
        .denied("review", "$end")
        .route("pay", ["$end", "assess"], () => "$end")
        .build();
      expect(f.digest).toBe("jdA47l6Cj5w4ptTGq-77G6E87n1ymXdnXPpznB1yk6Q");
    }
  });

  it("FLOW-51 is one digest whatever order nodes, edges and fields are written in", () => {
    const a = flow("f", z.object({ x: z.string(), y: z.string() }))
      .node("one", () => ({}))
      .node("two", () => ({}))
      .node("three", () => ({}))
      .edge("one", "two")
      .edge("one", "three")
      .build();
    const b = flow("f", z.object({ y: z.string(), x: z.string() }))
      .node("three", () => ({}))
      .node("two", () => ({}))
      .node("one", () => ({}))
      .edge("one", "three")
      .edge("one", "two")
      .start("one")
      .build();
    expect(b.digest).toBe(a.digest);
  });
});
