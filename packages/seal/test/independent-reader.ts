/**
 * A second reader of the format, written from its specification and sharing nothing with the first:
 * a hand-written recursive parser, the runtime's own base64 and dates. A round trip through one
 * implementation hides two bugs that cancel; this one would see them.
 */
export type Node =
  | { readonly kind: "scalar"; readonly value: null | boolean | number | string }
  | { readonly kind: "list"; readonly items: readonly Node[] }
  | { readonly kind: "object"; readonly members: readonly (readonly [string, Node])[] };

class Parser {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  whole(): Node {
    const node = this.#node();
    if (this.#at !== this.#text.length) throw new SyntaxError(`more after ${this.#at}`);
    return node;
  }

  #node(): Node {
    const next = this.#text[this.#at];
    if (next === '"') return { kind: "scalar", value: this.#string() };
    if (next === "[") return { kind: "list", items: this.#sequence("[", "]", () => this.#node()) };
    if (next === "{")
      return { kind: "object", members: this.#sequence("{", "}", () => this.#member()) };
    for (const [word, value] of [
      ["null", null],
      ["true", true],
      ["false", false],
    ] as const) {
      if (this.#text.startsWith(word, this.#at)) {
        this.#at += word.length;
        return { kind: "scalar", value };
      }
    }
    const number = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:e[+-]\d+)?/.exec(
      this.#text.slice(this.#at, this.#at + 40),
    );
    if (number === null || `${Number(number[0])}` !== number[0]) throw new SyntaxError("number");
    this.#at += number[0].length;
    return { kind: "scalar", value: Number(number[0]) };
  }

  #member(): readonly [string, Node] {
    const name = this.#string();
    this.#take(":");
    return [name, this.#node()];
  }

  #sequence<Item>(open: string, close: string, item: () => Item): Item[] {
    this.#take(open);
    const items: Item[] = [];
    while (this.#text[this.#at] !== close) {
      if (items.length > 0) this.#take(",");
      items.push(item());
    }
    this.#take(close);
    return items;
  }

