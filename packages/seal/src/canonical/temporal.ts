import {
  getDescriptor,
  isArray,
  jsonStringify,
  methodOf,
  objectKeys,
  pattern,
  slotGetter,
  testPattern,
  toNumber,
} from "../platform.ts";
import type { Checker, Json, Row } from "./row.ts";

/**
 * Temporal values (SEAL-13). Each kind has one text, in full precision, with its calendar. A
 * ZonedDateTime is its instant, zone and calendar: the instant tells the two readings of a
 * repeated hour apart, and no later change of a zone's rules makes the text unreadable.
 *
 * Checking reads with the Temporal at hand, since it alone knows its calendars and zones, and
 * takes only what it would write again in the same way.
 */
export interface TemporalNamespace {
  readonly Instant: TemporalClass;
  readonly ZonedDateTime: TemporalClass;
  readonly PlainDate: TemporalClass;
  readonly PlainTime: TemporalClass;
  readonly PlainDateTime: TemporalClass;
  readonly PlainYearMonth: TemporalClass;
  readonly PlainMonthDay: TemporalClass;
  readonly Duration: TemporalClass;
}

export interface TemporalClass extends Function {
  readonly prototype: object;
  from(item: unknown): object;
}

/** Texts longer than any that Temporal prints are not handed to its parser. */
const TEXT_CHARS_MAX = 128;

const KINDS: readonly (readonly [tag: string, name: keyof TemporalNamespace])[] = [
  ["$instant", "Instant"],
  ["$zoned", "ZonedDateTime"],
  ["$plaindate", "PlainDate"],
  ["$plaintime", "PlainTime"],
  ["$plaindatetime", "PlainDateTime"],
  ["$yearmonth", "PlainYearMonth"],
  ["$monthday", "PlainMonthDay"],
  ["$duration", "Duration"],
];

export const TEMPORAL_TAGS: ReadonlySet<string> = new Set(KINDS.map(([tag]) => tag));

/** The rows for one namespace: the runtime's, or a polyfill's. */
export function temporalRows(temporal: TemporalNamespace): { row: Row; prototype: object }[] {
  return KINDS.map(([tag, name]) => {
    const made = temporal[name];
    const form = formOf(temporal, name);
    return { prototype: made.prototype, row: temporalRow(tag, name, form) };
  });
}

interface Form {
  write(value: object): string | Json[] | { [unit: string]: Json };
  /** The value of a payload of the right shape; throws or gives undefined for any other. */
  read(payload: Json): object | undefined;
}

function temporalRow(tag: string, name: string, form: Form): Row {
  return {
    tag,
    encode(value, writer, depth) {
      writer.bare(value, `a Temporal.${name}`);
      const payload = form.write(value);
      if (typeof payload === "string") writer.spend(payload.length + 2);
      else {
        writer.nest(depth);
        writer.spend(8, objectKeys(payload).length, 1);
      }
      return payload;
    },
    check(payload, checker) {
      if (readOrUndefined(payload, form, checker) === undefined) {
        checker.refuse(`not a Temporal.${name} as it is written`);
      }
    },
    build: (payload) => form.read(payload),
  };
}

function readOrUndefined(payload: Json, form: Form, checker: Checker): object | undefined {
  // Parts are plain JSON; counting them here keeps repeated names from going unseen.
  if (typeof payload === "object") checker.part(payload, 0);
  try {
    const value = form.read(payload);
    if (value === undefined) return undefined;
    return jsonStringify(form.write(value)) === jsonStringify(payload) ? value : undefined;
  } catch {
    return undefined;
  }
}

function formOf(temporal: TemporalNamespace, name: keyof TemporalNamespace): Form {
  switch (name) {
    case "Instant":
    case "PlainDate":
    case "PlainTime":
    case "PlainDateTime":
      return textForm(temporal[name]);
    case "ZonedDateTime":
      return zonedForm(temporal);
    case "PlainYearMonth":
      return partialForm(temporal[name], (year, month, day, calendar) => [
        year,
        month,
        calendar,
        day,
      ]);
    case "PlainMonthDay":
      return partialForm(temporal[name], (year, month, day, calendar) => [
        month,
        day,
        calendar,
        year,
      ]);
    case "Duration":
      return durationForm(temporal[name]);
  }
}

