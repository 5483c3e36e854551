/**
 * The built-ins that carry data through the codec, taken once at import.
 *
 * What is patched or polluted afterwards can't change what is written or read (SEAL-26): the codec
 * calls these, walks lists by index, and never assigns a data key on an object that inherits.
 */

/** A prototype's method as a function of its receiver, bound before anybody could replace `call`. */
export function methodOf<Method extends (self: never, ...args: never[]) => unknown>(
  prototype: object,
  name: PropertyKey,
): Method {
  const method = Object.getOwnPropertyDescriptor(prototype, name)?.value as () => unknown;
  const bound: unknown = Function.prototype.call.bind(method);
  return bound as Method;
}

/** The getter behind a prototype's accessor: it reads an internal slot, and throws without one. */
export function slotGetter(
  prototype: object,
  name: PropertyKey,
): ((self: object) => unknown) | undefined {
  const accessor = Object.getOwnPropertyDescriptor(prototype, name);
  return accessor === undefined ? undefined : methodOf(accessor, "get");
}

export const jsonParse: (text: string) => unknown = JSON.parse;
export const jsonStringify: (value: unknown) => string = JSON.stringify;

export const objectPrototype = Object.prototype;
export const arrayPrototype = Array.prototype;
export const createObject = Object.create as (prototype: null) => Record<string, unknown>;
const { defineProperty } = Object;
const { deleteProperty } = Reflect;
export const getPrototypeOf = Object.getPrototypeOf as (value: object) => object | null;
export const getDescriptor = Object.getOwnPropertyDescriptor;
export const getNames = Object.getOwnPropertyNames;
export const getSymbols = Object.getOwnPropertySymbols;
export const objectKeys = Object.keys;
export const objectValues = Object.values as (value: object) => unknown[];
export const hasOwn = Object.hasOwn;
export const toNumber: (text: string) => number = Number;
export const isSafeInteger: (value: number) => boolean = Number.isSafeInteger;
type Bytes = Uint8Array;
export const typedArrayPrototype = Object.getPrototypeOf(Uint8Array.prototype) as object;
export const subarray = methodOf<(self: Bytes, from: number, to: number) => Bytes>(
  typedArrayPrototype,
  "subarray",
);
export const setBytes = methodOf<(self: Bytes, from: Bytes, at: number) => unknown>(
  typedArrayPrototype,
  "set",
);
/** Elements of a typed array: its `length` is an accessor that a program can replace. */
export const lengthOf = slotGetter(typedArrayPrototype, "length") as (bytes: Bytes) => number;
/** Whether an object has no member to list, own or inherited: told without making a list. */
export function isBare(value: object): boolean {
  for (const key in value) return key === undefined;
  return true;
}
/** Names and symbols in one call: on a list it costs half of asking for each. */
export const ownKeys = Reflect.ownKeys;
type AnyMap<K, V> = ReadonlyMap<K, V>;
export const mapGet = methodOf<<K, V>(self: AnyMap<K, V>, key: K) => V | undefined>(
  Map.prototype,
  "get",
);
export const mapHas = methodOf<<K>(self: AnyMap<K, unknown>, key: K) => boolean>(
  Map.prototype,
  "has",
);
export const mapSet = methodOf<<K, V>(self: Map<K, V>, key: K, value: V) => unknown>(
  Map.prototype,
  "set",
);
export const setHas = methodOf<<V>(self: ReadonlySet<V>, value: V) => boolean>(
  Set.prototype,
  "has",
);
export const setAdd = methodOf<<V>(self: Set<V>, value: V) => unknown>(Set.prototype, "add");

/** Without a prototype a descriptor can't seem to have a getter. */
const visible = Object.setPrototypeOf(
  { value: undefined, writable: true, enumerable: true, configurable: true },
  null,
) as PropertyDescriptor;

/** Defines a data property as an assignment to a plain object would, whatever the object inherits. */
export function defineData(target: object, key: PropertyKey, value: unknown): void {
  visible.value = value;
  defineProperty(target, key, visible);
  visible.value = undefined;
}

const LAST_INDEX = 4_294_967_294;

/**
 * Has an object that is still empty keep indexes one by one. V8 makes room for all indexes below an index, up to
 * thousands, unless the object once had a very high one: one member, ten characters of a text, would take kilobytes.
 */
export function keepSparse(object: object): void {
  // Nobody inherits an index: that is looked at before each use.
  (object as { [index: number]: unknown })[LAST_INDEX] = undefined;
  deleteProperty(object, LAST_INDEX);
}

export function isDigit(code: number): boolean {
  return code >= 48 && code <= 57;
}

export const isArray: (value: unknown) => value is unknown[] = Array.isArray;
export const lookupGetter = methodOf<(self: object, name: PropertyKey) => unknown>(
  Object.prototype,
  "__lookupGetter__",
);

type Compare<Item> = (a: Item, b: Item) => number;
export const arraySort = methodOf<<Item>(self: Item[], compare: Compare<Item>) => Item[]>(
  Array.prototype,
  "sort",
);

