import fc from "fast-check";

/** Keys that codecs have been broken with, beside arbitrary ones. */
const KEYS = [
  "a",
  "b",
  "",
  "$",
  "$num",
  "$date",
  "$map",
  "$object",
  "$$",
  "__proto__",
  "constructor",
  "prototype",
  "toJSON",
  "then",
  "length",
  "0",
  "1",
  "2",
  "10",
  "01",
  "4294967294",
  "4294967295",
  "-1",
  "1.5",
  "é",
  "😀",
  "\ufb33",
  "\0",
  "\ud800",
  "a\udc00",
  "\u2028",
  "v",
  "mac",
  "body",
];

const unit = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom(...'abcZ019 "\\/$_\n\t'.split("")) },
  {
    weight: 2,
    arbitrary: fc.integer({ min: 0, max: 0xffff }).map((code) => String.fromCharCode(code)),
  },
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      "\0",
      "\ud83d",
      "\ude00",
      "😀",
      "\u001f",
      "\u007f",
      "\u2028",
      "\ufeff",
    ),
  },
);
const text = fc.string({ unit, maxLength: 12 });
const key = fc.oneof(
  { weight: 2, arbitrary: fc.constantFrom(...KEYS) },
  { weight: 1, arbitrary: text },
);

const number = fc.oneof(
  fc.double(),
  fc.integer(),
  fc.constantFrom(
    0,
    -0,
    NaN,
    Infinity,
    -Infinity,
    1e21,
    1e-7,
    5e-324,
    2 ** 53,
    1e23,
    123456789012345680000,
  ),
);
const bigint = fc.oneof(
  fc.bigInt(),
  fc.constantFrom(
    0n,
    1n,
    -1n,
    10n ** 599n,
    10n ** 600n,
    -(10n ** 600n),
    10n ** 600n - 1n,
    2n ** 64n,
  ),
);

const bytes = fc.uint8Array({ maxLength: 16 });
const views = fc.oneof(
  bytes,
  bytes.map((data) => data.slice().buffer),
  bytes.map((data) => new DataView(data.slice().buffer)),
  fc.int8Array({ maxLength: 4 }),
  fc.uint8ClampedArray({ maxLength: 4 }),
  fc.int16Array({ maxLength: 4 }),
  fc.uint16Array({ maxLength: 4 }),
  fc.int32Array({ maxLength: 4 }),
  fc.uint32Array({ maxLength: 4 }),
  fc.float32Array({ maxLength: 4 }),
  fc.float64Array({ maxLength: 4 }),
  fc.bigInt64Array({ maxLength: 4 }),
  fc.bigUint64Array({ maxLength: 4 }),
);

interface TemporalLike {
  readonly [name: string]: { from(item: unknown): object } & (new (...parts: unknown[]) => {
    toZonedDateTimeISO(zone: string): object;
  });
}
const temporal = (globalThis as { Temporal?: TemporalLike }).Temporal;

/** Temporal values, where the runtime has them. */
const temporals: fc.Arbitrary<unknown> =
  temporal === undefined
    ? fc.constant(null)
    : fc.oneof(
        fc
          .bigInt({ min: -(8n * 10n ** 21n), max: 8n * 10n ** 21n })
          .map((ns) => new temporal["Instant"]!(ns)),
        fc
          .tuple(
            fc.bigInt({ min: -(10n ** 18n), max: 2n * 10n ** 18n }),
            fc.constantFrom(
              "UTC",
              "Europe/Berlin",
              "Australia/Lord_Howe",
              "+05:30",
              "Pacific/Kiritimati",
            ),
          )
          .map(([ns, zone]) => new temporal["Instant"]!(ns).toZonedDateTimeISO(zone)),
        fc
          .record({
            hours: fc.nat(99_999),
            milliseconds: fc.nat(5000),
            nanoseconds: fc.nat(2_000_000),
            days: fc.nat(40),
          })
          .map((parts) => temporal["Duration"]!.from(parts)),
        fc
          .date({ min: new Date("1600-01-01"), max: new Date("2400-01-01"), noInvalidDate: true })
          .chain((date) => {
            const iso = date.toISOString().slice(0, -1);
            return fc.constantFrom(
              temporal["PlainDate"]!.from(iso),
              temporal["PlainDate"]!.from(`${iso.slice(0, 10)}[u-ca=hebrew]`),
              temporal["PlainTime"]!.from(iso),
              temporal["PlainDateTime"]!.from(iso),
              temporal["PlainYearMonth"]!.from(iso),
              temporal["PlainMonthDay"]!.from(iso),
            );
          }),
      );

const leaf: fc.Arbitrary<unknown> = fc.oneof(
  { weight: 2, arbitrary: fc.constantFrom(null, true, false, undefined) },
  { weight: 3, arbitrary: number },
  { weight: 3, arbitrary: text },
  { weight: 1, arbitrary: bigint },
  { weight: 1, arbitrary: fc.date({ noInvalidDate: true }) },
  { weight: 1, arbitrary: views },
  { weight: 1, arbitrary: temporals },
);

function objectOf(members: readonly (readonly [string, unknown])[]): object {
  const object = {};
  for (const [name, value] of members) {
    Object.defineProperty(object, name, {
      value,
      enumerable: true,
      writable: true,
      configurable: true,
    });
  }
  return object;
}

/** Any value that the format takes, without models and codecs. */
export const sealable: fc.Arbitrary<unknown> = fc.letrec<{ value: unknown }>((tie) => {
  const value = tie("value");
  const size = { maxLength: 4 };
  return {
    value: fc.oneof(
      { depthSize: "small", withCrossShrink: true },
      { weight: 4, arbitrary: leaf },
      { weight: 2, arbitrary: fc.array(value, size) },
      { weight: 3, arbitrary: fc.array(fc.tuple(key, value), size).map(objectOf) },
      {
        weight: 1,
        arbitrary: fc.array(fc.tuple(value, value), size).map((pairs) => new Map(pairs)),
      },
      { weight: 1, arbitrary: fc.array(value, size).map((members) => new Set(members)) },
    ),
  };
}).value;

/** Values of a small world, so that two of them are often nearly, and sometimes really, the same. */
export const confusable: fc.Arbitrary<unknown> = fc.letrec<{ value: unknown }>((tie) => {
  const value = tie("value");
  const size = { maxLength: 2 };
  const small = fc.constantFrom<unknown>(
    0,
    -0,
    1,
    1n,
    "1",
    "1n",
    null,
    undefined,
    "null",
    true,
    "true",
    NaN,
    "NaN",
    "",
    "$num",
    "a",
    new Date(0),
    "1970-01-01T00:00:00.000Z",
    new Uint8Array([1]),
    new Uint8Array(),
    new Int8Array([1]),
    "AQ",
    "\0",
    "AAA",
  );
  const name = fc.constantFrom(
    "a",
    "$num",
    "$map",
    "$set",
    "$object",
    "$date",
    "__proto__",
    "0",
    "\0",
  );
  return {
    value: fc.oneof(
      { depthSize: "small" },
      { weight: 4, arbitrary: small },
      { weight: 2, arbitrary: fc.array(value, size) },
      { weight: 2, arbitrary: fc.array(fc.tuple(name, value), size).map(objectOf) },
      {
        weight: 1,
        arbitrary: fc.array(fc.tuple(value, value), size).map((pairs) => new Map(pairs)),
      },
      { weight: 1, arbitrary: fc.array(value, size).map((members) => new Set(members)) },
    ),
  };
}).value;
