/**
 * The reader of what people, services and models send (WF-02).
 *
 * J1 What JSON leaves open is closed here: a name given twice, text after the value, a byte order mark, bytes that are no
 *    UTF-8, an unpaired surrogate: refused.
 * J2 No count changes silently: a whole number that no double holds is refused, not rounded, and so is what would vanish.
 * J3 Bounds are met while reading; nesting is bounded, so recursion is.
 * J4 A refusal says where, by position and path, and never quotes the text.
 * J5 Objects are plain: every name, `__proto__` too, is an own property and nothing else.
 */

/** What a document may take. */
export interface DocumentLimits {
  /** UTF-8 bytes. */
  readonly bytes: number;
  readonly depth: number;
  /** Members of all objects together. */
  readonly members: number;
}

/** Why a text is no document, without the text. */
export class JsonRefusal extends Error {
  override readonly name = "JsonRefusal";
  /** In UTF-16 units from the start; of bytes that are no text, 0. */
  readonly position: number;
  readonly path: string;

  constructor(what: string, position: number, path: string) {
    super(`${what} at position ${position}`);
    this.position = position;
    this.path = path;
  }
}

/** @throws JsonRefusal */
export function readStrictJson(source: string | Uint8Array, limits: DocumentLimits): unknown {
  const text = typeof source === "string" ? source : decoded(source, limits.bytes);
  // A unit is 1 to 3 bytes, so most texts need no counting.
  if (text.length * 3 > limits.bytes) assertBytes(text, limits.bytes);
  return new Reader(text, limits).document();
}

function decoded(bytes: Uint8Array, max: number): string {
  if (bytes.length > max) throw tooLong(max);
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw new JsonRefusal("bytes that are no UTF-8", 0, "");
  }
}

function assertBytes(text: string, max: number): void {
  if (text.length > max || new TextEncoder().encode(text).length > max) throw tooLong(max);
}

function tooLong(max: number): JsonRefusal {
  return new JsonRefusal(`more than ${max} bytes`, 0, "");
}

