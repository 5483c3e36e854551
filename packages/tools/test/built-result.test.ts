import { describe, expect, it } from "vitest";
import { z } from "zod";

import { buildsResult, defineTool } from "../src/index.ts";

const builds = (output: z.ZodType): boolean =>
  buildsResult(
    defineTool({ name: "t", description: "t", input: z.object({}), output, execute: () => ({}) }),
  );

type Tree = { name: string; children: Tree[] };
const Tree: z.ZodType<Tree> = z.object({
  name: z.string(),
  get children() {
    return z.array(Tree);
  },
});

const built: Readonly<Record<string, z.ZodType>> = {
  leaves: z.object({
    a: z.string().min(1).max(5),
    b: z.int().positive(),
    c: z.email(),
    d: z.null(),
  }),
  "lists and objects": z.object({ rows: z.array(z.object({ id: z.int() })).min(1) }),
  "what may be absent": z.object({ a: z.string().optional(), b: z.array(z.string()).nullable() }),
  "strict objects": z.strictObject({ a: z.literal("x"), b: z.enum(["y"]) }),
  "a closed catchall": z.object({}).catchall(z.number()),
  records: z.record(z.string(), z.array(z.boolean())),
  tuples: z.tuple([z.string(), z.object({ a: z.bigint() })], z.number()),
  unions: z.union([z.object({ a: z.string() }), z.array(z.number()), z.string()]),
  "recursive ones": Tree,
  "what is read again": z.any().pipe(z.object({ a: z.string() })),
  readonly: z.array(z.string()).readonly(),
};

const notBuilt: Readonly<Record<string, z.ZodType>> = {
  any: z.any(),
  unknown: z.object({ a: z.unknown() }),
  custom: z.array(z.custom<object>(() => true)),
  instances: z.instanceof(URL),
  dates: z.object({ at: z.date() }),
  maps: z.map(z.string(), z.string()),
  loose: z.looseObject({ a: z.string() }),
  transforms: z.object({ a: z.string().transform((text) => ({ text })) }),
  defaults: z.object({ a: z.array(z.string()).default(["x"]) }),
  catches: z.object({ a: z.object({}).catch({}) }),
  refinements: z.object({ a: z.string() }).refine(() => true),
  checks: z.array(z.number()).check(() => {}),
  "texts that are made over": z.object({ a: z.string().trim() }),
  "a rest of anything": z.tuple([z.string()], z.any()),
  "one option of anything": z.union([z.string(), z.any()]),
  intersections: z.intersection(z.object({ a: z.string() }), z.object({ b: z.string() })),
  lazy: z.lazy(() => z.string()),
};

describe("what an output schema builds", () => {
  it("TOOL-02 FLOW-47 is all of a result where every part is made anew and nobody else has it in hand", () => {
    for (const [kind, schema] of Object.entries(built))
      expect([kind, builds(schema)]).toEqual([kind, true]);
    for (const [kind, schema] of Object.entries(notBuilt))
      expect([kind, builds(schema)]).toEqual([kind, false]);
  });

  it("TOOL-02 is nothing where there is no schema, or one that is not zod's", () => {
    const free = defineTool({
      name: "t",
      description: "t",
      input: z.object({}),
      execute: () => ({}),
    });
    const validate = (value: unknown) => ({ value });
    const other = { "~standard": { version: 1, vendor: "own", validate } } as const;
    const foreign = defineTool({
      name: "t",
      description: "t",
      input: z.object({}),
      output: other,
      execute: () => ({}),
    });
    expect([buildsResult(free), buildsResult(foreign)]).toEqual([false, false]);
  });

  it("TOOL-02 shares no list or object with what the tool gave", () => {
    const schema = z.object({
      rows: z.array(z.object({ id: z.int() })),
      of: z.record(z.string(), z.tuple([z.array(z.int())])),
    });
    const given = { rows: [{ id: 1 }], of: { a: [[1]] } };
    const made = schema.parse(given);
    const parts = (value: unknown): object[] =>
      typeof value === "object" && value !== null
        ? [value, ...Object.values(value).flatMap(parts)]
        : [];
    const before = new Set(parts(given));
    expect(parts(made).some((part) => before.has(part))).toBe(false);
  });
});
