/**
 * Parsing of a text that the scan has passed.
 *
 * V8's native parser (Node 24 and 26 among others) can take a name that is spelled with an escape
 * for another of the same length that an earlier object had in its place: after `{"p":1,"\\":2}` it
 * reads `{"p":1,"\"":2}` as the former. A text with such a name, which is rare, is parsed here by
 * hand, and the native parser sees its strings and numbers one by one. Nesting is bounded by the scan.
 *
 * So is a text with very many names of one or two digits: for `{"34":0}` V8 makes room for 35
 * elements, and a megabyte of these would take a hundred.
 */
import { charCodeAt, defineData, isDigit, jsonParse, keepSparse, sliceText } from "../platform.ts";
import type { Json } from "./row.ts";

/** So many digits are a number without rounding. */
const SMALL_INTEGER_DIGITS = 15;

/** The tree of a text. Throws for what is not JSON. */
export function parseText(text: string, byHand: boolean): Json {
  return byHand ? new Parser(text).whole() : (jsonParse(text) as Json);
}

class Parser {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  whole(): Json {
    const value = this.#value();
    if (this.#at !== this.#text.length) throw new SyntaxError("more than one value");
    return value;
  }

  #value(): Json {
    const code = charCodeAt(this.#text, this.#at);
    if (code === 123) return this.#object();
    if (code === 91) return this.#list();
    return code === 34 ? this.#string() : this.#scalar();
  }

  #object(): Json {
    const object: { [key: string]: Json } = {};
    let sparse = false;
    this.#at++;
    if (this.#next(125)) return object;
    do {
      if (charCodeAt(this.#text, this.#at) !== 34) throw new SyntaxError("no name");
      const name = this.#string();
      if (!this.#next(58)) throw new SyntaxError("no colon");
      const value = this.#value();
      if (!sparse && isDigit(charCodeAt(name, 0))) {
        // Indexes are the first names of all, or the scan had refused them.
        keepSparse(object);
        sparse = true;
      }
      // Only what nobody inherits may be assigned. A name given twice leaves one member, as it does natively.
      if (name in object) defineData(object, name, value);
      else object[name] = value;
    } while (this.#next(44));
    if (!this.#next(125)) throw new SyntaxError("an open object");
    return object;
  }

  #list(): Json {
    const list: Json[] = [];
    this.#at++;
    if (this.#next(93)) return list;
    do list[list.length] = this.#value();
    while (this.#next(44));
    if (!this.#next(93)) throw new SyntaxError("an open list");
    return list;
  }

  /** Steps over a character if it is the next one. */
  #next(code: number): boolean {
    if (charCodeAt(this.#text, this.#at) !== code) return false;
    this.#at++;
    return true;
  }

  /** A string is itself between its quotes, unless an escape, or a control that may not be there, is in it. */
  #string(): string {
    const from = this.#at + 1;
    let at = from;
    while (at < this.#text.length) {
      const code = charCodeAt(this.#text, at);
      if (code === 34) {
        this.#at = at + 1;
        return sliceText(this.#text, from, at);
      }
      if (code === 92 || code < 32) break;
      at++;
    }
    return this.#token(this.#stringEnd(at)) as string;
  }

  /** A small number is read on the way to its end; the scan has seen to its spelling. */
  #scalar(): Json {
    const text = this.#text;
    let value = 0;
    let at = this.#at;
    let code = charCodeAt(text, at);
    for (; isDigit(code) && at - this.#at < SMALL_INTEGER_DIGITS; code = charCodeAt(text, ++at)) {
      value = 10 * value + code - 48;
    }
    if (at === this.#at || !endsScalar(code)) return this.#token(this.#scalarEnd(at)) as Json;
    this.#at = at;
    return value;
  }

  #token(end: number): unknown {
    const value = jsonParse(sliceText(this.#text, this.#at, end));
    this.#at = end;
    return value;
  }

  #stringEnd(from: number): number {
    let at = from;
    while (at < this.#text.length && charCodeAt(this.#text, at) !== 34) {
      at += charCodeAt(this.#text, at) === 92 ? 2 : 1;
    }
    return at + 1;
  }

  /** The end of a number or word: where a comma or a closing bracket stands. */
  #scalarEnd(from: number): number {
    let at = from;
    while (at < this.#text.length && !endsScalar(charCodeAt(this.#text, at))) at++;
    return at;
  }
}

function endsScalar(code: number): boolean {
  return code === 44 || code === 93 || code === 125;
}
