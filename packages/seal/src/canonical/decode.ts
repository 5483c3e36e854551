/**
 * The reader: from a text to its value, exactly, or not at all.
 *
 * D1 Bounds are met before the parser runs, by length and by the scan (SEAL-26).
 * D2 The whole form is checked before anything is built (SEAL-25): no constructor, codec or
 *    setter has run for a text that is refused.
 * D3 A text is taken only if it is the one that writing its value would give (SEAL-23): the scan
 *    proves spelling, the check proves that each form was due, the count of members that no name
 *    was given twice, and names that might be reordered are compared with the native writer's.
 * D4 Parsed objects are the result where nothing in them is tagged. Only own keys are assigned.
 */
import { SealDecodeError, SealError, type SealErrorCode } from "../errors.ts";
import {
  fromUtf8,
  hasOwn,
  isArray,
  isBare,
  isWellFormed,
  jsonStringify,
  lengthOf,
  LOOKED_AT_CHARS,
  lookedAt,
  mapGet,
  mapHas,
  objectKeys,
  objectPrototype,
  setAdd,
  setHas,
  sliceText,
  subarray,
  utf8,
  utf8Look,
} from "../platform.ts";
import { keyText } from "./collection-rows.ts";
import { locate } from "./locate.ts";
import { parseText } from "./parse.ts";
import { formatPath } from "./path.ts";
import type { Builder, Checker, Json } from "./row.ts";
import { scan } from "./scan.ts";
import type { CodecSettings } from "./settings.ts";

/** Names of the models that may be built: those that the given schema reaches. */
export type Allowed = ReadonlySet<string>;

/** Parses and checks a text whole; `tagged` is false where the tree is the value itself. */
export function checkText(
  text: string,
  settings: CodecSettings,
  allowed: Allowed,
): { tree: Json; tagged: boolean } {
  const { limits } = settings;
  if (typeof text !== "string") throw new SealDecodeError("", "it is not a text");
  // A text is never shorter in bytes than in characters: what is too long is not even encoded.
  if (text.length > limits.bytes) throw tooLong(limits.bytes);
  if (!isWellFormed(text)) throw new SealDecodeError("", "an unpaired surrogate");
  const isShort = text.length <= LOOKED_AT_CHARS;
  const bytes = isShort ? lookedAt() : utf8(text);
  const length = isShort ? utf8Look(text) : lengthOf(bytes);
  if (length > limits.bytes) throw tooLong(limits.bytes);
  const spelling = scan(text, bytes, length, limits);
  if (spelling.status === "refused") {
    const before = subarray(bytes, 0, spelling.at);
    throw new SealDecodeError(locate(fromUtf8(before)).path, spelling.reason);
  }
  let tree: Json;
  try {
    tree = parseText(text, spelling.byHand);
  } catch {
    // The parser's own message quotes the text.
    throw new SealDecodeError("", "it is not JSON");
  }
  const check = new Check(settings, allowed);
  check.value(tree);
  if (check.members !== spelling.members) {
    throw new SealDecodeError(locate(text).repeated!, "a name given twice");
  }
  return { tree, tagged: check.tagged };
}

function tooLong(limit: number): SealDecodeError {
  return new SealDecodeError("", `more than ${limit} bytes`, { limit });
}

/** Decodes a text. */
export function decodeText(text: string, settings: CodecSettings, allowed: Allowed): unknown {
  const { tree, tagged } = checkText(text, settings, allowed);
  return tagged ? new Build(settings).value(tree) : tree;
}

/** Where in the tree a pass is. */
class Place {
  readonly at: (string | number)[] = [];
  level = 0;

  path(): string {
    return formatPath(this.at, 0, this.level);
  }
}

class Check implements Checker {
  readonly #settings: CodecSettings;
  readonly #allowed: Allowed;
  readonly #place = new Place();
  /** Something enumerable was put on the prototype of all objects, and is listed with own names. */
  readonly #inherits = !isBare(objectPrototype);
  members = 0;
  tagged = false;

  constructor(settings: CodecSettings, allowed: Allowed) {
    this.#settings = settings;
    this.#allowed = allowed;
  }

  value(value: Json): void {
    if (typeof value !== "object" || value === null) return;
    const place = this.#place;
    const level = place.level++;
    if (isArray(value)) {
      for (let i = 0; i < value.length; i++) {
        const child = value[i]!;
        if (typeof child !== "object") continue;
        place.at[level] = i;
        this.value(child);
      }
    } else this.#object(value, level);
    place.level = level;
  }

  #object(value: { [key: string]: Json }, level: number): void {
    const place = this.#place;
    let count = 0;
    // No list of the names is made: a text can hold a million objects.
    for (const key in value) {
      if (this.#inherits && !hasOwn(value, key)) continue;
      count++;
      place.at[level] = key;
      // `__proto__` is data only in a list of pairs (SEAL-08).
      if (key === "__proto__") this.refuse("a name due in a list of pairs");
      const child = value[key]!;
      if (key[0] === "$") {
        if (objectKeys(value).length !== 1) this.refuse("a tag with names beside it");
        this.#tag(key, child);
      } else if (typeof child === "object") this.value(child);
    }
    this.members += count;
  }

