/**
 * The walk that writes: from a value to the JSON tree of its text.
 *
 * W1 No code of the data runs (SEAL-22): properties are looked at through descriptors, lists by
 *    index, built-ins through methods taken at import. A proxy is refused where the host can tell
 *    one; elsewhere, and where a caller's codec runs in between, each property is read once.
 * W2 What is plain is handed on as it is, so that the native writer prints it; only a branch that
 *    holds a tag, or that has to be read once, is copied, without a prototype.
 * W3 Every bracket, value and character is counted before it is made (SEAL-20, SEAL-21). The
 *    figures are those of the text, so that what was written within limits is read within them.
 * W4 A cycle is found when a limit is met: it always meets one (SEAL-18).
 */
import { NotSealableError, SealError } from "../errors.ts";
import {
  arrayPrototype,
  createObject,
  getDescriptor,
  getNames,
  getPrototypeOf,
  getSymbols,
  isArray,
  isProxy,
  lookupGetter,
  mapGet,
  objectKeys,
  objectPrototype,
  ownKeys,
} from "../platform.ts";
import { describe } from "./advice.ts";
import { blankList } from "./blank-list.ts";
import { isReservedKey } from "./collection-rows.ts";
import { formatPath, SELF, type Segment } from "./path.ts";
import { intrinsicName } from "./registry.ts";
import type { Json, Writer } from "./row.ts";
import { bigintTag, needsUnits, numberTag, unitsTag } from "./scalar-rows.ts";
import type { CodecSettings } from "./settings.ts";

/** `{"$tag":…}` around a payload, beside the tag; `{"$num":"-0"}` and `{"$undefined":true}` whole. */
const TAG_CHARS = 5;
const NUMBER_TAG_CHARS = 13;
const UNDEFINED_TAG_CHARS = 19;
const FLATTEN = "Flatten it, or raise limits.depth";

export class Walk implements Writer {
  readonly #settings: CodecSettings;
  /** Whether every string is looked at; a first walk leaves that to a search in the finished text. */
  readonly #careful: boolean;
  readonly #copying: boolean;
  readonly #maxDepth: number;
  readonly #maxNodes: number;
  readonly #maxBrackets: number;
  readonly #maxBytes: number;
  #nodes = 0;
  #brackets = 0;
  #bytes = 0;
  #level = 0;
  /** Segment by level: where in the container of that level the walk is. */
  readonly #at: Segment[] = [];
  /** Container by level, for naming both ends of a cycle. */
  readonly #held: object[] = [];
  /** Name of the codec or model whose stand-in or fields are being written. */
  #within: string | undefined;

  constructor(settings: CodecSettings, careful: boolean) {
    this.#settings = settings;
    this.#careful = careful;
    this.#copying = isProxy === undefined || settings.codecs.length > 0;
    this.#maxDepth = settings.limits.depth;
    this.#maxNodes = settings.limits.nodes;
    this.#maxBrackets = settings.limits.brackets;
    this.#maxBytes = settings.limits.bytes;
  }

  root(value: unknown): Json {
    try {
      return this.#value(value, 0);
    } catch (error) {
      if (error instanceof SealError) throw error;
      // A proxy's trap, a built-in called on what only looks like one, or the caller's own stack.
      this.refuse("reading it threw", "Seal plain data, or register its class as a model", error);
    }
  }

  part(value: unknown, depth: number, at: Segment): Json {
    this.#at[this.#level] = at;
    return this.#value(value, depth);
  }

