import { flow } from "@holdpoint/flow";
import type { Schema } from "@holdpoint/tools";
import { describe, expect, it } from "vitest";
import { z } from "zod";

import { unknownFields } from "../../src/definition/unknown-fields.ts";
import { defineWorkflow, InvalidInputError } from "../../src/index.ts";

const built = flow("echo", z.object({ text: z.string().optional() }))
  .node("say", () => ({ text: "said" }))
  .build();

function over(input: Schema, resume?: Schema) {
  return defineWorkflow({
    name: "echo",
    version: "1",
    input,
    flow: built,
    begin: () => ({}),
    ...(resume !== undefined && { resume }),
  });
}

async function refused(work: Promise<unknown>): Promise<InvalidInputError> {
  try {
    await work;
  } catch (error) {
    if (error instanceof InvalidInputError) return error;
    throw error;
  }
  throw new Error("it was taken");
}

const Order = z.object({
  orderId: z.string(),
  lines: z.array(z.object({ sku: z.string(), count: z.int().min(1) })).default([]),
});

describe("a definition's boundary", () => {
  it("WF-02 gives one canonical form for every spelling of a document", async () => {
    const definition = over(Order);
    const spellings = [
      '{"orderId":"A-17","lines":[{"sku":"x","count":1}]}',
      ' { "lines" : [ { "count":1.0, "sku":"\\u0078" } ], "orderId":"A-17" }\n',
    ];
    const documents = await Promise.all(spellings.map((text) => definition.validateInput(text)));
    expect(new Set(documents.map(({ canonical }) => canonical))).toEqual(
      new Set(['{"lines":[{"count":1,"sku":"x"}],"orderId":"A-17"}']),
    );
    expect(documents[0]?.document).toEqual({ orderId: "A-17", lines: [{ sku: "x", count: 1 }] });
  });

  it("WF-02 names the boundary and every issue's path", async () => {
    const text = '{"orderId":7,"lines":[{"sku":"x","count":1},{"sku":1,"count":0}]}';
    const error = await refused(over(Order).validateInput(text));
    expect(error).toMatchObject({ code: "input-invalid", boundary: "input" });
    const paths = error.issues.map(({ path }) => path);
    expect(paths).toEqual(["orderId", "lines.1.sku", "lines.1.count"]);
    const payload = await refused(over(Order, z.object({ ok: z.boolean() })).validateResume("{}"));
    expect(payload).toMatchObject({ boundary: "resume", issues: [{ path: "ok" }] });
  });

  it("WF-02 keeps a syntax cause of its own, with a position and nothing of the text", async () => {
    const text = '{"orderId":"sk-live-4242" oops}';
    const error = await refused(over(Order).validateInput(text));
    expect(error.cause).toMatchObject({ name: "JsonRefusal", position: 26 });
    const shown = `${error.stack}${JSON.stringify(error)}${String(error.cause)}`;
    expect(shown).not.toContain("4242");
  });

  it("WF-02 refuses fields that no schema names, at any depth", async () => {
    const text = '{"orderId":"A","lines":[{"sku":"x","count":1,"colour":"red"}],"note":""}';
    const error = await refused(over(Order).validateInput(text));
    expect(error.issues.map(({ path }) => path)).toEqual(["lines.0.colour", "note"]);
  });

  it("WF-02 shows no issue's text in print", async () => {
    const schema = z.object({ pin: z.string().refine(() => false, { error: "4242 is wrong" }) });
    const error = await refused(over(schema).validateInput('{"pin":"4242"}'));
    expect(error.issues).toEqual([{ path: "pin", message: "4242 is wrong" }]);
    expect(`${error.stack}${JSON.stringify(error)}`).not.toContain("4242");
  });

  it("WF-02 waits for checks that are asynchronous", async () => {
    const schema = z.object({ id: z.string().refine(async (id) => id === "A") });
    await expect(over(schema).validateInput('{"id":"A"}')).resolves.toBeDefined();
    expect((await refused(over(schema).validateInput('{"id":"B"}'))).issues).toHaveLength(1);
  });

  it("WF-02 takes the bounds that a definition sets", async () => {
    const tight = defineWorkflow({
      name: "echo",
      version: "1",
      input: Order,
      flow: built,
      begin: () => ({}),
      limits: { bytes: 20 },
    });
    const error = await refused(tight.validateInput('{"orderId":"A-1234567"}'));
    expect(error.issues[0]?.message).toContain("more than 20 bytes");
  });
});

