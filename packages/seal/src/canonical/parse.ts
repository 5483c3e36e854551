/**
 * Parsing of a text that the scan has passed.
 *
 * V8's native parser (Node 24 and 26 among others) can take a name that is spelled with an escape
 * for another of the same length that an earlier object had in its place: after `{"p":1,"\\":2}` it
 * reads `{"p":1,"\"":2}` as the former. A text with such a name, which is rare, is parsed here by
 * hand, and the native parser sees its strings and numbers one by one. Nesting is bounded by the scan.
 */
import { charCodeAt, defineData, jsonParse, sliceText } from "../platform.ts";
import type { Json } from "./row.ts";

/** The tree of a text. Throws for what is not JSON. */
export function parseText(text: string, escapedNames: boolean): Json {
  return escapedNames ? new Parser(text).whole() : (jsonParse(text) as Json);
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
    return this.#token(code === 34 ? this.#stringEnd() : this.#scalarEnd()) as Json;
  }

  #object(): Json {
    const object: { [key: string]: Json } = {};
    this.#at++;
    if (this.#next(125)) return object;
    do {
      if (charCodeAt(this.#text, this.#at) !== 34) throw new SyntaxError("no name");
      const name = this.#token(this.#stringEnd()) as string;
      if (!this.#next(58)) throw new SyntaxError("no colon");
      // Defined, so that a name given twice leaves one member, as the native parser does.
      defineData(object, name, this.#value());
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

  #token(end: number): unknown {
    const value = jsonParse(sliceText(this.#text, this.#at, end));
    this.#at = end;
    return value;
  }

  #stringEnd(): number {
    let at = this.#at + 1;
    while (at < this.#text.length && charCodeAt(this.#text, at) !== 34) {
      at += charCodeAt(this.#text, at) === 92 ? 2 : 1;
    }
    return at + 1;
  }

  /** The end of a number or word: where a comma or a closing bracket stands. */
  #scalarEnd(): number {
    let at = this.#at;
    while (at < this.#text.length) {
      const code = charCodeAt(this.#text, at);
      if (code === 44 || code === 93 || code === 125) break;
      at++;
    }
    return at;
  }
}
