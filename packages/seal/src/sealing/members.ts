import { charCodeAt, jsonParse, sliceText } from "../platform.ts";

/**
 * The members of a flat JSON object, however it is spaced and ordered; undefined for any other
 * text, and for one that names a member twice. No nesting is followed, so the cost is one pass.
 */
export function readMembers(
  text: string,
  charsMax: number,
): ReadonlyMap<string, unknown> | undefined {
  if (text.length > charsMax) return undefined;
  const members = new Map<string, unknown>();
  let at = skipSpace(text, 0);
  if (charCodeAt(text, at) !== 123) return undefined;
  at = skipSpace(text, at + 1);
  for (;;) {
    const nameEnd = stringEnd(text, at);
    if (nameEnd < 0) return undefined;
    const name = parsed(text, at, nameEnd);
    at = skipSpace(text, nameEnd);
    if (typeof name !== "string" || members.has(name) || charCodeAt(text, at) !== 58)
      return undefined;
    at = skipSpace(text, at + 1);
    const end = charCodeAt(text, at) === 34 ? stringEnd(text, at) : scalarEnd(text, at);
    const value = end < 0 ? undefined : parsed(text, at, end);
    if (value === undefined || (typeof value === "object" && value !== null)) return undefined;
    members.set(name, value);
    at = skipSpace(text, end);
    const next = charCodeAt(text, at);
    if (next === 125) break;
    if (next !== 44) return undefined;
    at = skipSpace(text, at + 1);
  }
  return skipSpace(text, at + 1) === text.length ? members : undefined;
}

function skipSpace(text: string, from: number): number {
  let at = from;
  for (;;) {
    const code = charCodeAt(text, at);
    if (code !== 32 && code !== 10 && code !== 13 && code !== 9) return at;
    at++;
  }
}

/** The place after a string that starts at `start`, or -1. */
function stringEnd(text: string, start: number): number {
  if (charCodeAt(text, start) !== 34) return -1;
  const { length } = text;
  let at = start + 1;
  while (at < length) {
    const code = charCodeAt(text, at);
    if (code === 34) return at + 1;
    at += code === 92 ? 2 : 1;
  }
  return -1;
}

const SCALAR_CHARS_MAX = 32;

/** The place after a number or word; longer ones are no member of ours. */
function scalarEnd(text: string, start: number): number {
  let at = start;
  for (; at < start + SCALAR_CHARS_MAX; at++) {
    const code = charCodeAt(text, at);
    const within =
      (code >= 97 && code <= 122) ||
      (code >= 48 && code <= 57) ||
      code === 45 ||
      code === 43 ||
      code === 46;
    if (!within) return at;
  }
  return -1;
}

/** The value of one token; undefined where it is none. */
function parsed(text: string, start: number, end: number): unknown {
  try {
    return jsonParse(sliceText(text, start, end));
  } catch {
    return undefined;
  }
}
