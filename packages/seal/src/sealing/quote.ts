import { charCodeAt, indexOfText, jsonStringify, sliceText } from "../platform.ts";

/** Shorter texts are copied as quickly as they are searched. */
const SEARCHED_CHARS = 16_384;
/** With less than this between two escapes the native writer is quicker. */
const SPARSE_CHARS = 1024;
/** Characters that the native writer is given at once: it needs twice the memory of what it writes. */
const PIECE_CHARS = 32_768;

/**
 * A JSON text as a JSON string. Controls stand in no JSON text that the native writer printed, so
 * quotes and backslashes are all that needs an escape. Where they are far apart, as in prose,
 * they are searched for and what is between them is not copied; else the native writer does it.
 */
export function quoteJson(text: string): string {
  if (text.length < SEARCHED_CHARS) return jsonStringify(text);
  return quoteSparse(text) ?? quotePieces(text);
}

/** Undefined where the escapes are close together. */
export function quoteSparse(text: string): string | undefined {
  let quoted = '"';
  let from = 0;
  let pieces = 0;
  let quote = indexOfText(text, '"');
  let slash = indexOfText(text, "\\");
  // A backslash stands inside a string, so there is always a quote behind it.
  while (quote >= 0) {
    const at = slash >= 0 && slash < quote ? slash : quote;
    // Some at the beginning are let pass: a text of prose opens with a few names.
    if (++pieces * SPARSE_CHARS > at + SEARCHED_CHARS) return undefined;
    quoted += `${sliceText(text, from, at)}\\`;
    // The character itself opens the next piece.
    from = at;
    if (at === quote) quote = indexOfText(text, '"', at + 1);
    else slash = indexOfText(text, "\\", at + 1);
  }
  return `${quoted}${sliceText(text, from)}"`;
}

function quotePieces(text: string): string {
  let quoted = '"';
  let from = 0;
  while (from < text.length) {
    let end = from + PIECE_CHARS;
    // The halves of a pair would be escaped if they were written apart.
    if ((charCodeAt(text, end - 1) & 0xfc00) === 0xd800) end--;
    quoted += sliceText(jsonStringify(sliceText(text, from, end)), 1, -1);
    from = end;
  }
  return `${quoted}"`;
}