const { construct } = Reflect;

function textMethod(made: TemporalClass): (value: object, options?: object) => string {
  return methodOf(made.prototype, "toString");
}

function textForm(made: TemporalClass): Form {
  const write = textMethod(made);
  const from = methodOf<(self: TemporalClass, text: string) => object>(made, "from");
  return {
    write: (value) => write(value),
    read: (payload) => (isShortText(payload) ? from(made, payload) : undefined),
  };
}

function isShortText(payload: Json): payload is string {
  return typeof payload === "string" && payload.length <= TEXT_CHARS_MAX;
}

function zonedForm(temporal: TemporalNamespace): Form {
  const zonedClass = temporal.ZonedDateTime;
  const { prototype } = zonedClass;
  const toInstant = methodOf<(self: object) => object>(prototype, "toInstant");
  const zone = slotGetter(prototype, "timeZoneId") as (value: object) => string;
  const calendar = slotGetter(prototype, "calendarId") as (value: object) => string;
  const instantText = textMethod(temporal.Instant);
  const nanoseconds = slotGetter(temporal.Instant.prototype, "epochNanoseconds")!;
  const instantFrom = methodOf<(self: TemporalClass, text: string) => object>(
    temporal.Instant,
    "from",
  );
  return {
    write: (value) => [instantText(toInstant(value)), zone(value), calendar(value)],
    read(payload) {
      if (!isArray(payload) || payload.length !== 3) return undefined;
      const text = payload[0]!;
      const zoneId = payload[1]!;
      const calendarId = payload[2]!;
      if (!isShortText(text) || !isShortText(zoneId) || !isShortText(calendarId)) return undefined;
      const instant = nanoseconds(instantFrom(temporal.Instant, text));
      return construct(zonedClass, [instant, zoneId, calendarId]) as object;
    },
  };
}

const FULL_DATE = pattern(/^([+-]\d{6}|\d{4})-(\d\d)-(\d\d)\[u-ca=([a-z0-9-]+)\]$/);

/** Kinds that hide part of their date: it is written whole, so that equality is kept. */
function partialForm(
  made: TemporalClass,
  order: (year: number, month: number, day: number, calendar: string) => unknown[],
): Form {
  const text = textMethod(made);
  return {
    write: (value) => text(value, { calendarName: "always" }),
    read(payload) {
      if (!isShortText(payload) || !testPattern(FULL_DATE, payload)) return undefined;
      const parts = FULL_DATE.exec(payload) as RegExpExecArray;
      const year = toNumber(parts[1]!);
      return construct(
        made,
        order(year, toNumber(parts[2]!), toNumber(parts[3]!), parts[4]!),
      ) as object;
    },
  };
}

const UNITS = [
  "years",
  "months",
  "weeks",
  "days",
  "hours",
  "minutes",
  "seconds",
  "milliseconds",
  "microseconds",
  "nanoseconds",
] as const;

/** A duration keeps its units as they are: its ISO text would fold 1,500 ms into 1.5 s. */
function durationForm(made: TemporalClass): Form {
  const getters = UNITS.map(
    (unit) => slotGetter(made.prototype, unit) as (value: object) => number,
  );
  return {
    write(value) {
      const parts: { [key: string]: Json } = {};
      for (let i = 0; i < UNITS.length; i++) {
        const amount = getters[i]!(value);
        if (amount !== 0) parts[UNITS[i]!] = amount;
      }
      return parts;
    },
    read(payload) {
      if (typeof payload !== "object" || payload === null || isArray(payload)) return undefined;
      const amounts: unknown[] = [];
      for (let i = 0; i < UNITS.length; i++) {
        amounts[i] = getDescriptor(payload, UNITS[i]!)?.value ?? 0;
      }
      return construct(made, amounts) as object;
    },
  };
}
