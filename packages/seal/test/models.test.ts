import Big from "big.js";
import { Decimal } from "decimal.js";
import { describe, expect, it } from "vitest";
import * as z from "zod";

import { createSealer, defineCodec, type Codec } from "../src/index.ts";
import { decimalCodec } from "../src/codecs/decimal.ts";
import { urlCodec } from "../src/codecs/url.ts";
import { model } from "../src/zod.ts";
import { refusal, refusalCode } from "./refusal.ts";

class Money {
  cents: number;
  currency: string;
  _cache = "not kept";
  constructor(cents: number, currency: string) {
    this.cents = cents;
    this.currency = currency;
  }
  get text(): string {
    return `${this.cents} ${this.currency}`;
  }
}
class Refund extends Money {
  reason = "";
}
class Secret {
  readonly #code: string;
  name: string;
  constructor(name: string, code: string) {
    this.name = name;
    this.#code = code;
  }
  reveal(): string {
    return this.#code;
  }
}
class Basket {
  items: Money[] = [];
  parent: Basket | undefined = undefined;
}

const builtins: readonly (new () => object)[] = [
  class extends Map {},
  class extends Array {},
  class extends Date {},
  class extends Uint8Array {},
];

const moneyFields = z.object({ cents: z.int(), currency: z.string().length(3) });
const money = model(Money, { name: "money", fields: moneyFields });
const refund = model(Refund, {
  name: "refund",
  fields: moneyFields.extend({ reason: z.string() }),
});
const secret = model(Secret, {
  name: "secret",
  fields: z.object({ name: z.string() }),
  build: ({ name }) => new Secret(name, "rebuilt"),
});
const basket = model(Basket, {
  name: "basket",
  fields: z.object({
    items: z.array(money.schema),
    get parent() {
      return z.union([basket.schema, z.undefined()]);
    },
  }),
});
const sealer = createSealer({ models: [money, refund, secret, basket] });

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
});

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

class Point {
  x: number;
  y: number;
  constructor(x: number, y: number) {
    this.x = x;
    this.y = y;
  }
}
const point = defineCodec({
  type: "geo/point",
  is: (value): value is Point => value instanceof Point,
  encode: (value) => [value.x, value.y],
  decode: ([x, y]: number[]) => new Point(x!, y!),
});

function withCodec(codec: Partial<Codec>): ReturnType<typeof createSealer> {
  return createSealer({ codecs: [{ ...(point as Codec), ...codec }] });
}

