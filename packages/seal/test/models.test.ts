import { describe, expect, it } from "vitest";
import * as z from "zod";

import { createSealer } from "../src/index.ts";
import { model, modelNameOf } from "../src/zod.ts";
import { refusal, refusalCode } from "./refusal.ts";
import {
  Basket,
  basket,
  Money,
  money,
  moneyFields,
  Refund,
  Secret,
  sealer,
  secret,
} from "./shop-models.ts";

const builtins: readonly (new () => object)[] = [
  class extends Map {},
  class extends Array {},
  class extends Date {},
  class extends Uint8Array {},
];

describe("models", () => {
  it("SEAL-15 SEAL-40 writes a registered class by its name and its fields", () => {
    expect(sealer.encode({ price: new Money(5, "EUR") })).toBe(
      '{"price":{"$model":["money",{"cents":5,"currency":"EUR"}]}}',
    );
    expect(sealer.canonicalize(Object.assign(new Money(5, "EUR"), { $a: 1 }))).toBe(
      '{"$model":["money",{"$object":[["$a",1],["cents",5],["currency","EUR"]]}]}',
    );
    expect(sealer.canonicalize(new Money(5, "EUR"))).toBe(
      '{"$model":["money",{"cents":5,"currency":"EUR"}]}',
    );
  });

  it("SEAL-15 leaves private and underscore fields out", () => {
    expect(sealer.encode(new Secret("a", "hidden"))).toBe('{"$model":["secret",{"name":"a"}]}');
    expect(sealer.encode(new Money(1, "EUR"))).not.toContain("cache");
    const odd = Object.defineProperty(new Money(1, "EUR"), "_lazy", {
      get: () => 1,
      enumerable: true,
    });
    expect(sealer.encode(odd)).toBe(sealer.encode(new Money(1, "EUR")));
  });

  it("SEAL-40 builds the prototype and the fields, or what build makes", () => {
    const text = sealer.encode([new Money(5, "EUR"), new Secret("a", "b")]);
    const [first, second] = sealer.decode(text, {
      schema: z.tuple([money.schema, secret.schema]),
    }) as [Money, Secret];
    expect(first).toBeInstanceOf(Money);
    expect([first.text, Object.keys(first)]).toEqual(["5 EUR", ["cents", "currency"]]);
    expect(second.reveal()).toBe("rebuilt");
    expect(sealer.encode([first, second])).toBe(text);
  });

  it("SEAL-40 builds an instance that has no fields", () => {
    class Marker {}
    const marker = model(Marker, { name: "marker", fields: z.object({}) });
    const markers = createSealer({ models: [marker] });
    const text = markers.encode([new Marker()]);
    expect(text).toBe('[{"$model":["marker",{}]}]');
    const [back] = markers.decode(text, { schema: z.array(marker.schema) }) as [Marker];
    expect(back).toBeInstanceOf(Marker);
    expect(Object.keys(back)).toEqual([]);
  });

  it("SEAL-40 builds fields that are indexes, in their order", () => {
    class Grid {
      readonly [place: string]: unknown;
    }
    const grid = model(Grid, {
      name: "grid",
      fields: z.object({ 300: z.number(), 7: z.number(), a: z.string() }),
    });
    const grids = createSealer({ models: [grid] });
    const text = '{"$model":["grid",{"7":1,"300":2,"a":"x"}]}';
    const back = grids.decode(text, { schema: grid.schema }) as Grid;
    expect([back instanceof Grid, Object.keys(back)]).toEqual([true, ["7", "300", "a"]]);
    expect(Object.getOwnPropertyNames(back)).toHaveLength(3);
    expect(grids.encode(back)).toBe(text);
  });

  it("SEAL-40 tells the name of the model that a schema is of, and no other's", () => {
    expect(modelNameOf(money.schema)).toBe("money");
    expect(modelNameOf(money.schema.describe("a price"))).toBe("money");
    const others = [
      undefined,
      null,
      {},
      { _zod: {} },
      { _zod: { def: {} } },
      { _zod: { def: { fn: "money" } } },
      z.custom(() => true),
      z.string(),
      money.schema.optional(),
    ];
    for (const other of others) expect(modelNameOf(other)).toBeUndefined();
    const mark = Object.getOwnPropertySymbols(money.check)[0]!;
    const forged = Object.assign(() => true, { [mark]: 7 });
    expect(modelNameOf({ _zod: { def: { fn: forged } } })).toBeUndefined();
    const heir = Object.create(money.check) as object;
    expect(modelNameOf({ _zod: { def: { fn: heir } } })).toBeUndefined();
    const inherits = Object.setPrototypeOf(() => true, money.check) as object;
    expect(modelNameOf({ _zod: { def: { fn: inherits } } })).toBeUndefined();
  });

  it("SEAL-15 seals the fields recursively, with their places in refusals", () => {
    const nested = new Basket();
    nested.items = [new Money(1, "EUR"), new Refund(2, "EUR")];
    nested.parent = new Basket();
    const text = sealer.encode(nested);
    const back = sealer.decode(text, { schema: basket.schema }) as Basket;
    expect(back.items[1]).toBeInstanceOf(Refund);
    expect(back.parent?.parent).toBeUndefined();
    expect(sealer.encode(back)).toBe(text);
    (nested.items as unknown[])[0] = () => 1;
    const error = refusal(() => sealer.encode({ b: nested }));
    expect([error.path, error.codecOrModel]).toEqual(["b.fields.items[0]", "model basket"]);
    const cycle = new Basket();
    cycle.parent = cycle;
    expect(refusal(() => sealer.encode(cycle)).found).toMatch(/^a cycle back to the value itself/);
  });

  it("SEAL-40 refuses two classes under one name, one class twice, and a built-in's subclass", () => {
    class Other {}
    const other = model(Other, { name: "money", fields: z.object({}) });
    expect(refusal(() => createSealer({ models: [money, other] })).message).toBe(
      "two models are named money",
    );
    const again = model(Money, { name: "cash", fields: moneyFields });
    expect(refusal(() => createSealer({ models: [money, again] })).message).toBe(
      "a class has two models",
    );
    for (const made of builtins) {
      const odd = model(made, { name: "odd", fields: z.object({}) });
      expect(refusalCode(() => createSealer({ models: [odd] }))).toBe("option-invalid");
    }
    for (const name of ["", "1a", "a b", "$a", "a".repeat(65), 1 as unknown as string]) {
      expect(refusalCode(() => model(Other, { name, fields: z.object({}) }))).toBe(
        "option-invalid",
      );
    }
    expect(
      refusalCode(() => model({} as unknown as typeof Other, { name: "x", fields: z.object({}) })),
    ).toBe("option-invalid");
  });

  it("SEAL-43 validates the fields before the instance is built", () => {
    let built = 0;
    class Counted {
      n = 1;
    }
    const counted = model(Counted, {
      name: "counted",
      fields: z.object({ n: z.int().min(1) }),
      build: (fields) => (built++, Object.assign(new Counted(), fields)),
    });
    const own = createSealer({ models: [counted] });
    const decode = (fields: string): unknown =>
      own.decode(`{"a":[{"$model":["counted",${fields}]}]}`, { schema: counted.schema });
    expect(decode('{"n":2}')).toEqual({ a: [{ n: 2 }] });
    expect(built).toBe(1);
    for (const fields of [
      '{"n":0}',
      '{"n":"2"}',
      "{}",
      '{"n":2,"extra":1}',
      '{"n":{"$undefined":true}}',
    ]) {
      const error = refusal(() => decode(fields));
      expect([error.code, error.path]).toEqual(["seal-malformed", "a[0].$model"]);
    }
    expect(refusal(() => decode('{"n":0}')).message).toContain("too_small at n");
    expect(refusal(() => decode('{"n":2,"extra":1}')).message).toContain(
      "unrecognized_keys at extra",
    );
    expect(refusal(() => decode(`{"n":2,"x${"y".repeat(100)}":1}`)).message).toMatch(
      /unrecognized_keys at xy{63}\.$/,
    );
    expect(built).toBe(1);
    const strict = model(Counted, {
      name: "strict",
      fields: z.strictObject({ n: z.int() }).refine((f) => f.n !== 3),
    });
    const loose = createSealer({ models: [strict] });
    expect(
      refusal(() => loose.decode('{"$model":["strict",{"n":3}]}', { schema: strict.schema }))
        .message,
    ).toContain("custom at the fields");
  });

  it("SEAL-43 R046 refuses fields that are no object, and a build that throws, by name", () => {
    const failing = model(Money, {
      name: "failing",
      fields: moneyFields,
      build: () => {
        throw new Error("no");
      },
    });
    const own = createSealer({ models: [failing] });
    const decode = (fields: string): unknown =>
      own.decode(`{"$model":["failing",${fields}]}`, { schema: failing.schema });
    for (const fields of [
      "[]",
      "1",
      "null",
      '"x"',
      '{"$set":[]}',
      '{"$undefined":true}',
      '{"$map":[]}',
    ]) {
      expect(refusal(() => decode(fields)).found).toBe("fields that are not an object");
    }
    const error = refusal(() => decode('{"cents":1,"currency":"EUR"}'));
    expect([error.found, (error.cause as Error).message]).toEqual(["model failing threw", "no"]);
    expect(refusal(() => decode('{"$object":[["$a",1]]}')).message).toContain(
      "fields that model failing refuses",
    );
    const refusing = model(Money, {
      name: "refusing",
      fields: moneyFields,
      build: () => {
        throw refusal(() => decode("1"));
      },
    });
    expect(
      refusal(() =>
        createSealer({ models: [refusing] }).decode(
          '{"$model":["refusing",{"cents":1,"currency":"EUR"}]}',
          { schema: refusing.schema },
        ),
      ).found,
    ).toBe("fields that are not an object");
  });

  it("SEAL-40 keeps a field named __proto__ as data", () => {
    class Open {}
    const open = model(Open, { name: "open", fields: z.looseObject({}) });
    const own = createSealer({ models: [open] });
    const text = '{"$model":["open",{"$object":[["$a",1]]}]}';
    expect(own.decode(text, { schema: open.schema })).toEqual({ $a: 1 });
    expect(own.encode(own.decode(text, { schema: open.schema }))).toBe(text);
  });

  it("SEAL-18 SEAL-21 takes no instance for a cycle where a limit is met in its fields", () => {
    const held = Object.assign(new Basket(), { items: [new Money(1, "EUR"), new Money(2, "EUR")] });
    const small = createSealer({ models: [money, basket], limits: { nodes: 8 } });
    expect(refusal(() => small.encode([held])).found).toMatch(/more than 8 values/);
    const self = new Basket();
    self.parent = self;
    const error = refusal(() => sealer.encode([self]));
    expect(error.found).toBe("a cycle back to [0]");
    expect(error.path).toBe("[0].fields.parent");
  });
});
