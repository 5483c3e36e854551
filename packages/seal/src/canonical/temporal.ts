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

/** What a kind is written by: given its class, and the namespace for what it is made of. */
type FormOf = (made: TemporalClass, temporal: TemporalNamespace) => Form;

const KINDS: readonly (readonly [tag: string, name: keyof TemporalNamespace, form: FormOf])[] = [
  ["$instant", "Instant", textForm],
  ["$zoned", "ZonedDateTime", zonedForm],
  ["$plaindate", "PlainDate", textForm],
  ["$plaintime", "PlainTime", textForm],
  ["$plaindatetime", "PlainDateTime", textForm],
  ["$yearmonth", "PlainYearMonth", partialForm((year, month, day, of) => [year, month, of, day])],
  ["$monthday", "PlainMonthDay", partialForm((year, month, day, of) => [month, day, of, year])],
  ["$duration", "Duration", durationForm],
];

export const TEMPORAL_TAGS: ReadonlySet<string> = new Set(KINDS.map(([tag]) => tag));

/** The rows for one namespace: the runtime's, or a polyfill's. */
export function temporalRows(temporal: TemporalNamespace): { row: Row; prototype: object }[] {
  return KINDS.map(([tag, name, form]) => {
    const made = temporal[name];
    return { prototype: made.prototype, row: temporalRow(tag, name, form(made, temporal)) };
  });
}

interface Form<Text = string | Json[] | { [unit: string]: Json }> {
  write(value: object): Text;
  /** The value of a payload of the right shape; throws, gives undefined or what is written otherwise for any other. */
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
        const parts = objectKeys(payload).length;
        writer.spend(1 + 3 * parts, parts, 1);
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

const { construct } = Reflect;

function textMethod(made: TemporalClass): (value: object, options?: object) => string {
  return methodOf(made.prototype, "toString");
}

function textForm(made: TemporalClass): Form<string> {
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

function zonedForm(made: TemporalClass, { Instant }: TemporalNamespace): Form {
  const { prototype } = made;
  const toInstant = methodOf<(self: object) => object>(prototype, "toInstant");
  const zone = slotGetter(prototype, "timeZoneId") as (value: object) => string;
  const calendar = slotGetter(prototype, "calendarId") as (value: object) => string;
  const instants = textForm(Instant);
  const nanoseconds = slotGetter(Instant.prototype, "epochNanoseconds")!;
  return {
    write: (value) => [instants.write(toInstant(value)), zone(value), calendar(value)],
    read(payload) {
      if (!isArray(payload)) return undefined;
      const instant = instants.read(payload[0]!);
      const zoneId = payload[1]!;
      const calendarId = payload[2]!;
      if (instant === undefined || !isShortText(zoneId) || !isShortText(calendarId))
        return undefined;
      return construct(made, [nanoseconds(instant), zoneId, calendarId]) as object;
    },
  };
}

const FULL_DATE = pattern(/^([+-]\d{6}|\d{4})-(\d\d)-(\d\d)\[u-ca=([a-z0-9-]+)\]$/);

/** Kinds that hide part of their date: it is written whole, so that equality is kept. */
function partialForm(
  order: (year: number, month: number, day: number, calendar: string) => unknown[],
): FormOf {
  return (made) => {
    const text = textMethod(made);
    return {
      write: (value) => text(value, { calendarName: "always" }),
      read(payload) {
        if (!isShortText(payload) || !testPattern(FULL_DATE, payload)) return undefined;
        const parts = FULL_DATE.exec(payload) as RegExpExecArray;
        const year = toNumber(parts[1]!);
        const fields = order(year, toNumber(parts[2]!), toNumber(parts[3]!), parts[4]!);
        return construct(made, fields) as object;
      },
    };
  };
}

/** Largest first. */
const UNITS =
  "years months weeks days hours minutes seconds milliseconds microseconds nanoseconds".split(" ");

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
      const amounts: unknown[] = [];
      for (let i = 0; i < UNITS.length; i++) {
        amounts[i] = getDescriptor(payload as object, UNITS[i]!)?.value ?? 0;
      }
      return construct(made, amounts) as object;
    },
  };
}