  spend(characters: number, nodes = 0, brackets = 0): void {
    this.#bytes += characters;
    this.#nodes += nodes;
    this.#brackets += brackets;
    if (this.#bytes > this.#maxBytes) {
      this.#over(`its text passes ${this.#maxBytes} bytes`, this.#maxBytes, this.#bytes);
    }
    if (this.#nodes > this.#maxNodes) this.#tooMany();
    if (this.#brackets > this.#maxBrackets) this.#tooManyBrackets();
  }

  nest(depth: number): void {
    const limit = this.#maxDepth;
    if (depth < limit) return;
    this.#over(`it nests deeper than ${limit}`, limit, limit + 1, FLATTEN);
  }

  bare(value: object, what: string): void {
    if (getNames(value).length > 0 || getSymbols(value).length > 0) {
      this.refuse(`${what} with extra properties`, "Keep the property beside it, in an object");
    }
  }

  refuse(found: string, advice: string, cause?: unknown): never {
    const name = this.#within;
    const what = name === undefined ? found : `${found} (in ${name})`;
    throw new NotSealableError(this.#path(), what, advice, { name, cause });
  }

  #path(level: number = this.#level): string {
    return formatPath(this.#at, 1, level + 1);
  }

  #value(value: unknown, depth: number): Json {
    if (++this.#nodes > this.#maxNodes) this.#tooMany();
    switch (typeof value) {
      case "string":
        if (this.#careful && needsUnits(value)) return this.#tag(unitsTag(value, this), depth);
        this.spend(value.length + 2);
        return value;
      case "number":
        // SEAL-03: zero's sign, and the values that are no numbers to JSON.
        return isPlainScalar(value) ? value : this.#tag(numberTag(value), depth, NUMBER_TAG_CHARS);
      case "boolean":
        return value;
      case "undefined":
        return this.#tag({ $undefined: true }, depth, UNDEFINED_TAG_CHARS);
      case "bigint":
        return this.#tag(bigintTag(value, this), depth);
      case "object":
        return value === null ? null : this.#object(value, depth);
      case "function":
        return this.#claimed(value, depth);
      default:
        return this.refuse("a symbol", "Use a string that names it");
    }
  }

  /** Counts the bracket and the payload of a tag without parts; its characters where its row hasn't. */
  #tag(tag: Json, depth: number, characters = 0): Json {
    this.spend(characters, 1, 1);
    this.nest(depth);
    return tag;
  }

  #object(value: object, depth: number): Json {
    if (isProxy?.(value) === true) {
      this.refuse("a proxy", "Seal the object behind it, or a plain copy");
    }
    const prototype = getPrototypeOf(value);
    if (isArray(value)) return this.#array(value, prototype, depth);
    if (prototype === objectPrototype || prototype === null) return this.fields(value, depth);
    const { registry, modelOf } = this.#settings;
    const row = registry.of(prototype);
    if (row?.encode !== undefined) {
      this.#enter(value, depth);
      const payload = row.encode(value, this, depth + 1);
      this.#level--;
      this.spend(row.tag.length + TAG_CHARS, 1);
      return { [row.tag]: payload };
    }
    const model = mapGet(modelOf, prototype);
    if (model !== undefined) return this.#model(value, model.name, depth);
    if (intrinsicName(prototype) === "Object") return this.#foreign(value, depth);
    return this.#claimed(value, depth);
  }

  /** Opens a bracket. Callers close it with `#level--`; a refusal never comes back. */
  #enter(value: object, depth: number): void {
    const level = ++this.#level;
    this.#held[level] = value;
    // Until a part is looked at, what is refused is the container itself.
    this.#at[level] = SELF;
    this.nest(depth);
    if (++this.#brackets > this.#maxBrackets) this.#tooManyBrackets();
  }

  fields(
    source: object,
    depth: number,
    wanted?: (key: string) => boolean,
    held: object = source,
  ): Json {
    this.#enter(held, depth);
    const names = getNames(source);
    if (getSymbols(source).length > 0) {
      this.refuse("a symbol key", "Use a string key, or leave the property out");
    }
    const level = this.#level;
    const copy = this.#copying || wanted !== undefined ? createObject(null) : undefined;
    const kept = wanted === undefined ? names : wantedOf(names, wanted);
    // Decided before the parts are written: a list of pairs puts two more brackets around them.
    const plain = !this.#reserved(kept);
    if (!plain) this.nest(depth + 2);
    const written = this.#members(source, kept, plain ? depth + 1 : depth + 3, copy);
    this.#level = level - 1;
    return plain ? (written as Json) : this.#pairs(written, depth);
  }

  #members(
    source: object,
    names: readonly string[],
    inner: number,
    target: Record<string, unknown> | undefined,
  ): Record<string, unknown> {
    const level = this.#level;
    const careful = this.#careful;
    let copy = target;
    let characters = 2;
    let scalars = 0;
    for (let i = 0; i < names.length; i++) {
      const key = names[i]!;
      const property = getDescriptor(source, key);
      if (!isData(property)) {
        this.#at[level] = key;
        this.#notData(property);
      }
      const value: unknown = property.value;
      characters += key.length + 3;
      let written = value;
      // The common kinds are met here, without a call; what they cost is counted after the loop.
      if (typeof value === "string" && !careful) {
        characters += value.length + 2;
        scalars++;
      } else if (isPlainScalar(value)) scalars++;
      else {
        this.#at[level] = key;
        written = this.#value(value, inner);
        if (copy === undefined && written !== value) copy = copyBefore(source, names, i);
      }
      // Without a prototype an assignment can't reach a setter that somebody put there.
      if (copy !== undefined) copy[key] = written;
    }
    this.spend(characters, scalars);
    return copy ?? (source as Record<string, unknown>);
  }

  #reserved(names: readonly string[]): boolean {
    const careful = this.#careful;
    for (let i = 0; i < names.length; i++) {
      const key = names[i]!;
      if (isReservedKey(key) || (careful && needsUnits(key))) return true;
    }
    return false;
  }

