import { describe, expect, it, vi } from "vitest";

import {
  canonicalize,
  createSealer,
  decode,
  encode,
  type TemporalClass,
  type TemporalNamespace,
} from "../src/index.ts";
import { describeValue } from "./describe-value.ts";
import { readIndependently } from "./independent-reader.ts";
import { refusal } from "./refusal.ts";
import { vectors } from "./vectors.ts";

interface Value {
  equals?(other: unknown): boolean;
  toString(): string;
  readonly epochNanoseconds: bigint;
}
interface Made extends TemporalClass {
  new (...parts: unknown[]): Value;
  from(item: unknown, options?: object): Value;
}
type Space = { readonly [Name in keyof TemporalNamespace]: Made };
const { Temporal } = globalThis as unknown as { Temporal: Space };

const ROWS: readonly (readonly [title: string, value: () => Value, text: string])[] = [
  [
    "an Instant to the nanosecond",
    () => Temporal.Instant.from("2026-01-02T03:04:05.123456789Z"),
    '{"$instant":"2026-01-02T03:04:05.123456789Z"}',
  ],
  [
    "an Instant before 1970",
    () => new Temporal.Instant(-(864n * 10n ** 19n)),
    '{"$instant":"-271821-04-20T00:00:00Z"}',
  ],
  [
    "a ZonedDateTime by instant, zone and calendar",
    () => Temporal.ZonedDateTime.from("2026-10-25T02:30[Europe/Berlin][u-ca=hebrew]"),
    '{"$zoned":["2026-10-25T00:30:00Z","Europe/Berlin","hebrew"]}',
  ],
  [
    "a ZonedDateTime with an offset for a zone",
    () => Temporal.ZonedDateTime.from("2026-01-01T00:00+05:30[+05:30]"),
    '{"$zoned":["2025-12-31T18:30:00Z","+05:30","iso8601"]}',
  ],
  ["a PlainDate", () => Temporal.PlainDate.from("2026-02-03"), '{"$plaindate":"2026-02-03"}'],
  [
    "a PlainDate of another calendar",
    () => Temporal.PlainDate.from("2026-02-03[u-ca=japanese]"),
    '{"$plaindate":"2026-02-03[u-ca=japanese]"}',
  ],
  [
    "a PlainTime",
    () => Temporal.PlainTime.from("01:02:03.000000004"),
    '{"$plaintime":"01:02:03.000000004"}',
  ],
  [
    "a PlainDateTime",
    () => Temporal.PlainDateTime.from("2026-02-03T04:05:06.7"),
    '{"$plaindatetime":"2026-02-03T04:05:06.7"}',
  ],
  [
    "a PlainYearMonth with its hidden day",
    () => Temporal.PlainYearMonth.from("2026-02"),
    '{"$yearmonth":"2026-02-01[u-ca=iso8601]"}',
  ],
  [
    "a PlainYearMonth of another reference day",
    () => new Temporal.PlainYearMonth(2026, 2, "iso8601", 7),
    '{"$yearmonth":"2026-02-07[u-ca=iso8601]"}',
  ],
  [
    "a PlainMonthDay with its hidden year",
    () => Temporal.PlainMonthDay.from("02-29"),
    '{"$monthday":"1972-02-29[u-ca=iso8601]"}',
  ],
  [
    "a PlainMonthDay of another reference year",
    () => new Temporal.PlainMonthDay(2, 3, "iso8601", 2000),
    '{"$monthday":"2000-02-03[u-ca=iso8601]"}',
  ],
  [
    "a Duration by its own units",
    () => Temporal.Duration.from({ hours: 1, minutes: 90, milliseconds: 1500 }),
    '{"$duration":{"hours":1,"minutes":90,"milliseconds":1500}}',
  ],
  [
    "a negative Duration",
    () => Temporal.Duration.from({ days: -1, nanoseconds: -5 }),
    '{"$duration":{"days":-1,"nanoseconds":-5}}',
  ],
  ["an empty Duration", () => new Temporal.Duration(), '{"$duration":{}}'],
];