  #tag(tag: string, payload: Json): void {
    const row = this.#settings.registry.tagged(tag);
    if (row === undefined) {
      if (!setHas(this.#settings.temporalTags, tag)) this.refuse("an unknown tag");
      this.refuse("no Temporal to read it with", { code: "temporal-missing" });
    }
    this.tagged = true;
    row.check(payload, this);
  }

  part(value: Json, at: string | number): void {
    this.#place.at[this.#place.level] = at;
    this.#place.level++;
    this.value(value);
    this.#place.level--;
  }

  list(value: Json, length?: number): Json[] {
    if (!isArray(value)) this.refuse("not a list");
    if (length !== undefined && value.length !== length) this.refuse(`not a list of ${length}`);
    return value;
  }

  text(value: Json): string {
    if (typeof value !== "string") this.refuse("not a string");
    return value;
  }

  key(value: Json): string {
    if (typeof value === "string") return value;
    const units = typeof value === "object" && value !== null && !isArray(value) ? value : {};
    if (typeof units["$utf16"] !== "string") this.refuse("a key that is not a string");
    return keyText(value);
  }

  distinct(values: readonly Json[]): void {
    const seen = new Set<Json>();
    // Tagged ones by their text, kept apart from a string that reads the same.
    const tagged = new Set<string>();
    for (let i = 0; i < values.length; i++) {
      const value = values[i]!;
      if (typeof value !== "object" || value === null) {
        if (setHas(seen, value)) this.refuse("a key or member given twice");
        setAdd(seen, value);
      } else if (isTaggedPrimitive(value)) {
        const text = jsonStringify(value);
        // A Map knows one zero; the other can't be in it.
        if (text === NEGATIVE_ZERO) this.refuse("a negative zero as key or member");
        if (setHas(tagged, text)) this.refuse("a key or member given twice");
        setAdd(tagged, text);
      }
    }
  }

  fields(value: Json, at: number): void {
    const object = typeof value === "object" && value !== null && !isArray(value);
    if (!object) this.refuse("fields that are not an object");
    const first = objectKeys(value)[0];
    if (first !== undefined && first[0] === "$" && first !== "$object") {
      this.refuse("fields that are not an object");
    }
    this.part(value, at);
  }

  allowModel(name: string): void {
    // SEAL-41, SEAL-42: nothing is built for a name that the schema doesn't reach.
    if (!setHas(this.#allowed, name)) {
      this.refuse(
        `class ${jsonStringify(sliceText(name, 0, 64))} is not one that the schema reaches`,
        {
          code: "class-not-allowed",
        },
      );
    }
  }

  allowCodec(name: string): void {
    if (!mapHas(this.#settings.codecOf, name)) {
      this.refuse(`no codec named ${jsonStringify(sliceText(name, 0, 64))}`, {
        code: "class-not-allowed",
      });
    }
  }

  refuse(reason: string, options: { code?: SealErrorCode } = {}): never {
    throw new SealDecodeError(this.#place.path(), reason, {}, options.code);
  }
}

const NEGATIVE_ZERO = '{"$num":"-0"}';

/** Whether a `Map` would find the value again by equality, so that a repeat is one entry. */
function isTaggedPrimitive(value: object): boolean {
  if (isArray(value) || isBare(value)) return false;
  const first = objectKeys(value)[0];
  return (
    first === "$num" ||
    first === "$bigint" ||
    first === "$bigint16" ||
    first === "$undefined" ||
    first === "$utf16"
  );
}

class Build implements Builder {
  readonly #settings: CodecSettings;
  readonly #place = new Place();

  constructor(settings: CodecSettings) {
    this.#settings = settings;
  }

  value(value: Json): unknown {
    if (typeof value !== "object" || value === null) return value;
    const place = this.#place;
    const level = place.level++;
    const built = isArray(value) ? this.#list(value, level) : this.#object(value, level);
    place.level = level;
    return built;
  }

  #list(list: unknown[], level: number): unknown {
    for (let i = 0; i < list.length; i++) {
      const child = list[i];
      if (typeof child !== "object") continue;
      this.#place.at[level] = i;
      list[i] = this.value(child as Json);
    }
    return list;
  }

  #object(object: Record<string, unknown>, level: number): unknown {
    for (const key in object) {
      // A codec has run before: it may have put something on the prototype of all objects.
      if (!hasOwn(object, key)) continue;
      this.#place.at[level] = key;
      const child = object[key] as Json;
      if (key[0] === "$") return this.#settings.registry.tagged(key)?.build(child, this);
      if (typeof child === "object") object[key] = this.value(child);
    }
    return object;
  }

  part(value: Json, at: string | number): unknown {
    this.#place.at[this.#place.level] = at;
    this.#place.level++;
    const built = this.value(value);
    this.#place.level--;
    return built;
  }

  model(name: string, fields: unknown): unknown {
    const model = mapGet(this.#settings.modelNamed, name)!;
    const own = fields as Record<string, unknown>;
    return this.#run(`model ${name}`, () => {
      const problem = model.problem(own);
      if (problem !== undefined) this.refuse(`fields that model ${name} refuses: ${problem}`);
      return model.build(own);
    });
  }

  codec(name: string, standIn: unknown): unknown {
    const codec = mapGet(this.#settings.codecOf, name)!;
    return this.#run(`codec ${name}`, () => codec.decode(standIn));
  }

  #run(what: string, build: () => unknown): unknown {
    try {
      return build();
    } catch (error) {
      if (error instanceof SealError) throw error;
      return this.refuse(`${what} threw`, error);
    }
  }

  refuse(reason: string, cause?: unknown): never {
    throw new SealDecodeError(this.#place.path(), reason, { cause });
  }
}