describe("codecs", () => {
  it("SEAL-16 SEAL-45 writes a claimed value by the codec's type and its stand-in", () => {
    const own = createSealer({ codecs: [point] });
    const text = own.encode({ at: new Point(1, -0) });
    expect(text).toBe('{"at":{"$codec":["geo/point",[1,{"$num":"-0"}]]}}');
    expect(own.decode(text)).toEqual({ at: new Point(1, -0) });
    expect(own.canonicalize(new Set([new Point(2, 0), new Point(1, 0)]))).toBe(
      '{"$set":[{"$codec":["geo/point",[1,0]]},{"$codec":["geo/point",[2,0]]}]}',
    );
  });

  it("SEAL-45 asks codecs only for what the format doesn't know", () => {
    const asked: unknown[] = [];
    const own = withCodec({ is: (value) => (asked.push(value), false) });
    own.encode([{}, [], new Map(), new Date(0), new Uint8Array(1), null, "a", 1n]);
    expect(asked).toEqual([]);
    expect(refusal(() => own.encode([new Point(1, 2)])).found).toBe("an instance of Point");
    expect(asked).toHaveLength(1);
    const functions = createSealer({
      codecs: [
        defineCodec({
          type: "fn",
          is: (v): v is () => void => typeof v === "function",
          encode: () => "f",
          decode: () => () => {},
        }),
      ],
    });
    expect(functions.encode([() => {}])).toBe('[{"$codec":["fn","f"]}]');
  });

  it("SEAL-45 takes the first codec that claims, and refuses two of one name", () => {
    const second = defineCodec({
      ...point,
      type: "second",
      is: point.is as (v: unknown) => v is Point,
    });
    expect(createSealer({ codecs: [second, point] }).encode(new Point(1, 2))).toContain('"second"');
    expect(refusal(() => createSealer({ codecs: [point, point] })).message).toBe(
      "two codecs are named geo/point",
    );
    for (const type of ["", "1", "a b", "$x", "a".repeat(65)]) {
      expect(
        refusalCode(() =>
          defineCodec({ ...point, type, is: point.is as (v: unknown) => v is Point }),
        ),
      ).toBe("option-invalid");
    }
  });

  it("SEAL-45 R046 names the codec that throws, cycles, or returns what can't be sealed", () => {
    const value = { a: [new Point(1, 2)] };
    const boom = (): never => {
      throw new Error("boom");
    };
    const thrown = refusal(() => withCodec({ encode: boom }).encode(value));
    expect([
      thrown.code,
      thrown.path,
      thrown.codecOrModel,
      (thrown.cause as Error).message,
    ]).toEqual(["state-not-sealable", "a[0]", "codec geo/point", "boom"]);
    expect(refusal(() => withCodec({ is: boom }).encode(value)).found).toMatch(/codec threw/);
    const unsealable = refusal(() => withCodec({ encode: () => ({ f: () => 1 }) }).encode(value));
    expect([unsealable.path, unsealable.codecOrModel]).toEqual([
      "a[0].standIn.f",
      "codec geo/point",
    ]);
    const cycle: unknown[] = [];
    cycle.push(cycle);
    expect(refusal(() => withCodec({ encode: () => cycle }).encode(value)).found).toMatch(
      /^a cycle/,
    );
    const endless = refusal(() => withCodec({ encode: () => new Point(1, 2) }).encode(value));
    expect([endless.code, endless.codecOrModel]).toEqual(["state-not-sealable", "codec geo/point"]);
    expect(refusal(() => withCodec({ encode: (same) => same }).encode(value)).found).toMatch(
      /^a cycle/,
    );
    expect(
      refusal(() => withCodec({ encode: () => "x".repeat(2 ** 25) }).encode(value)).found,
    ).toMatch(/bytes/);
    const after = createSealer({ codecs: [point] });
    expect(refusal(() => after.encode([new Point(1, 2), () => 1])).codecOrModel).toBeUndefined();
  });

  it("SEAL-45 R046 names the codec whose decode throws, and refuses an unknown one", () => {
    const own = withCodec({
      decode: () => {
        throw new Error("bad");
      },
    });
    const error = refusal(() => own.decode('{"a":{"$codec":["geo/point",[1,2]]}}'));
    expect([error.code, error.path, error.found, (error.cause as Error).message]).toEqual([
      "seal-malformed",
      "a.$codec",
      "codec geo/point threw",
      "bad",
    ]);
    const unknown = refusal(() => own.decode('[{"$codec":["other",1]}]'));
    expect([unknown.code, unknown.path]).toEqual(["class-not-allowed", "[0].$codec"]);
    expect(refusal(() => own.decode('{"$codec":[1,1]}')).found).toBe("not a string");
    expect(refusalCode(() => own.decode('{"$codec":["geo/point",{"$x":1}]}'))).toBe(
      "seal-malformed",
    );
  });

  it("SEAL-45 refuses a map or set whose members a codec makes one", () => {
    const own = withCodec({ decode: () => "same" });
    const member = (n: number): string => `{"$codec":["geo/point",${n}]}`;
    expect(refusal(() => own.decode(`{"$set":[${member(1)},${member(2)}]}`)).found).toMatch(
      /Set became one/,
    );
    expect(refusal(() => own.decode(`{"$map":[[${member(1)},1],[${member(2)},2]]}`)).found).toMatch(
      /Map became one/,
    );
  });

  it("SEAL-22 reads each property once where a codec's code runs in between", () => {
    const victim = { a: 1, list: [1, 2] };
    const meddling = withCodec({
      encode() {
        Object.defineProperty(victim, "a", { get: () => 666, enumerable: true });
        victim.list[0] = 666;
        return 0;
      },
    });
    expect(meddling.encode([victim, new Point(1, 2)])).toBe(
      '[{"a":1,"list":[1,2]},{"$codec":["geo/point",0]}]',
    );
    expect(refusal(() => meddling.encode([new Point(1, 2), victim])).found).toBe("an accessor");
    expect(
      refusal(() =>
        meddling.encode(Object.defineProperty([1], 0, { get: () => 1, enumerable: true })),
      ).found,
    ).toBe("an accessor");
  });

  it("SEAL-46 keeps URLs, and refuses another spelling of one", () => {
    const own = createSealer({ codecs: [urlCodec] });
    const value = { home: new URL("https://example.com/a?b=c#d") };
    expect(own.encode(value)).toBe('{"home":{"$codec":["url","https://example.com/a?b=c#d"]}}');
    expect((own.decode(own.encode(value)) as typeof value).home.searchParams.get("b")).toBe("c");
    for (const bad of ["https://EXAMPLE.com/", "https://example.com", "nonsense"]) {
      expect(refusal(() => own.decode(`{"$codec":["url","${bad}"]}`)).found).toBe(
        "codec url threw",
      );
    }
    expect(refusalCode(() => own.encode([Object.create(URL.prototype)]))).toBe(
      "state-not-sealable",
    );
    expect(refusalCode(() => own.encode([new Point(1, 2)]))).toBe("state-not-sealable");
    expect(refusalCode(() => own.encode([() => 1]))).toBe("state-not-sealable");
  });

  it.each([
    ["decimal.js", decimalCodec(Decimal), (text: string) => new Decimal(text)],
    ["big.js", decimalCodec(Big), (text: string) => new Big(text)],
  ] as const)("SEAL-46 keeps the decimals of %s exactly", (_, codec, make) => {
    const own = createSealer({ codecs: [codec as Codec] });
    for (const text of [
      "0",
      "-0",
      "1.50",
      "123456789012345678901234567890.123456789",
      "1e-30",
      "-9e99",
    ]) {
      const written = own.encode(make(text));
      const back = own.decode(written) as { toExponential(): string; eq(other: unknown): boolean };
      expect(back.eq(make(text))).toBe(true);
      expect(back.toExponential()).toBe(make(text).toExponential());
      expect(own.encode(back)).toBe(written);
    }
    expect(own.encode(make("1.5"))).toBe('{"$codec":["decimal","1.5e+0"]}');
    for (const bad of ['"1.5"', '"1.50e+0"', '"x"', "1.5"]) {
      expect(refusal(() => own.decode(`{"$codec":["decimal",${bad}]}`)).found).toBe(
        "codec decimal threw",
      );
    }
    expect(refusalCode(() => own.encode([() => 1]))).toBe("state-not-sealable");
    expect(refusalCode(() => own.encode([new Point(1, 2)]))).toBe("state-not-sealable");
  });

  it("SEAL-46 keeps decimals apart by the name that is given", () => {
    const own = createSealer({
      codecs: [decimalCodec(Decimal), decimalCodec(Big, "big") as Codec],
    });
    expect(own.encode([new Decimal(1), new Big(1)])).toBe(
      '[{"$codec":["decimal","1e+0"]},{"$codec":["big","1e+0"]}]',
    );
  });
});
