// What a definition publishes is what its boundary takes (WF-03).
import { flow } from "@holdpoint/flow";
import type { Schema } from "@holdpoint/tools";
import { describe, expect, it } from "vitest";
import { z } from "zod";

import { defineWorkflow, isWorkflowError } from "../../src/index.ts";

const built = flow("echo", z.object({ text: z.string().optional() }))
  .node("say", () => ({ text: "said" }))
  .build();

const over = (input: Schema, more: { readonly resume?: Schema; readonly output?: Schema } = {}) => {
  const shared = { name: "echo", version: "1", flow: built, begin: () => ({}), end: () => ({}) };
  return defineWorkflow({ ...shared, input, ...more });
};

type Tree = { readonly name: string; readonly below?: readonly Tree[] | undefined };
const Tree: z.ZodType<Tree> = z.lazy(() =>
  z.object({ name: z.string(), below: z.array(Tree).optional() }),
);
const Line = z.object({ sku: z.string(), count: z.int().min(1) });

const cases: readonly (readonly [what: string, schema: Schema, documents: readonly string[]])[] = [
  [
    "objects within objects and lists",
    z.object({
      id: z.string().max(3),
      lines: z.array(Line).default([]),
      note: z.string().optional(),
    }),
    [
      '{"id":"A"}',
      '{"id":"A-17"}',
      '{"id":"A","lines":[{"sku":"x","count":1}]}',
      '{"id":"A","lines":[{"sku":"x","count":0}]}',
      '{"id":"A","lines":[{"sku":"x","count":1,"colour":"red"}]}',
      '{"id":"A","nota":""}',
      '{"note":""}',
      "[]",
    ],
  ],
  [
    "loose objects, records and tuples",
    z.object({
      loose: z.looseObject({ a: z.string() }),
      by: z.record(z.string(), Line),
      pair: z.tuple([z.string(), Line]),
    }),
    [
      '{"loose":{"a":"","b":1},"by":{"x":{"sku":"x","count":1}},"pair":["",{"sku":"","count":1}]}',
      '{"loose":{"a":"","b":1},"by":{"x":{"sku":"x","count":1,"c":1}},"pair":["",{"sku":"","count":1}]}',
      '{"loose":{"a":""},"by":{},"pair":["",{"sku":"","count":1,"c":2}]}',
      '{"loose":{"b":""},"by":{},"pair":["",{"sku":"","count":1}]}',
    ],
  ],
  [
    "one of several",
    z.union([z.object({ url: z.string() }), z.object({ ok: z.boolean() })]),
    ['{"url":""}', '{"ok":true}', '{"ok":1}', '{"url":"","ok":true}', "{}"],
  ],
  [
    "what refers to itself",
    z.object({ tree: Tree }),
    [
      '{"tree":{"name":"a","below":[{"name":"b"}]}}',
      '{"tree":{"name":"a","below":[{"name":"b","size":1}]}}',
      '{"tree":{"name":"a","below":[{}]}}',
    ],
  ],
];

describe("a published schema", () => {
  it.each(cases)(
    "WF-03 WF-02 takes and refuses what the boundary does: %s",
    async (_, schema, documents) => {
      const definition = over(schema, { resume: schema });
      const published = definition.inputJsonSchema();
      expect(definition.resumeJsonSchema()).toEqual(published);
      const reader = z.fromJSONSchema(published as z.core.JSONSchema.JSONSchema);
      const verdicts = await Promise.all(
        documents.map(async (text) => {
          const taken = await definition.validateInput(text).then(
            () => true,
            (error: unknown) => !isWorkflowError(error, "input-invalid"),
          );
          return [text, taken, reader.safeParse(JSON.parse(text)).success] as const;
        }),
      );
      expect(verdicts.filter(([, taken, read]) => taken !== read)).toEqual([]);
      expect(new Set(verdicts.map(([, taken]) => taken))).toEqual(new Set([true, false]));
    },
  );

  it("WF-03 is closed as a whole where several parts name its members", () => {
    const both = z.intersection(z.object({ a: Tree }), z.record(z.string(), z.unknown()));
    const published = over(both).inputJsonSchema();
    expect(published).toMatchObject({ allOf: expect.any(Array), unevaluatedProperties: false });
    expect(JSON.stringify(published["allOf"])).not.toContain('"additionalProperties":false');
  });

  it("WF-03 of an output is of what it gives, and absent where there is none", () => {
    const output = z.object({ cents: z.string().transform(Number).pipe(z.number()) });
    expect(over(z.object({})).outputJsonSchema()).toBeUndefined();
    expect(over(z.object({}), { output }).outputJsonSchema()).toMatchObject({
      properties: { cents: { type: "number" } },
    });
    const ofDates = over(z.object({}), { output: z.object({ at: z.date() }) });
    expect(() => ofDates.outputJsonSchema()).toThrow(
      expect.objectContaining({ code: "schema-not-describable" }),
    );
  });

  it("WF-03 of another library is as that library says it", () => {
    const said = { type: "object", properties: { a: {} } };
    const standard = {
      version: 1 as const,
      vendor: "own",
      validate: (value: unknown) => ({ value }),
      jsonSchema: { input: () => said, output: () => said },
    };
    expect(over({ "~standard": standard }).inputJsonSchema()).toEqual(said);
  });
});