  #string(): string {
    this.#take('"');
    let value = "";
    for (;;) {
      const next = this.#text[this.#at++];
      if (next === undefined) throw new SyntaxError("an open string");
      if (next === '"') return value;
      if (next !== "\\") {
        value += next;
        continue;
      }
      const escape = this.#text[this.#at++]!;
      if (escape === "u") {
        value += String.fromCharCode(Number.parseInt(this.#text.slice(this.#at, this.#at + 4), 16));
        this.#at += 4;
      } else
        value +=
          ({ b: "\b", f: "\f", n: "\n", r: "\r", t: "\t" } as { [e: string]: string })[escape] ??
          escape;
    }
  }

  #take(expected: string): void {
    if (this.#text[this.#at++] !== expected) throw new SyntaxError(`${expected} at ${this.#at}`);
  }
}

export function parseIndependently(text: string): Node {
  return new Parser(text).whole();
}

/** The value of a sealed text. */
export function readIndependently(text: string): unknown {
  return valueOf(parseIndependently(text));
}

function valueOf(node: Node): unknown {
  if (node.kind === "scalar") return node.value;
  if (node.kind === "list") return node.items.map(valueOf);
  const [only] = node.members;
  if (node.members.length === 1 && only !== undefined && only[0].startsWith("$")) {
    return tagged(only[0].slice(1), only[1]);
  }
  return objectOf(node.members.map(([name, held]) => [name, valueOf(held)] as const));
}

function objectOf(members: readonly (readonly [string, unknown])[]): object {
  const object = {};
  for (const [key, value] of members) {
    Object.defineProperty(object, key, {
      value,
      enumerable: true,
      writable: true,
      configurable: true,
    });
  }
  return object;
}

const VIEWS: { readonly [tag: string]: new (buffer: ArrayBuffer) => object } = {
  bytes: Uint8Array,
  uint8c: Uint8ClampedArray,
  int8: Int8Array,
  int16: Int16Array,
  uint16: Uint16Array,
  int32: Int32Array,
  uint32: Uint32Array,
  float16:
    (globalThis as { Float16Array?: new (buffer: ArrayBuffer) => object }).Float16Array ??
    Uint16Array,
  float32: Float32Array,
  float64: Float64Array,
  bigint64: BigInt64Array,
  biguint64: BigUint64Array,
  dataview: DataView,
};

function tagged(tag: string, payload: Node): unknown {
  const value = valueOf(payload) as never;
  switch (tag) {
    case "num":
      return Number(value);
    case "bigint":
      return BigInt(value);
    case "bigint16": {
      const text = value as string;
      return text.startsWith("-") ? -BigInt(`0x${text.slice(1)}`) : BigInt(`0x${text}`);
    }
    case "undefined":
      return undefined;
    case "utf16":
      return Buffer.from(value, "base64url").toString("utf16le");
    case "object":
      return objectOf(value);
    case "map":
      return new Map(value);
    case "set":
      return new Set(value);
    case "date":
      return new Date(Date.parse(value));
    case "buffer":
      return bufferOf(value);
    default:
      return tag in VIEWS ? new VIEWS[tag]!(bufferOf(value)) : temporal(tag, value);
  }
}

function bufferOf(text: string): ArrayBuffer {
  const bytes = Buffer.from(text, "base64url");
  return bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length) as ArrayBuffer;
}

interface Made {
  from(item: unknown): { toZonedDateTimeISO(zone: string): { withCalendar(id: string): unknown } };
}

function temporal(tag: string, value: unknown): unknown {
  const space = (globalThis as { Temporal?: { [name: string]: Made } }).Temporal!;
  const names: { readonly [tag: string]: string } = {
    instant: "Instant",
    plaindate: "PlainDate",
    plaintime: "PlainTime",
    plaindatetime: "PlainDateTime",
    yearmonth: "PlainYearMonth",
    monthday: "PlainMonthDay",
    duration: "Duration",
  };
  if (tag === "zoned") {
    const [instant, zone, calendar] = value as [string, string, string];
    return space["Instant"]!.from(instant).toZonedDateTimeISO(zone).withCalendar(calendar);
  }
  if (tag === "duration" && Object.keys(value as object).length === 0) {
    return space["Duration"]!.from("PT0S");
  }
  if (tag in names) return space[names[tag]!]!.from(value);
  throw new SyntaxError(`tag ${tag}`);
}

/** The canonical form of a sealed text, by sorting its nodes. */
export function canonicalIndependently(node: Node): string {
  if (node.kind === "scalar") return JSON.stringify(node.value);
  if (node.kind === "list") return `[${node.items.map(canonicalIndependently).join(",")}]`;
  const [only] = node.members;
  if (only !== undefined && ["$set", "$map", "$object"].includes(only[0])) {
    const items = (only[1] as Node & { kind: "list" }).items;
    const sorted = only[0] === "$object" ? items.toSorted(byKeyUnits) : items.toSorted(byText);
    return `{"${only[0]}":[${sorted.map(canonicalIndependently).join(",")}]}`;
  }
  const members = node.members.toSorted(([a], [b]) => compareUnits(a, b));
  return `{${members.map(([k, v]) => `${JSON.stringify(k)}:${canonicalIndependently(v)}`).join(",")}}`;
}

function byText(a: Node, b: Node): number {
  const parts = (node: Node): string[] =>
    node.kind === "list" ? node.items.map(canonicalIndependently) : [canonicalIndependently(node)];
  // Entries of a map sort by key, then value; members of a set by themselves.
  if (a.kind === "list" && b.kind === "list" && a.items.length === 2 && b.items.length === 2) {
    const [ak, av] = parts(a);
    const [bk, bv] = parts(b);
    return compareUnits(ak!, bk!) || compareUnits(av!, bv!);
  }
  return compareUnits(canonicalIndependently(a), canonicalIndependently(b));
}

function byKeyUnits(a: Node, b: Node): number {
  const key = (node: Node): string =>
    valueOf((node as Node & { kind: "list" }).items[0]!) as string;
  return compareUnits(key(a), key(b));
}

function compareUnits(a: string, b: string): number {
  for (let i = 0; i < Math.min(a.length, b.length); i++) {
    if (a.charCodeAt(i) !== b.charCodeAt(i)) return a.charCodeAt(i) - b.charCodeAt(i);
  }
  return a.length - b.length;
}
