/**
 * One pass over a text's bytes before it is parsed: bounds, and every spelling that the writer
 * never uses.
 *
 * It doesn't prove the grammar, the native parser does; it proves that what parses was spelled in
 * the one way: no white space, numbers and escapes as ECMAScript prints them. Linear, and without
 * recursion, whatever the text. Bytes rather than characters: reading an element of a byte array
 * is nobody's method, and takes half the time.
 */
import { fromUtf8, includesText, indexOfText, sliceText, subarray, toNumber } from "../platform.ts";
import type { Limits } from "../limits.ts";

export type Scan =
  | {
      readonly status: "plain-spelling";
      /** Members of all objects, repeated names included: the parsed tree has fewer if one repeats. */
      readonly members: number;
      /** Names that the native parser reads wrong, or with too much memory: see `parse.ts`. */
      readonly byHand: boolean;
    }
  | { readonly status: "refused"; readonly at: number; readonly reason: string };

const QUOTE = 34;
const BACKSLASH = 92;
/** The longest number that ECMAScript prints: sign, 17 digits, point, zeros or exponent. */
const NUMBER_CHARS_MAX = 25;
const SMALL_INTEGER_DIGITS = 15;
/** Objects iterate the names below this first, and ascending; it has ten digits. */
const INDEX_END = 4_294_967_295;
const INDEX_DIGITS_MAX = 10;
/** Past this many bytes of a string its end is searched for natively, where bytes are characters. */
const LOOKED_AT_BYTES = 48;
/** For each name of one or two digits the native parser may take 350 bytes. */
const SHORT_INDEX_NAMES_MAX = 32_768;

/** Scans a well-formed text, given with its bytes, the first `length` of a list; `at` of a refusal counts bytes. */
export function scan(text: string, bytes: Uint8Array, length: number, limits: Limits): Scan {
  const ascii = text.length === length;
  // Without an escape, and with a byte a character, a string ends at the next quote.
  const plain = ascii && !includesText(text, "\\");
  let depth = 0;
  let values = 0;
  let brackets = 0;
  let members = 0;
  // By depth, the index that the object's last name was. Kept from the first index of all on.
  const lastIndex: number[] = [];
  let shortIndexNames = 0;
  let escapedNames = false;
  let i = 0;
  while (i < length) {
    const code = bytes[i]!;
    if (code === QUOTE) {
      const start = i;
      i = plain ? indexOfText(text, '"', i + 1) : closingQuote(text, bytes, i + 1, length);
      if (i < 0) {
        // No quote at all: the parser refuses what is open.
        if (plain) break;
        return refused(start, "an escape in another spelling");
      }
      i++;
      if (bytes[i] === 58) {
        members++;
        i++;
        const index = indexAt(bytes, start + 1, i - 2);
        // One that is given twice is left to the count of members.
        if (index >= 0 && bytes[start - 1] !== 123 && !(lastIndex[depth]! <= index)) {
          return refused(i, "names in an order that no object has");
        }
        if (index >= 0 && i - start <= '"34":'.length) shortIndexNames++;
        if (index >= 0 || lastIndex.length > 0) lastIndex[depth] = index < 0 ? INDEX_END : index;
        if (!plain && !escapedNames) escapedNames = hasEscape(bytes, start, i);
      } else values++;
    } else if (code === 44) i++;
    else if (code === 123 || code === 91) {
      if (++depth > limits.depth) return refused(i, `nesting deeper than ${limits.depth}`);
      if (++brackets > limits.brackets) {
        return refused(i, `more than ${limits.brackets} lists and objects`);
      }
      values++;
      i++;
    } else if (code === 125 || code === 93) {
      // More closed than opened: the parser refuses it.
      if (--depth < 0) break;
      i++;
    } else if (code === 45 || (code >= 48 && code <= 57)) {
      const end = numberEnd(bytes, i + 1, length);
      if (!isPrintedNumber(text, bytes, i, end, ascii))
        return refused(i, "a number in another spelling");
      values++;
      i = end;
    } else {
      // `true`, `false`, `null`: what else stands here the parser refuses, but for white space.
      if (!isLetter(code)) return refused(i, "a character that is not due");
      values++;
      i++;
      while (i < length && isLetter(bytes[i]!)) i++;
    }
    if (values > limits.nodes) return refused(i, `more than ${limits.nodes} values`);
  }
  const byHand = escapedNames || shortIndexNames > SHORT_INDEX_NAMES_MAX;
  return { status: "plain-spelling", members, byHand };
}

