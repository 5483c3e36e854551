/**
 * One pass over a text before it is parsed: bounds, and every spelling that the writer never uses.
 *
 * It doesn't prove the grammar, the native parser does; it proves that what parses was spelled in
 * the one way: no white space, numbers and escapes as ECMAScript prints them. Linear, and without
 * recursion, whatever the text.
 */
import { charCodeAt, indexOfText, isWellFormed, sliceText, testPattern } from "../platform.ts";
import type { Limits } from "../limits.ts";

export type Scan =
  | {
      readonly status: "plain-spelling";
      /** Members of all objects, repeated names included: the parsed tree has fewer if one repeats. */
      readonly members: number;
      /** A name begins with a digit, so that its place among the names may not be its own. */
      readonly indexNames: boolean;
    }
  | { readonly status: "refused"; readonly at: number; readonly reason: string };

const QUOTE = 34;
const BACKSLASH = 92;
const ESCAPED_CONTROL = /^00(?:0[1-7be]|0f|1[0-9a-f])$/;
/** The longest number that ECMAScript prints: sign, 17 digits, point, zeros or exponent. */
const NUMBER_CHARS_MAX = 25;
const SMALL_INTEGER_DIGITS = 15;

export function scan(text: string, limits: Limits): Scan {
  if (!isWellFormed(text)) return refused(0, "an unpaired surrogate");
  const { length } = text;
  let depth = 0;
  let values = 0;
  let members = 0;
  let indexNames = false;
  let nextEscape = nextBackslash(text, 0);
  let i = 0;
  while (i < length) {
    const code = charCodeAt(text, i);
    if (code === QUOTE) {
      const start = i;
      i = closingQuote(text, i + 1, nextEscape);
      if (nextEscape < i) {
        const bad = badEscape(text, nextEscape, i);
        if (bad >= 0) return refused(bad, "an escape in another spelling");
        nextEscape = nextBackslash(text, i);
      }
      i++;
      if (charCodeAt(text, i) === 58) {
        members++;
        i++;
        const first = charCodeAt(text, start + 1);
        if (first >= 48 && first <= 57) indexNames = true;
      } else values++;
    } else if (code === 44) i++;
    else if (code === 123 || code === 91) {
      if (++depth > limits.depth) return refused(i, `nesting deeper than ${limits.depth}`);
      values++;
      i++;
    } else if (code === 125 || code === 93) {
      depth--;
      i++;
    } else if (code === 45 || (code >= 48 && code <= 57)) {
      const end = numberEnd(text, i + 1);
      if (!isPrintedNumber(text, i, end)) return refused(i, "a number in another spelling");
      values++;
      i = end;
    } else {
      // `true`, `false`, `null`: what else stands here the parser refuses, but for white space.
      if (code < 97 || code > 122) return refused(i, "a character that is not due");
      values++;
      i++;
      while (i < length && charCodeAt(text, i) >= 97 && charCodeAt(text, i) <= 122) i++;
    }
    if (values > limits.nodes) return refused(i, `more than ${limits.nodes} values`);
  }
  return { status: "plain-spelling", members, indexNames };
}

function refused(at: number, reason: string): Scan {
  return { status: "refused", at, reason };
}

function nextBackslash(text: string, from: number): number {
  const at = indexOfText(text, "\\", from);
  return at < 0 ? text.length : at;
}

/** The place of the quote that ends a string, or the text's length. */
function closingQuote(text: string, from: number, escape: number): number {
  let at = indexOfText(text, '"', from);
  if (at < 0) return text.length;
  if (at < escape) return at;
  // Escapes: step over each, so that an escaped quote is not taken for the end.
  at = escape;
  while (at < text.length) {
    const code = charCodeAt(text, at);
    if (code === QUOTE) return at;
    at += code === BACKSLASH ? 2 : 1;
  }
  return text.length;
}

/** The place of the first escape that the writer would spell otherwise, or -1. */
function badEscape(text: string, from: number, end: number): number {
  for (let i = from; i < end; i++) {
    if (charCodeAt(text, i) !== BACKSLASH) continue;
    const code = charCodeAt(text, i + 1);
    if (code === 117) {
      // The short escapes have no other spelling, NUL and surrogates are tagged (SEAL-14).
      if (!testPattern(ESCAPED_CONTROL, sliceText(text, i + 2, i + 6))) return i;
    } else if (indexOfText('"\\bfnrt', sliceText(text, i + 1, i + 2)) < 0) return i;
    i++;
  }
  return -1;
}

function numberEnd(text: string, from: number): number {
  let end = from;
  while (end < text.length) {
    const code = charCodeAt(text, end);
    const within =
      (code >= 48 && code <= 57) || code === 46 || code === 45 || code === 43 || code === 101;
    if (!within) break;
    end++;
  }
  return end;
}

function isPrintedNumber(text: string, start: number, end: number): boolean {
  if (end - start > NUMBER_CHARS_MAX) return false;
  if (end - start <= SMALL_INTEGER_DIGITS && isDigits(text, start, end)) {
    return charCodeAt(text, start) !== 48 || end === start + 1;
  }
  const token = sliceText(text, start, end);
  return String(Number(token)) === token;
}

function isDigits(text: string, start: number, end: number): boolean {
  for (let i = start; i < end; i++) {
    const code = charCodeAt(text, i);
    if (code < 48 || code > 57) return false;
  }
  return true;
}
