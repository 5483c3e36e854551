import { BIGINT_DECIMAL_DIGITS, BIGINT_HEX_DIGITS } from "../limits.ts";
import {
  charCodeAt,
  fromCharCodes,
  includesText,
  isWellFormed,
  lengthOf,
  methodOf,
  pattern,
  sliceText,
  testPattern,
} from "../platform.ts";
import { base64Length, fromBase64, unitsToBase64 } from "./base64.ts";
import type { Json, Row, Writer } from "./row.ts";

const bigintText = methodOf<(self: bigint, radix?: number) => string>(BigInt.prototype, "toString");
const asUintN = methodOf<(self: BigIntConstructor, bits: number, value: bigint) => bigint>(
  BigInt,
  "asUintN",
);
const parseBigint = BigInt;
const DECIMAL_BOUND = 10n ** BigInt(BIGINT_DECIMAL_DIGITS);
const DECIMAL = pattern(/^(?:0|-?[1-9][0-9]*)$/);
const HEX = pattern(/^-?[1-9a-f][0-9a-f]*$/);

/** SEAL-03: the numbers that JSON has no spelling for, or spells as another. */
export const numberRow: Row = {
  tag: "$num",
  check(payload, checker) {
    if (numberOf(payload) === undefined) checker.refuse("not one of NaN, Infinity, -Infinity, -0");
  },
  build: (payload) => numberOf(payload),
};

function numberOf(payload: Json): number | undefined {
  switch (payload) {
    case "NaN":
      return NaN;
    case "Infinity":
      return Infinity;
    case "-Infinity":
      return -Infinity;
    case "-0":
      return -0;
    default:
      return undefined;
  }
}

/** The spelling of a number that JSON can't carry. */
export function numberTag(value: number): Json {
  const spelled =
    value === 0 ? "-0" : value !== value ? "NaN" : value > 0 ? "Infinity" : "-Infinity";
  return { $num: spelled };
}

/** SEAL-04, up to 600 digits. */
export const bigintRow: Row = {
  tag: "$bigint",
  check(payload, checker) {
    const text = checker.text(payload);
    // Length first: the pattern and the conversion then work on a short text.
    if (text.length > BIGINT_DECIMAL_DIGITS + 1 || !testPattern(DECIMAL, text)) {
      checker.refuse("not a bigint in its decimal spelling");
    }
    if (magnitude(parseBigint(text)) >= DECIMAL_BOUND)
      checker.refuse("a bigint due in hexadecimal");
  },
  build: (payload) => parseBigint(payload as string),
};

/** SEAL-04, past 600 digits, where decimal conversion would cost more than linear time. */
export const bigintHexRow: Row = {
  tag: "$bigint16",
  check(payload, checker) {
    const text = checker.text(payload);
    if (text.length > BIGINT_HEX_DIGITS + 1 || !testPattern(HEX, text)) {
      checker.refuse("not a bigint in its hexadecimal spelling");
    }
    const value = parseHex(text);
    if (magnitude(value) < DECIMAL_BOUND) checker.refuse("a bigint due in decimal");
    if (asUintN(parseBigint, 4 * BIGINT_HEX_DIGITS, magnitude(value)) !== magnitude(value)) {
      checker.refuse("a bigint past the limit");
    }
  },
  build: (payload) => parseHex(payload as string),
};

function magnitude(value: bigint): bigint {
  return value < 0n ? -value : value;
}

function parseHex(text: string): bigint {
  const minus = charCodeAt(text, 0) === 45;
  return minus ? -parseBigint(`0x${sliceText(text, 1)}`) : parseBigint(`0x${text}`);
}

/** A bigint's tagged form; refused past 1 MiB of hex digits. */
export function bigintTag(value: bigint, writer: Writer): Json {
  const size = magnitude(value);
  if (size < DECIMAL_BOUND) {
    const decimal = bigintText(value);
    writer.spend(decimal.length + '{"$bigint":""}'.length);
    return { $bigint: decimal };
  }
  // A number of bits is compared without making a text of an unbounded number first.
  if (asUintN(parseBigint, 4 * BIGINT_HEX_DIGITS, size) !== size) {
    writer.refuse(
      `a bigint of more than ${BIGINT_HEX_DIGITS} hexadecimal digits`,
      "Keep such a number as bytes, outside the state",
    );
  }
  const text = bigintText(value, 16);
  writer.spend(text.length + '{"$bigint16":""}'.length);
  return { $bigint16: text };
}

/** SEAL-05. */
export const undefinedRow: Row = {
  tag: "$undefined",
  check(payload, checker) {
    if (payload !== true) checker.refuse("the payload of $undefined is true");
  },
  build: () => undefined,
};

/** SEAL-14: whether a string has to be kept as units, since some store would refuse or change it. */
export function needsUnits(text: string): boolean {
  return !isWellFormed(text) || includesText(text, "\0");
}

/** SEAL-14. */
export const unitsRow: Row = {
  tag: "$utf16",
  check(payload, checker) {
    const text = unitsOf(checker.text(payload));
    if (text === undefined) checker.refuse("not UTF-16 units in base64");
    else if (!needsUnits(text)) checker.refuse("a string due in its plain form");
  },
  build: (payload) => unitsOf(payload as string),
};

export function unitsTag(text: string, writer: Writer): Json {
  writer.spend(base64Length(text.length * 2) + '{"$utf16":""}'.length);
  return { $utf16: unitsToBase64(text) };
}

/** Arguments of one call: engines bound their number. */
const UNITS_AT_ONCE = 4096;
const unitsClass = Uint16Array;

export function unitsOf(payload: string): string | undefined {
  const bytes = fromBase64(payload);
  if (bytes === undefined) return undefined;
  const length = lengthOf(bytes);
  if (length % 2 !== 0) return undefined;
  let text = "";
  for (let from = 0; from < length; from += 2 * UNITS_AT_ONCE) {
    const rest = (length - from) / 2;
    const count = rest < UNITS_AT_ONCE ? rest : UNITS_AT_ONCE;
    const codes = new unitsClass(count);
    for (let i = 0; i < count; i++) {
      codes[i] = bytes[from + 2 * i]! | (bytes[from + 2 * i + 1]! << 8);
    }
    text += fromCharCodes(codes);
  }
  return text;
}

const isoText = methodOf<(self: Date) => string>(Date.prototype, "toISOString");
const timeOf = methodOf<(self: Date) => number>(Date.prototype, "getTime");
const dateClass = Date;
const ISO = pattern(/^(?:[+-]\d{6}|\d{4})-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);

/** SEAL-12. */
export const dateRow: Row = {
  tag: "$date",
  classes: ["Date"],
  encode(value, writer) {
    writer.bare(value, "a Date");
    const date = value as Date;
    if (timeOf(date) !== timeOf(date))
      writer.refuse("an invalid Date", "Leave it out, or use null");
    const text = isoText(date);
    writer.spend(text.length + 2);
    return text;
  },
  check(payload, checker) {
    const text = checker.text(payload);
    if (!testPattern(ISO, text)) checker.refuse("not a date with milliseconds in UTC");
    const date = new dateClass(text);
    // The runtime reads 30 February as 1 March: only its own spelling is taken.
    if (timeOf(date) !== timeOf(date) || isoText(date) !== text) checker.refuse("no such date");
  },
  build: (payload) => new dateClass(payload as string),
};