/** The index that a name between two places spells, or -1 where it is none. */
function indexAt(bytes: Uint8Array, start: number, end: number): number {
  const first = bytes[start]!;
  if (first < 48 || first > 57 || end - start > INDEX_DIGITS_MAX) return -1;
  if (first === 48 && end - start > 1) return -1;
  let index = 0;
  for (let i = start; i < end; i++) {
    const digit = bytes[i]! - 48;
    if (digit < 0 || digit > 9) return -1;
    index = 10 * index + digit;
  }
  return index < INDEX_END ? index : -1;
}

function refused(at: number, reason: string): Scan {
  return { status: "refused", at, reason };
}

function hasEscape(bytes: Uint8Array, from: number, end: number): boolean {
  for (let i = from; i < end; i++) if (bytes[i] === BACKSLASH) return true;
  return false;
}

function isLetter(code: number): boolean {
  return code >= 97 && code <= 122;
}

/** The place of the quote that ends a string, or the length; -1 where an escape is not of ours. */
function closingQuote(text: string, bytes: Uint8Array, from: number, length: number): number {
  let look = text.length === length ? from + LOOKED_AT_BYTES : length;
  let at = from;
  for (;;) {
    const stop = look < length ? look : length;
    while (at < stop) {
      const code = bytes[at]!;
      if (code === QUOTE) return at;
      if (code === BACKSLASH) {
        const escape = escapeLength(bytes, at);
        if (escape === 0) return -1;
        at += escape;
      } else at++;
    }
    if (at >= length) return length;
    // Prose: long stretches without a quote or an escape. Where there are many, back off.
    const quote = indexOfText(text, '"', at);
    if (quote < 0) return length;
    const escape = indexOfText(sliceText(text, at, quote), "\\");
    at = escape < 0 ? quote : at + escape;
    look = at + 8 * LOOKED_AT_BYTES;
  }
}

/** Characters of the escape at a place, or 0 where the writer would spell it otherwise. */
function escapeLength(bytes: Uint8Array, at: number): number {
  switch (bytes[at + 1]) {
    case QUOTE:
    case BACKSLASH:
    case 98: // b
    case 102: // f
    case 110: // n
    case 114: // r
    case 116: // t
      return 2;
    case 117: // u
      return isEscapedControl(bytes, at + 2) ? 6 : 0;
    default:
      return 0;
  }
}

/** `00` and the two hex digits of a control without a short escape; NUL and surrogates are tagged. */
function isEscapedControl(bytes: Uint8Array, at: number): boolean {
  if (bytes[at] !== 48 || bytes[at + 1] !== 48) return false;
  const high = bytes[at + 2];
  const low = bytes[at + 3]!;
  const digit = low >= 48 && low <= 57;
  if (high === 49) return digit || (low >= 97 && low <= 102);
  // 00 is NUL, 08 09 0a 0c 0d have short escapes; 0b, 0e, 0f have none.
  return high === 48 && ((low >= 49 && low <= 55) || low === 98 || low === 101 || low === 102);
}

function numberEnd(bytes: Uint8Array, from: number, length: number): number {
  let end = from;
  while (end < length) {
    const code = bytes[end]!;
    const digit = code >= 48 && code <= 57;
    if (!digit && code !== 46 && code !== 45 && code !== 43 && code !== 101) break;
    end++;
  }
  return end;
}

function isPrintedNumber(
  text: string,
  bytes: Uint8Array,
  start: number,
  end: number,
  ascii: boolean,
): boolean {
  if (end - start > NUMBER_CHARS_MAX) return false;
  if (end - start <= SMALL_INTEGER_DIGITS && isDigits(bytes, start, end)) {
    return bytes[start] !== 48 || end === start + 1;
  }
  const token = ascii ? sliceText(text, start, end) : fromUtf8(subarray(bytes, start, end));
  return `${toNumber(token)}` === token;
}

function isDigits(bytes: Uint8Array, start: number, end: number): boolean {
  for (let i = start; i < end; i++) {
    const code = bytes[i]!;
    if (code < 48 || code > 57) return false;
  }
  return true;
}
