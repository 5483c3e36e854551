import fc from "fast-check";
import { z } from "zod";

/** A schema beside its bare twin, which makes nothing, and inputs that both accept. */
export interface Pair {
  readonly decorated: z.ZodType;
  readonly bare: z.ZodType;
  readonly inputs: fc.Arbitrary<unknown>;
}

const text = fc.string({ maxLength: 4 });
let drawn = 0;
/** Another value at each call, as a random default is. */
const draw = (): string => `drawn ${++drawn}`;

const leaf: fc.Arbitrary<Pair> = fc.oneof(
  fc.constant({ decorated: z.string(), bare: z.string(), inputs: text }),
  fc.constant({
    decorated: z.number(),
    bare: z.number(),
    inputs: fc.double({ noNaN: true, noDefaultInfinity: true }),
  }),
  fc.constant({ decorated: z.boolean(), bare: z.boolean(), inputs: fc.boolean() }),
  fc.constant({
    decorated: z.date(),
    bare: z.date(),
    inputs: fc.date({ noInvalidDate: true }),
  }),
  fc.constant({ decorated: z.bigint(), bare: z.bigint(), inputs: fc.bigInt() }),
  fc.constant({
    decorated: z.any(),
    bare: z.any(),
    inputs: fc.oneof(text, fc.dictionary(fc.constantFrom("p", "q"), text), fc.array(text)),
  }),
);

const decorations: readonly ((schema: z.ZodType) => z.ZodType)[] = [
  (schema) => schema.readonly(),
  (schema) => schema.catch(draw),
  (schema) => schema.transform(() => draw()),
  (schema) => schema.pipe(z.transform(() => draw())),
  (schema) => schema.refine(() => true),
  (schema) => z.lazy(() => schema),
  (schema) => z.codec(schema, z.any(), { decode: () => draw(), encode: (value) => value }),
];

const absent: readonly ((schema: z.ZodType) => z.ZodType)[] = [
  (schema) => schema.optional(),
  (schema) => schema.default(draw),
  (schema) => schema.prefault(draw),
];

const names = fc.uniqueArray(fc.constantFrom("a", "b", "c", "d"), { minLength: 1, maxLength: 4 });

const { pair } = fc.letrec<{ pair: Pair }>((tie) => ({
  pair: fc.oneof(
    { maxDepth: 3, depthSize: "small" },
    leaf,
    fc
      .tuple(tie("pair"), fc.constantFrom(...decorations))
      .map(([{ decorated, bare, inputs }, decorate]) => ({
        decorated: decorate(decorated),
        bare,
        inputs,
      })),
    fc.tuple(names, fc.array(tie("pair"), { minLength: 4, maxLength: 4 }), fc.nat(2)).map(objectOf),
    tie("pair").map(({ decorated, bare, inputs }) => ({
      decorated: z.array(decorated),
      bare: z.array(bare),
      inputs: fc.array(inputs, { maxLength: 3 }),
    })),
    fc.tuple(tie("pair"), tie("pair")).map(([one, other]) => ({
      decorated: z.tuple([one.decorated, other.decorated]),
      bare: z.tuple([one.bare, other.bare]),
      inputs: fc.tuple(one.inputs, other.inputs),
    })),
    tie("pair").map(({ decorated, bare, inputs }) => ({
      decorated: z.record(z.string(), decorated),
      bare: z.record(z.string(), bare),
      inputs: fc.dictionary(fc.constantFrom("k", "l", "m"), inputs, {
        maxKeys: 3,
        noNullPrototype: true,
      }),
    })),
    tie("pair").map(({ decorated, bare, inputs }) => ({
      decorated: z.map(z.string(), decorated),
      bare: z.map(z.string(), bare),
      inputs: fc
        .dictionary(fc.constantFrom("k", "l"), inputs, { maxKeys: 2 })
        .map((entries) => new Map(Object.entries(entries))),
    })),
  ),
}));

/** Some fields may be left out: a default, or nothing, stands in for them. */
function objectOf([fields, pairs, kind]: [readonly string[], readonly Pair[], number]): Pair {
  const decorated: Record<string, z.ZodType> = {};
  const bare: Record<string, z.ZodType> = {};
  const inputs: Record<string, fc.Arbitrary<unknown>> = {};
  const requiredKeys: string[] = [];
  fields.forEach((name, at) => {
    const own = pairs[at]!;
    const leaveOut = at === 0 ? undefined : absent[at - 1];
    decorated[name] = leaveOut === undefined ? own.decorated : leaveOut(own.decorated);
    bare[name] = leaveOut === undefined ? own.bare : own.bare.optional();
    inputs[name] = own.inputs;
    if (leaveOut === undefined) requiredKeys.push(name);
  });
  const made = [z.object, z.looseObject, z.strictObject][kind]!;
  return {
    decorated: made(decorated),
    bare: made(bare),
    inputs: fc.record(inputs, { requiredKeys, noNullPrototype: true }),
  };
}

export const pairs = pair;

/** A copy with its properties in another order, and with `undefined` ones between them. */
export function respelled(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(respelled);
  if (value instanceof Map) return new Map([...value].map(([key, item]) => [key, respelled(item)]));
  if (typeof value !== "object" || value === null || value instanceof Date) return value;
  const entries = Object.entries(value).reverse();
  return Object.fromEntries([
    ...entries.map(([name, item]) => [name, respelled(item)]),
    ["unset", undefined],
  ]);
}

/** Changes everything in a value that can be changed. */
export function ruin(value: unknown): void {
  if (typeof value !== "object" || value === null) return;
  if (value instanceof Date) value.setTime(0);
  else if (value instanceof Map) {
    for (const item of value.values()) ruin(item);
    value.set("ruined", 1);
  } else {
    for (const item of Object.values(value)) ruin(item);
    if (Array.isArray(value)) value.push("ruined");
    else Object.assign(value, { ruined: 1 });
  }
}