type Find<Result> = (self: string, part: string, from?: number) => Result;
export const charCodeAt = methodOf<(self: string, at: number) => number>(
  String.prototype,
  "charCodeAt",
);
export const sliceText = methodOf<(self: string, from: number, to?: number) => string>(
  String.prototype,
  "slice",
);
export const indexOfText = methodOf<Find<number>>(String.prototype, "indexOf");
export const includesText = methodOf<Find<boolean>>(String.prototype, "includes");
export const isWellFormed = methodOf<(self: string) => boolean>(String.prototype, "isWellFormed");
/** A pattern that keeps its own matcher: `test` would ask the prototype for one. */
export function pattern(expression: RegExp): RegExp {
  defineData(expression, "exec", getDescriptor(RegExp.prototype, "exec")?.value);
  return expression;
}
export const testPattern = methodOf<(self: RegExp, text: string) => boolean>(
  RegExp.prototype,
  "test",
);
const { apply } = Reflect;
const fromCharCode = String.fromCharCode;
/** The string of some UTF-16 units, few enough for one call. */
export const fromCharCodes = (codes: Uint16Array): string => apply(fromCharCode, undefined, codes);

const encoder = new TextEncoder();
const encodeText = methodOf<(self: TextEncoder, text: string) => Uint8Array>(
  TextEncoder.prototype,
  "encode",
);
/** The UTF-8 bytes of a well-formed text. */
export const utf8 = (text: string): Uint8Array => encodeText(encoder, text);
/** Below this many characters a loop is quicker than a call into the host. */
const COUNTED_CHARS = 256;
/** Characters encoded at once where only their number of bytes is wanted; three bytes each at most. */
const COUNTED_AT_ONCE = 16_384;
type Into = (self: TextEncoder, text: string, into: Uint8Array) => { written: number };
const encodeIntoBytes = methodOf<Into>(TextEncoder.prototype, "encodeInto");
/** Writes the UTF-8 bytes of a well-formed text into what has room for them, and gives their number. */
export const encodeInto = (text: string, into: Bytes): number =>
  encodeIntoBytes(encoder, text, into).written;
let scratch: Bytes | undefined;

/** UTF-8 bytes of a well-formed text, counted without a copy of it. */
export function byteLength(text: string): number {
  if (text.length <= COUNTED_CHARS && isAscii(text)) return text.length;
  scratch ??= new Uint8Array(3 * COUNTED_AT_ONCE);
  let bytes = 0;
  let from = 0;
  while (from < text.length) {
    let end = from + COUNTED_AT_ONCE;
    // A pair is counted whole, in the next piece: the encoder would make two of its halves.
    if (end < text.length && (charCodeAt(text, end - 1) & 0xfc00) === 0xd800) end--;
    bytes += encodeInto(sliceText(text, from, end), scratch);
    from = end;
  }
  return bytes;
}

/** Characters of a text whose bytes are put into a list that is there already. */
export const LOOKED_AT_CHARS = 16_384;
/** A look for what follows may go this far behind the last byte. */
const BEHIND = 8;
let looked: Uint8Array | undefined;

/** The list that `utf8Look` fills. */
export function lookedAt(): Uint8Array {
  return (looked ??= new Uint8Array(3 * LOOKED_AT_CHARS + BEHIND));
}

/** Puts a well-formed text's UTF-8 bytes, zeros behind them, where the next text's will stand. Their number. */
export function utf8Look(text: string): number {
  const into = lookedAt();
  const written = encodeInto(text, into);
  for (let i = 0; i < BEHIND; i++) into[written + i] = 0;
  return written;
}

function isAscii(text: string): boolean {
  for (let i = 0; i < text.length; i++) if (charCodeAt(text, i) > 127) return false;
  return true;
}

const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
const decodeBytes = methodOf<(self: TextDecoder, bytes: Uint8Array) => string>(
  TextDecoder.prototype,
  "decode",
);
/** The text of UTF-8 bytes; throws on bytes that are not well formed. */
export const fromUtf8 = (bytes: Uint8Array): string => decodeBytes(decoder, bytes);

const host = (globalThis as { process?: { getBuiltinModule?: (id: string) => unknown } }).process;
const getModule = host?.getBuiltinModule;

/** A module of Node's, where the runtime has it, without an import that the others could not resolve. */
function hostModule(id: string): unknown {
  return getModule === undefined ? undefined : apply(getModule, host, [id]);
}

/** Node's test for a proxy, where there is one; elsewhere a proxy can't be told from its target. */
export const isProxy: ((value: object) => boolean) | undefined = hostUtil()?.types?.isProxy;

interface HostUtil {
  readonly types?: { readonly isProxy?: (value: object) => boolean };
  readonly isDeepStrictEqual?: (a: unknown, b: unknown) => boolean;
}

export function hostUtil(): HostUtil | undefined {
  return hostModule("node:util") as HostUtil | undefined;
}

/** A digest in one call: of bytes, or of a text's UTF-8 bytes, as bytes or as base64 with the URL alphabet. */
export interface HostHash {
  (algorithm: "sha256", of: Bytes | string, form: "buffer"): Bytes;
  (algorithm: "sha256", of: Bytes | string, form: "base64url"): string;
}

let taken: HostHash | false | undefined;

/**
 * Node's `crypto.hash`, where there is one (Node, Deno, Bun). The module is asked for when something is hashed first, by what was
 * there at import: to load it takes as long as to import all of this package.
 */
export function hostHash(): HostHash | undefined {
  taken ??= (hostModule("node:crypto") as { readonly hash?: HostHash } | undefined)?.hash ?? false;
  return taken === false ? undefined : taken;
}
