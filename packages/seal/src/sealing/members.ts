import { charCodeAt, createObject, indexOfText, jsonParse, sliceText } from "../platform.ts";

/** What follows the body in an envelope that nobody re-ordered: `,"mac":"` with 43 characters, `"}`. */
const TAIL_START = ',"mac":"';
const TAIL_CHARS = TAIL_START.length + 43 + 2;

/**
 * The members of a flat JSON object, however it is spaced and ordered; undefined for any other
 * text, and for one that names a member twice. No nesting is followed, so the cost is one pass.
 */
export function readMembers(
  text: string,
  charsMax: number,
): Readonly<Record<string, unknown>> | undefined {
  if (text.length > charsMax) return undefined;
  const members = createObject(null);
  let at = skipSpace(text, 0);
  if (charCodeAt(text, at) !== 123) return undefined;
  at = skipSpace(text, at + 1);
  for (;;) {
    const name = readString(text, at);
    if (name === undefined || name.value in members) return undefined;
    at = skipSpace(text, name.end);
    if (charCodeAt(text, at) !== 58) return undefined;
    at = skipSpace(text, at + 1);
    const member = name.value === "body" ? readBody(text, at) : readMember(text, at);
    if (member === undefined) return undefined;
    members[name.value] = member.value;
    at = skipSpace(text, member.end);
    const next = charCodeAt(text, at);
    if (next === 125) break;
    if (next !== 44) return undefined;
    at = skipSpace(text, at + 1);
  }
  return skipSpace(text, at + 1) === text.length ? members : undefined;
}

/** Where the members of an envelope stand that is as the writer writes it. */
export interface Places {
  readonly kid: string;
  /** The header's text, brackets included. */
  readonly own: string;
  readonly body: Span;
  readonly mac: string;
}

interface Span {
  readonly start: number;
  readonly end: number;
}

const BODY_START = ',"body":';

/**
 * The places of an envelope with a plain body and this purpose, found without a look at what lies between; undefined where one of them
 * is not where the writer puts it. What is found is a guess, which the MAC proves.
 */
export function placesOf(text: string, purpose: string, charsMax: number): Places | undefined {
  const head = `{"v":1,"purpose":"${purpose}","kid":"`;
  const tail = text.length - TAIL_CHARS;
  if (text.length > charsMax) return undefined;
  if (sliceText(text, 0, head.length) !== head) return undefined;
  if (sliceText(text, tail, tail + TAIL_START.length) !== TAIL_START) return undefined;
  if (sliceText(text, text.length - 2) !== '"}') return undefined;
  const kidEnd = indexOfText(text, '"', head.length);
  const members = kidEnd + 1;
  // No string holds this: its first quote would end it.
  const start = indexOfText(text, BODY_START, members);
  if (start < members) return undefined;
  const own = sliceText(text, members + 1, start);
  if (start > members && (own === "" || charCodeAt(text, members) !== 44)) return undefined;
  return {
    kid: sliceText(text, head.length, kidEnd),
    own: `{${own}}`,
    body: { start: start + BODY_START.length, end: tail },
    mac: sliceText(text, tail + TAIL_START.length, text.length - 2),
  };
}

/** The string that stands between two places, where nothing else does: what is none is not parsed, before a MAC has proven it. */
export function stringAt(text: string, { start, end }: Span): string | undefined {
  const value = charCodeAt(text, start) === 34 ? parsed(text, start, end) : undefined;
  return typeof value === "string" ? value : undefined;
}

interface Token<Value> {
  readonly value: Value;
  /** The place after it. */
  readonly end: number;
}

function skipSpace(text: string, from: number): number {
  let at = from;
  for (;;) {
    const code = charCodeAt(text, at);
    if (code !== 32 && code !== 10 && code !== 13 && code !== 9) return at;
    at++;
  }
}

/** The string that starts at `start`. */
function readString(text: string, start: number): Token<string> | undefined {
  if (charCodeAt(text, start) !== 34) return undefined;
  const { length } = text;
  let escaped = false;
  for (let at = start + 1; at < length; at++) {
    const code = charCodeAt(text, at);
    if (code === 34) {
      const value = escaped ? parsed(text, start, at + 1) : sliceText(text, start + 1, at);
      return typeof value === "string" ? { value, end: at + 1 } : undefined;
    }
    if (code < 32) return undefined;
    if (code === 92) {
      escaped = true;
      at++;
    }
  }
  return undefined;
}

function readMember(text: string, start: number): Token<unknown> | undefined {
  return charCodeAt(text, start) === 34 ? readString(text, start) : readScalar(text, start);
}

/** The body: where the writer puts its end it is found without a look at each character. */
function readBody(text: string, start: number): Token<unknown> | undefined {
  const end = text.length - TAIL_CHARS;
  if (end > start && indexOfText(text, TAIL_START, end) === end) {
    // A string that ends before makes no literal of the whole.
    const value = stringAt(text, { start, end });
    if (value !== undefined) return { value, end };
  }
  return readMember(text, start);
}

const SCALAR_CHARS_MAX = 32;

/** The number or word that starts at `start`; longer ones are no member of ours. */
function readScalar(text: string, start: number): Token<unknown> | undefined {
  let end = start;
  for (; isScalarCode(charCodeAt(text, end)); end++) {
    if (end - start >= SCALAR_CHARS_MAX) return undefined;
  }
  const value = parsed(text, start, end);
  return value === undefined ? undefined : { value, end };
}

function isScalarCode(code: number): boolean {
  const letter = code >= 97 && code <= 122;
  return letter || (code >= 48 && code <= 57) || code === 45 || code === 43 || code === 46;
}

/** The value of one token; undefined where it is none. */
function parsed(text: string, start: number, end: number): unknown {
  try {
    return jsonParse(sliceText(text, start, end));
  } catch {
    return undefined;
  }
}
