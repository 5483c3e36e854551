import { describe, expect, it } from "vitest";
import * as z from "zod";

import { createSealer } from "../src/index.ts";
import { model } from "../src/zod.ts";
import { refusal, refusalCode } from "./refusal.ts";
import { basket, Money, money, moneyFields, Refund, refund, sealer } from "./shop-models.ts";

describe("what a schema reaches", () => {
  const text = sealer.encode(new Money(5, "EUR"));
  const through: { [name: string]: z.ZodType } = {
    itself: money.schema,
    optional: money.schema.optional(),
    nullable: money.schema.nullable(),
    default: money.schema.default(() => new Money(1, "EUR")),
    prefault: money.schema.prefault(() => new Money(1, "EUR")),
    catch: money.schema.catch(() => new Money(1, "EUR")),
    readonly: money.schema.readonly(),
    nonoptional: money.schema.optional().nonoptional(),
    refined: money.schema
      .refine(() => true)
      .describe("x")
      .meta({ a: 1 }),
    branded: money.schema.brand<"m">(),
    union: z.union([z.string(), money.schema]),
    discriminated: z.discriminatedUnion("t", [z.object({ t: z.literal("a"), m: money.schema })]),
    intersection: z.intersection(z.object({ a: money.schema }), z.object({})),
    array: z.array(money.schema),
    tuple: z.tuple([z.string(), money.schema]),
    rest: z.tuple([z.string()], money.schema),
    record: z.record(z.string(), money.schema),
    "map value": z.map(z.string(), money.schema),
    "map key": z.map(money.schema, z.string()),
    set: z.set(money.schema),
    nested: z.object({ a: z.object({ b: z.array(money.schema).optional() }) }),
    catchall: z.object({}).catchall(money.schema),
    lazy: z.lazy(() => money.schema),
    "output of a pipe": z
      .string()
      .transform(() => new Money(1, "EUR"))
      .pipe(money.schema),
    "output of a codec": z.codec(z.string(), money.schema, {
      decode: () => new Money(1, "EUR"),
      encode: () => "",
    }),
    "another model's field": basket.schema,
    "a base of it": refund.schema.or(money.schema),
  };
  it.each(Object.entries(through))("SEAL-41 opens a class through %s", (_, schema) => {
    expect(sealer.decode(text, { schema })).toBeInstanceOf(Money);
    expect(sealer.decode(text, { schema: [z.string(), schema] })).toBeInstanceOf(Money);
    expect(() => sealer.assertLoadable(text, { schema })).not.toThrow();
  });

  const closed: { [name: string]: unknown } = {
    nothing: undefined,
    null: null,
    "no schema": "money",
    "any()": z.any(),
    "unknown()": z.unknown(),
    "instanceof()": z.instanceof(Money),
    "a custom check": z.custom<Money>((v) => v instanceof Money),
    "a subclass alone": refund.schema,
    "the input of a pipe": money.schema.transform((m) => m.cents),
    "a codec's input": z.codec(money.schema, z.string(), {
      decode: () => "",
      encode: () => new Money(1, "EUR"),
    }),
    "its fields": moneyFields,
    "an unknown kind": { _zod: { def: { type: "hasOwnProperty", innerType: money.schema } } },
    "a kind that is no text": { _zod: { def: { type: 1, innerType: money.schema } } },
    "another library's schema": { "~standard": {} },
    "a promise": z.promise(money.schema),
    "an empty list": [],
  };
  it.each(Object.entries(closed))("SEAL-41 SEAL-42 opens none through %s", (_, schema) => {
    const error = refusal(() => sealer.decode(text, { schema }));
    expect([error.code, error.path]).toEqual(["class-not-allowed", "$model"]);
    expect(error.message).toContain('class "money"');
    expect(refusalCode(() => sealer.assertLoadable(text, { schema }))).toBe("class-not-allowed");
  });

  it("SEAL-41 opens registered subclasses of what is reached, and not its base", () => {
    const sub = sealer.encode([new Refund(1, "EUR")]);
    expect((sealer.decode(sub, { schema: money.schema }) as unknown[])[0]).toBeInstanceOf(Refund);
    expect(refusalCode(() => sealer.decode(text, { schema: refund.schema }))).toBe(
      "class-not-allowed",
    );
  });

  it("SEAL-41 walks a schema that contains itself", () => {
    const tree: z.ZodType = z.object({
      get children() {
        return z.array(tree);
      },
      price: money.schema,
    });
    expect(sealer.decode(text, { schema: tree })).toBeInstanceOf(Money);
    const plain: z.ZodType = z.lazy(() => z.array(plain));
    expect(refusalCode(() => sealer.decode(text, { schema: plain }))).toBe("class-not-allowed");
  });

  it("SEAL-41 opens nothing for a kind that it doesn't know, whatever its definition holds", () => {
    const schemaOf = (def: object): unknown => ({ _zod: { def } });
    for (const def of [
      { type: "lazily", getter: () => money.schema },
      { type: "lazy", getter: money.schema },
      { type: "optionally", innerType: money.schema },
      { type: "toString", innerType: money.schema },
      { type: ["optional"], innerType: money.schema },
      { innerType: money.schema },
      { type: "optional", element: money.schema },
    ])
      expect(refusalCode(() => sealer.decode(text, { schema: schemaOf(def) }))).toBe(
        "class-not-allowed",
      );
    for (const schema of [null, 1, "optional", undefined, {}, { _zod: {} }, [[null]]])
      expect(refusalCode(() => sealer.decode(text, { schema }))).toBe("class-not-allowed");
  });

  it("SEAL-41 remembers a schema and still answers for another sealer", () => {
    const schema = z.object({ a: money.schema });
    expect(sealer.decode(text, { schema })).toBeInstanceOf(Money);
    expect(refusalCode(() => createSealer({ models: [refund] }).decode(text, { schema }))).toBe(
      "class-not-allowed",
    );
    expect(refusalCode(() => createSealer().decode(text, { schema }))).toBe("class-not-allowed");
  });

  it("SEAL-42 R046 refuses an unreachable name before any object is built", () => {
    let built = 0;
    const counted = model(Refund, {
      name: "refund",
      fields: z.object({}),
      build: (f) => (built++, Object.assign(new Refund(1, "EUR"), f)),
    });
    const own = createSealer({ models: [money, counted] });
    const mixed = '[{"$model":["refund",{}]},{"$model":["money",{"cents":1,"currency":"EUR"}]}]';
    expect(refusal(() => own.decode(mixed, { schema: counted.schema })).path).toBe("[1].$model");
    expect(built).toBe(0);
    own.assertLoadable('[{"$model":["refund",{}]}]', { schema: counted.schema });
    expect(built).toBe(0);
    expect(
      refusalCode(() => own.decode('{"$model":["process",{}]}', { schema: counted.schema })),
    ).toBe("class-not-allowed");
    expect(refusal(() => own.decode('{"$model":[1,{}]}', { schema: counted.schema })).found).toBe(
      "not a string",
    );
  });

  it("SEAL-41 opens classes through open() as well", async () => {
    const { keyringOf } = await import("../src/index.ts");
    const options = { keyring: keyringOf(new Uint8Array(32)), purpose: "checkpoint" };
    const sealed = sealer.seal(new Money(5, "EUR"), options);
    expect(sealer.open(sealed, { ...options, schema: money.schema }).value).toBeInstanceOf(Money);
    expect(refusalCode(() => sealer.open(sealed, options))).toBe("class-not-allowed");
  });
});