  /** SEAL-08: keys that could be taken for a tag, or can't stand in the text, as a list of pairs. */
  #pairs(written: Record<string, unknown>, depth: number): Json {
    const names = getNames(written);
    // The tag and the list, and for each pair its brackets and comma, on top of what the walk has counted.
    this.spend(11 + 3 * names.length, 1 + 2 * names.length, 1 + names.length);
    const pairs = blankList(names.length);
    for (let i = 0; i < names.length; i++) {
      const key = names[i]!;
      const units = this.#careful && needsUnits(key);
      // Counted as the name that it can't be.
      if (units) this.#bytes -= key.length + 2;
      const spelled = units ? this.#tag(unitsTag(key, this), depth + 3) : key;
      pairs[i] = [spelled, getDescriptor(written, key)!.value as Json];
    }
    return { $object: pairs };
  }

  #notData(property: PropertyDescriptor | undefined): never {
    if (property === undefined) this.refuse("a property that vanished", "Seal plain data");
    if (property.get !== undefined || property.set !== undefined) {
      this.refuse("an accessor", "Store the value itself: sealing runs no code of the data");
    }
    this.refuse("a property that is not enumerable", "Make it enumerable, or leave it out");
  }

  #array(source: unknown[], prototype: object | null, depth: number): Json {
    if (
      prototype !== arrayPrototype &&
      (prototype === null || intrinsicName(prototype) !== "Array")
    ) {
      this.refuse("an Array subclass", "Copy it with Array.from");
    }
    this.#enter(source, depth);
    const { length } = source;
    // A bomb by length is refused before its keys are listed; its holes cost nothing (SEAL-06).
    if (length > this.#maxNodes) this.#tooMany();
    const keys = ownKeys(source);
    // Keys come indexes first, ascending, symbols last: this many before "length", and nothing
    // behind it, means that every index is there and nothing else is.
    if (keys.length !== length + 1 || keys[length] !== "length") this.#notDense(source);
    if (objectKeys(source).length !== length) this.#hiddenElements();
    const written = this.#elements(source, depth + 1, prototype !== arrayPrototype);
    this.#level--;
    return written;
  }

  #notDense(source: unknown[]): never {
    const names = getNames(source);
    const dense = names.length === source.length + 1 && names[source.length] === "length";
    if (dense) this.#hiddenElements();
    return this.refuse("a sparse array, or one with extra properties", "Use a dense array");
  }

  #hiddenElements(): never {
    this.refuse("an array with a symbol key or hidden elements", "Use a dense array");
  }

  #elements(source: unknown[], inner: number, foreign: boolean): Json {
    const { length } = source;
    const level = this.#level;
    const careful = this.#careful;
    const reread = this.#copying || foreign;
    let copy = reread ? blankList(length) : undefined;
    let characters = length + 1;
    let scalars = 0;
    for (let i = 0; i < length; i++) {
      const value = this.#element(source, i, reread);
      let written = value;
      if (typeof value === "string" && !careful) {
        characters += value.length + 2;
        scalars++;
      } else if (isPlainScalar(value)) scalars++;
      else {
        this.#at[level] = i;
        written = this.#value(value, inner);
        if (copy === undefined && written !== value) {
          copy = blankList(length);
          for (let k = 0; k < i; k++) copy[k] = source[k] as Json;
        }
      }
      if (copy !== undefined) copy[i] = written as Json;
    }
    this.spend(characters, scalars);
    return (copy ?? source) as Json;
  }

  #element(source: unknown[], index: number, reread: boolean): unknown {
    // All elements are enumerable by now; a getter is told by the lighter look-up, a setter alone by what it gives.
    if (!reread && lookupGetter(source, index) === undefined) {
      const value = source[index];
      if (value !== undefined) return value;
    }
    const property = getDescriptor(source, index);
    if (isData(property)) return property.value;
    this.#at[this.#level] = index;
    return this.#notData(property);
  }

  /** Another realm's plain object is copied, so that nothing of that realm is asked for `toJSON`. */
  #foreign(source: object, depth: number): Json {
    return this.fields(source, depth, () => true);
  }

  /** SEAL-15: a registered class, by its name; `#private` fields are not visible, `_` ones are skipped. */
  #model(value: object, name: string, depth: number): Json {
    this.#enter(value, depth);
    const outer = this.#within;
    this.#within = `model ${name}`;
    this.nest(depth + 1);
    this.spend(name.length + 14, 3, 1);
    this.#at[this.#level] = { place: "fields" };
    // The instance is held one level up: held twice it would be taken for a cycle.
    const fields = this.fields(value, depth + 2, (key) => key[0] !== "_", {});
    this.#within = outer;
    this.#level--;
    return { $model: [name, fields] };
  }

  /** SEAL-16: what the format doesn't know may be a codec's; else it is refused. */
  #claimed(value: object, depth: number): Json {
    const { codecs } = this.#settings;
    for (let i = 0; i < codecs.length; i++) {
      const codec = codecs[i]!;
      const outer = this.#within;
      this.#within = `codec ${codec.type}`;
      let standIn: unknown;
      try {
        if (!codec.is(value)) {
          this.#within = outer;
          continue;
        }
        standIn = codec.encode(value);
      } catch (error) {
        this.refuse("its codec threw", "Mend the codec", error);
      }
      this.#enter(value, depth);
      this.nest(depth + 1);
      this.spend(codec.type.length + 14, 2, 1);
      this.#at[this.#level] = { place: "standIn" };
      const written = this.#value(standIn, depth + 2);
      this.#within = outer;
      this.#level--;
      return { $codec: [codec.type, written] };
    }
    const { found, advice } = describe(value);
    return this.refuse(found, advice);
  }

  #tooMany(): never {
    this.#over(`it has more than ${this.#maxNodes} values`, this.#maxNodes, this.#nodes);
  }

  #tooManyBrackets(): never {
    const limit = this.#maxBrackets;
    this.#over(`it has more than ${limit} lists and objects`, limit, this.#brackets);
  }

  /** Refuses what is past a limit, or the cycle that led there. */
  #over(found: string, limit: number, figure: number, advice = "Keep bulk data outside"): never {
    this.#cycle();
    throw new NotSealableError(this.#path(), found, advice, { limit, figure, name: this.#within });
  }

  #cycle(): void {
    const held = this.#held;
    for (let outer = 1; outer <= this.#level; outer++) {
      for (let inner = outer + 1; inner <= this.#level; inner++) {
        if (held[outer] === held[inner]) {
          const start = this.#path(outer - 1);
          const end = this.#path(inner - 1);
          throw new NotSealableError(
            end,
            `a cycle back to ${start === "" ? "the value itself" : start}`,
            "Refer to the other object by an id",
            { name: this.#within },
          );
        }
      }
    }
  }
}

/** W1. A data descriptor has neither get nor set; with a polluted prototype it seems to, and is refused. */
function isData(property: PropertyDescriptor | undefined): property is PropertyDescriptor {
  return (
    property !== undefined &&
    property.get === undefined &&
    property.set === undefined &&
    property.enumerable === true
  );
}

/** SEAL-01, SEAL-02: what the text holds as it is, strings apart. */
function isPlainScalar(value: unknown): boolean {
  if (typeof value === "number") return value === 0 ? 1 / value > 0 : value - value === 0;
  return value === null || typeof value === "boolean";
}

function wantedOf(names: readonly string[], wanted: (key: string) => boolean): readonly string[] {
  const kept: string[] = [];
  for (let i = 0; i < names.length; i++) if (wanted(names[i]!)) kept[kept.length] = names[i]!;
  return kept;
}

function copyBefore(
  source: object,
  names: readonly string[],
  end: number,
): Record<string, unknown> {
  const copy = createObject(null);
  for (let i = 0; i < end; i++) copy[names[i]!] = (source as Record<string, unknown>)[names[i]!];
  return copy;
}