describe("Temporal", () => {
  it.each(ROWS)("SEAL-13 keeps %s", (_, make, text) => {
    const value = make();
    expect(encode([value])).toBe(`[${text}]`);
    const back = decode(text) as Value;
    expect(Object.getPrototypeOf(back)).toBe(Object.getPrototypeOf(value));
    expect(back.equals?.(value) ?? true).toBe(true);
    expect(describeValue(back)).toBe(describeValue(value));
    expect(encode(back)).toBe(text);
    expect(canonicalize(new Set([back]))).toContain("$set");
  });

  it.each(ROWS.filter(([, , text]) => !/monthday":"2000|yearmonth":"2026-02-07/.test(text)))(
    "SEAL-13 writes %s such that another reader has it",
    (_, make, text) => {
      expect(describeValue(readIndependently(text))).toBe(describeValue(make()));
    },
  );

  interface Local {
    readonly id: string;
    readonly zone: string;
    readonly local: string;
    readonly kind: string;
  }
  it.each(vectors<Local>("own/local_times.jsonl"))(
    "SEAL-13 SEAL-50 vector $id keeps both readings of $local in $zone ($kind) apart",
    ({ zone, local, kind }) => {
      const readings = (["earlier", "later"] as const).map((disambiguation) =>
        Temporal.ZonedDateTime.from(`${local}[${zone}]`, { disambiguation }),
      );
      const texts = readings.map((reading) => encode(reading));
      expect(texts[0] === texts[1]).toBe(kind === "plain");
      for (const [i, text] of texts.entries()) {
        const back = decode(text) as Value;
        expect(back.epochNanoseconds).toBe(readings[i]!.epochNanoseconds);
        expect(back.toString()).toBe(readings[i]!.toString());
      }
    },
  );

  it("SEAL-13 SEAL-24 refuses other spellings, impossible dates and unknown zones", () => {
    const texts = [
      '{"$instant":"2026-01-02T03:04:05+00:00"}',
      '{"$instant":"2026-01-02T03:04:05.100Z"}',
      '{"$instant":"2026-01-02"}',
      '{"$instant":1}',
      `{"$instant":"${"2".repeat(500)}"}`,
      '{"$zoned":["2026-01-01T00:00:00Z","europe/berlin","iso8601"]}',
      '{"$zoned":["2026-01-01T00:00:00Z","Mars/Phobos","iso8601"]}',
      '{"$zoned":["2026-01-01T00:00:00Z","UTC","x"]}',
      '{"$zoned":["2026-01-01T00:00:00Z","UTC"]}',
      '{"$zoned":[1,"UTC","iso8601"]}',
      '{"$zoned":"x"}',
      '{"$zoned":{"a":1,"b":2,"c":3}}',
      '{"$plaindate":"2026-02-30"}',
      '{"$plaindate":"2026-02-03[u-ca=iso8601]"}',
      '{"$plaindate":"2026-02-03T00:00"}',
      '{"$plaintime":"24:00:00"}',
      '{"$plaintime":"01:02"}',
      '{"$plaindatetime":"2026-02-03"}',
      '{"$plaindatetime":null}',
      '{"$yearmonth":"2026-02"}',
      '{"$yearmonth":"2026-13-01[u-ca=iso8601]"}',
      '{"$yearmonth":1}',
      '{"$monthday":"--02-29"}',
      '{"$monthday":"1971-02-29[u-ca=iso8601]"}',
      '{"$monthday":["1972-02-29[u-ca=iso8601]"]}',
      '{"$duration":{"hours":0}}',
      '{"$duration":{"minutes":1,"hours":1}}',
      '{"$duration":{"hours":1,"minutes":-1}}',
      '{"$duration":{"hours":1.5}}',
      '{"$duration":{"hour":1}}',
      '{"$duration":"PT1H"}',
      '{"$duration":[]}',
      '{"$duration":null}',
      '{"$duration":{"hours":"1"}}',
      '{"$duration":{"hours":1,"extra":1}}',
      '{"$duration":{"hours":true}}',
      '{"$duration":{"hours":{"$num":"NaN"}}}',
    ];
    for (const text of texts) {
      const error = refusal(() => decode(`{"a":${text}}`));
      expect([text, error.code, error.found]).toEqual([
        text,
        "seal-malformed",
        expect.stringMatching(/^not a Temporal\./),
      ]);
      expect(error.path).toMatch(/^a\.\$/);
    }
    expect(refusal(() => decode('{"$duration":{"hours":1,"hours":1}}')).found).toBe(
      "a name given twice",
    );
  });

  it("SEAL-13 refuses extra properties and nests within the limit", () => {
    expect(refusal(() => encode(Object.assign(new Temporal.Duration(), { x: 1 }))).found).toBe(
      "a Temporal.Duration with extra properties",
    );
    const sealer = createSealer({ limits: { depth: 1 } });
    expect(sealer.encode(Temporal.PlainTime.from("01:02:03"))).toContain("$plaintime");
    expect(refusal(() => sealer.encode(new Temporal.Duration())).found).toMatch(/deeper/);
    const four = createSealer({ limits: { nodes: 4 } });
    const duration = Temporal.Duration.from({ hours: 1, minutes: 2 });
    expect(four.decode(four.encode(duration))).toEqual(duration);
    expect(refusal(() => createSealer({ limits: { nodes: 3 } }).encode(duration)).found).toMatch(
      /values/,
    );
  });

  it("SEAL-13 refuses by name where there is no Temporal, and uses one that is given", async () => {
    vi.stubGlobal("Temporal", undefined);
    vi.resetModules();
    const { createSealer: create, decode: bare, encode: write } = await import("../src/index.ts");
    const error = refusal(() => bare('[{"$instant":"2026-01-02T03:04:05Z"}]'));
    expect([error.code, error.path, error.found]).toEqual([
      "temporal-missing",
      "[0].$instant",
      "no Temporal to read it with",
    ]);
    expect(refusal(() => bare('[{"$instants":"x"}]')).code).toBe("seal-malformed");
    const value = Temporal.Instant.from("2026-01-02T03:04:05Z");
    expect(refusal(() => write(value)).code).toBe("state-not-sealable");
    const given = create({ temporal: Temporal });
    expect(given.encode(given.decode(given.encode(value)))).toBe(encode(value));
    vi.unstubAllGlobals();
  });
});