const spaces = new Set([" ", "\t", "\n", "\r"]);
const words = new Map<string, unknown>([
  ["true", true],
  ["false", false],
  ["null", null],
]);
const numberForm = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
// All but the quote, the backslash and the controls below the blank.
const plainRun = /[ !#-[\]-\u{10ffff}]*/uy;
const unpaired = /\p{Surrogate}/u;
const escapes = new Map([
  ['"', '"'],
  ["\\", "\\"],
  ["/", "/"],
  ["b", "\b"],
  ["f", "\f"],
  ["n", "\n"],
  ["r", "\r"],
  ["t", "\t"],
]);
const fourHex = /^[0-9a-fA-F]{4}$/;

class Reader {
  readonly #text: string;
  readonly #limits: DocumentLimits;
  readonly #path: (string | number)[] = [];
  #at = 0;
  #members = 0;

  constructor(text: string, limits: DocumentLimits) {
    this.#text = text;
    this.#limits = limits;
  }

  document(): unknown {
    this.#space();
    const value = this.#value();
    this.#space();
    if (this.#at < this.#text.length) throw this.#refuse("text after the value"); // J1
    return value;
  }

  #value(): unknown {
    const first = this.#text[this.#at];
    if (first === "{") return this.#nested(() => this.#object());
    if (first === "[") return this.#nested(() => this.#list());
    if (first === '"') return this.#string();
    if (first === "-" || (first !== undefined && first >= "0" && first <= "9")) {
      return this.#number();
    }
    for (const [word, value] of words) {
      if (!this.#text.startsWith(word, this.#at)) continue;
      this.#at += word.length;
      return value;
    }
    throw this.#refuse(first === undefined ? "an end" : "a character that begins no value");
  }

  /** J3 */
  #nested<T>(read: () => T): T {
    if (this.#path.length >= this.#limits.depth) {
      throw this.#refuse(`nesting deeper than ${this.#limits.depth}`);
    }
    this.#at += 1;
    this.#path.push("");
    const value = read();
    this.#path.pop();
    return value;
  }

  #object(): Record<string, unknown> {
    const object: Record<string, unknown> = {};
    this.#space();
    if (this.#takes("}")) return object;
    for (;;) {
      this.#space();
      if (this.#text[this.#at] !== '"') throw this.#refuse("no name where one is due");
      const nameAt = this.#at;
      const name = this.#string();
      this.#path[this.#path.length - 1] = name;
      if (Object.hasOwn(object, name)) throw this.#refuse("a name given twice", nameAt); // J1
      this.#members += 1;
      if (this.#members > this.#limits.members) {
        throw this.#refuse(`more than ${this.#limits.members} members`);
      }
      this.#space();
      if (!this.#takes(":")) throw this.#refuse("no colon where one is due");
      this.#space();
      const value = this.#value();
      const property = { value, enumerable: true, writable: true, configurable: true };
      Object.defineProperty(object, name, property); // J5
      this.#space();
      if (this.#takes("}")) return object;
      if (!this.#takes(",")) throw this.#refuse("no comma or end of the object where one is due");
    }
  }

  #list(): unknown[] {
    const list: unknown[] = [];
    this.#space();
    if (this.#takes("]")) return list;
    for (;;) {
      this.#path[this.#path.length - 1] = list.length;
      this.#space();
      list.push(this.#value());
      this.#space();
      if (this.#takes("]")) return list;
      if (!this.#takes(",")) throw this.#refuse("no comma or end of the list where one is due");
    }
  }

  #string(): string {
    const start = this.#at;
    this.#at += 1;
    let value = "";
    for (;;) {
      plainRun.lastIndex = this.#at;
      const run = plainRun.exec(this.#text)![0];
      value += run;
      this.#at += run.length;
      const end = this.#text[this.#at];
      if (end === '"') break;
      if (end !== "\\") throw this.#refuse("a string that does not end, or a control character");
      value += this.#escape();
    }
    this.#at += 1;
    if (unpaired.test(value)) throw this.#refuse("an unpaired surrogate", start); // J1
    return value;
  }

  #escape(): string {
    const letter = this.#text[this.#at + 1] ?? "";
    const short = escapes.get(letter);
    if (short !== undefined) {
      this.#at += 2;
      return short;
    }
    const digits = this.#text.slice(this.#at + 2, this.#at + 6);
    if (letter !== "u" || !fourHex.test(digits)) throw this.#refuse("an unknown escape");
    this.#at += 6;
    return String.fromCharCode(Number.parseInt(digits, 16));
  }

  #number(): number {
    numberForm.lastIndex = this.#at;
    const token = numberForm.exec(this.#text)?.[0];
    if (token === undefined) throw this.#refuse("a number of another form");
    const value = Number(token);
    if (!Number.isFinite(value)) throw this.#refuse("a number that is too large");
    if (!isKept(token, value)) throw this.#refuse("a number that would be rounded"); // J2
    this.#at += token.length;
    return value;
  }

  #space(): void {
    while (spaces.has(this.#text[this.#at] ?? "")) this.#at += 1;
  }

  #takes(character: string): boolean {
    if (this.#text[this.#at] !== character) return false;
    this.#at += 1;
    return true;
  }

  #refuse(what: string, at = this.#at): JsonRefusal {
    return new JsonRefusal(what, at, this.#path.filter((part) => part !== "").join("."));
  }
}

/**
 * Whether a double still says what was written. A decimal fraction is an approximation by nature. A whole number is not: its
 * double is that very number, or at least prints with those very digits (`1e28`); and nothing that is not zero becomes zero.
 */
function isKept(token: string, value: number): boolean {
  const written = scaled(token);
  if (written.digits === "") return true;
  if (value === 0) return false;
  if (written.power < 0) return Math.abs(value) < 2 ** 53;
  const printed = scaled(String(value));
  if (written.digits === printed.digits && written.power === printed.power) return true;
  return BigInt(written.digits + "0".repeat(written.power)) === BigInt(Math.abs(value));
}

/** A number without its sign, as digits that neither begin nor end in a zero, times a power of ten. */
function scaled(token: string): { readonly digits: string; readonly power: number } {
  const unsigned = token.startsWith("-") ? token.slice(1) : token;
  const [mantissa = "", exponent = "0"] = unsigned.split(/[eE]/, 2);
  const [whole = "", fraction = ""] = mantissa.split(".", 2);
  const all = whole + fraction;
  let [start, end] = [0, all.length]; // by hand: a pattern for trailing zeros goes over long ones again and again
  while (end > 0 && all[end - 1] === "0") end -= 1;
  while (start < end && all[start] === "0") start += 1;
  const power = Number(exponent) - fraction.length + (all.length - end);
  return { digits: all.slice(start, end), power };
}