const Base = z.object({ a: z.string() });

describe("fields that a schema does not name", () => {
  it.each([
    ["an object", Base, { a: "", b: 1 }, ["b"]],
    ["a loose object", z.looseObject({ a: z.string() }), { a: "", b: 1 }, []],
    ["a catchall", Base.catchall(Base), { a: "", b: { a: "", c: 1 } }, ["b.c"]],
    ["a record", z.record(z.string(), Base), { x: { a: "", b: 1 } }, ["x.b"]],
    ["a tuple", z.tuple([Base]).rest(Base), [{ a: "" }, { a: "", b: 1 }], ["1.b"]],
    ["optional and nullable", Base.nullable().optional(), { a: "", b: 1 }, ["b"]],
    ["a default", z.object({ o: Base.default({ a: "" }) }), { o: { a: "", b: 1 } }, ["o.b"]],
    ["a transform", Base.transform((o) => o.a), { a: "", b: 1 }, ["b"]],
    ["a lazy schema", z.lazy(() => Base), { a: "", b: 1 }, ["b"]],
    [
      "an intersection",
      z.intersection(Base, z.object({ b: z.int() })),
      { a: "", b: 1, c: 2 },
      ["c"],
    ],
    ["a union, by its taker", z.union([z.object({ k: z.int() }), Base]), { a: "", b: 1 }, ["b"]],
    [
      "a union with a member that names all",
      z.union([Base, Base.extend({ b: z.int() })]),
      { a: "", b: 1 },
      [],
    ],
    ["a union that nothing fits", z.union([z.object({ k: z.int() })]), { b: 1 }, []],
    ["what is any", z.any(), { b: 1 }, []],
    ["the name __proto__", Base, JSON.parse('{"a":"","__proto__":1}') as unknown, ["__proto__"]],
  ])("WF-02 are found in %s", (_, schema, value, expected) => {
    expect(unknownFields(schema, value).map((path) => path.join("."))).toEqual(expected);
  });
});

describe("published schemas", () => {
  it("WF-03 are JSON Schema of the side that is given", () => {
    const definition = over(Order, z.object({ ok: z.boolean() }));
    expect(definition.inputJsonSchema()).toMatchObject({
      $schema: "https://json-schema.org/draft/2020-12/schema",
      type: "object",
      required: ["orderId"],
      properties: { lines: { type: "array", items: { required: ["sku", "count"] } } },
    });
    expect(definition.resumeJsonSchema()).toMatchObject({ required: ["ok"] });
    expect(over(Order).resumeJsonSchema()).toBeUndefined();
  });

  it("WF-03 are refused where a schema has no JSON form, by code", () => {
    const ofDates = over(z.object({ at: z.date() }));
    expect(() => ofDates.inputJsonSchema()).toThrow(
      expect.objectContaining({ code: "schema-not-describable" }),
    );
    const bare: Schema = {
      "~standard": { version: 1, vendor: "own", validate: (value) => ({ value }) },
    };
    expect(() => over(bare).inputJsonSchema()).toThrow(
      expect.objectContaining({ code: "schema-not-describable" }),
    );
  });

  it("WF-04 takes no payload without a resume schema", async () => {
    expect(over(Order).takesPayload).toBe(false);
    await expect(over(Order).validateResume("{}")).rejects.toMatchObject({
      code: "resume-not-taken",
    });
  });
});
