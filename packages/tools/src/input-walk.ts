/**
 * Reads an input through a schema, by `_zod.def` alone (FLOW-31).
 *
 * The journal key must be the same whenever the caller passes the same input. A key of the parsed
 * value is not: defaults draw ids, transforms read clocks. A key of the raw input is not either: an
 * extra property that the schema strips, or one that is `undefined`, changes nothing for the tool.
 * So schema and input are walked together, and what is kept is what the schema would have read.
 *
 * W1 Nothing that a schema makes enters: defaults, prefaults, transforms, catches and codec results
 *    are looked through.
 * W2 A union or intersection is one position with several readings; a key stays if any of them
 *    declares it.
 * W3 Where a schema does not say what it reads (any, custom, transform …) everything stays as
 *    passed.
 * W4 The walk is total: a value that fits no reading is copied as passed; nothing is thrown for it.
 * W5 The walk has two modes. `snapshot` copies what validation may see, so the caller's later
 *    changes don't reach it; `key` reads that copy again, drops what is `undefined` and coerces
 *    leaves that say so.
 * W6 No function of the schema runs but `lazy` and shape getters, each once; getters of the input
 *    are read once, as the schema itself reads them.
 *
 * A schema is compiled to closures once per tool. Positions that recur (recursive schemas) share a
 * slot and remember what they have copied, so that cyclic and shared input ends in linear time.
 */
import { copyOpen, isPlain, type OpenMemo } from "./open-copy.ts";
import { compileDepthMax, readersMax } from "./limits.ts";

/** One walk over one input. */
interface Walk {
  readonly mode: "snapshot" | "key";
  /** What recurring positions have copied so far; `undefined` until one is met. */
  seen: Map<Slot, Map<object, unknown>> | undefined;
  readonly open: OpenMemo;
}

type Read = (value: unknown, walk: Walk) => unknown;

/** A position of the schema; `read` is filled in when it has been compiled. */
interface Slot {
  read: Read;
  building: boolean;
  recurs: boolean;
}

/** As much of a zod schema as is read here. */
interface ZodLike {
  readonly _zod: { readonly def: Def };
}

interface Def {
  readonly type: string;
  readonly [field: string]: unknown;
}

/** All readings of one position, by what they accept. */
interface Readings {
  open: boolean;
  objects: { shape: Readonly<Record<string, unknown>>; catchall: unknown }[];
  records: unknown[];
  arrays: unknown[];
  tuples: { items: readonly unknown[]; rest: unknown }[];
  maps: { key: unknown; value: unknown }[];
  sets: unknown[];
  /** Leaves: their kind where they coerce, else `undefined`. */
  leaves: (string | undefined)[];
}

/** Looked through: the schema inside says what is read (W1). */
const wrappers = new Set([
  "optional",
  "nullable",
  "default",
  "prefault",
  "nonoptional",
  "readonly",
  "catch",
  "success",
]);

/**
 * Kinds that read one value as it is. Whatever is not known here, a newer kind included, is open
 * (W3).
 */
const leafKinds = new Set([
  "string",
  "number",
  "int",
  "boolean",
  "bigint",
  "date",
  "null",
  "undefined",
  "void",
  "never",
  "nan",
  "literal",
  "enum",
  "template_literal",
]);

/**
 * Compiles a schema; the result copies an input (`snapshot`) or gives the form that its key is made
 * of (`key`).
 */
export function compileWalk(schema: unknown): (value: unknown, mode: Walk["mode"]) => unknown {
  const slot = new Compiler().slot([schema]);
  return (value, mode) => {
    try {
      return slot.read(value, { mode, seen: undefined, open: { copies: undefined, mode } });
    } catch {
      return value; // W4: a throwing getter, or a nesting past the stack; sealing will name it
    }
  };
}

/**
 * Whether a dotted path can lead anywhere in what the schema reads; a segment `*` is any name
 * (TOOL-11).
 */
export function readsPath(schema: unknown, path: readonly string[]): boolean {
  return leads([schema], path, 0);
}

/**
 * Arrays of themselves end nowhere; past this depth the path is taken for one that leads somewhere.
 */
const pathDepthMax = 64;

function leads(schemas: readonly unknown[], path: readonly string[], depth: number): boolean {
  const [name, ...rest] = path;
  const readings = readingsOf(schemas);
  const { objects, records, maps } = readings;
  if (name === undefined || readings.open || depth > pathDepthMax) return true;
  const named = [
    ...objects.flatMap(({ shape, catchall }) =>
      name === "*" ? Object.values(shape) : [Object.hasOwn(shape, name) ? shape[name] : catchall],
    ),
    ...records,
    ...maps.map(({ value }) => value),
  ].filter((found) => found !== undefined);
  if (named.length > 0 && leads(named, rest, depth + 1)) return true;
  // Elements are gone through whether or not the path names them.
  const elements = [
    ...readings.arrays,
    ...readings.tuples.flatMap(({ items, rest: others }) => [...items, others]),
    ...readings.sets,
  ].filter(Boolean);
  return (
    elements.length > 0 &&
    (leads(elements, path, depth + 1) || (isElement(name) && leads(elements, rest, depth + 1)))
  );
}

function isElement(name: string): boolean {
  return name === "*" || /^\d+$/.test(name);
}

function isZod(schema: unknown): schema is ZodLike {
  return typeof schema === "object" && schema !== null && "_zod" in schema;
}

class Compiler {
  readonly #slots = new Map<string, Slot>();
  readonly #numbers = new Map<unknown, number>();
  #depth = 0;

  /** The slot of a position that may be read through any of `schemas`. */
  slot(schemas: readonly unknown[]): Slot {
    const name = this.#nameOf(schemas);
    const known = this.#slots.get(name);
    if (known !== undefined) {
      if (known.building) known.recurs = true;
      return known;
    }
    if (this.#slots.size >= readersMax) return { read: openRead, building: false, recurs: false };
    const slot: Slot = { read: openRead, building: false, recurs: false };
    this.#slots.set(name, slot);
    if (this.#depth < compileDepthMax) this.#build(slot, schemas);
    else slot.read = (value, walk) => this.#later(slot, schemas)(value, walk);
    return slot;
  }

  #build(slot: Slot, schemas: readonly unknown[]): void {
    slot.building = true;
    this.#depth += 1;
    const read = this.#compile(schemas);
    this.#depth -= 1;
    slot.building = false;
    slot.read = slot.recurs ? remembering(slot, read) : read;
  }

  /**
   * Lazy getters may make new schemas without an end: what is so far down is compiled when a value
   * gets there.
   */
  #later(slot: Slot, schemas: readonly unknown[]): Read {
    slot.recurs = true;
    this.#build(slot, schemas);
    return slot.read;
  }

  #nameOf(schemas: readonly unknown[]): string {
    const numbers = new Set<number>();
    for (const schema of schemas) {
      let number = this.#numbers.get(schema);
      if (number === undefined) this.#numbers.set(schema, (number = this.#numbers.size));
      numbers.add(number);
    }
    return [...numbers].sort((a, b) => a - b).join(" ");
  }

  #compile(schemas: readonly unknown[]): Read {
    const readings = readingsOf(schemas);
    if (readings.open) return openRead;
    const readObject = this.#objects(readings);
    const readArray = this.#arrays(readings);
    const readMap = this.#maps(readings);
    const readSet = this.#sets(readings);
    const readLeaf = leafRead(readings);
    return (value, walk) => {
      if (typeof value !== "object" || value === null) return readLeaf(value, walk);
      if (Array.isArray(value)) return (readArray ?? readLeaf)(value, walk);
      if (readMap !== undefined && value instanceof Map) return readMap(value, walk);
      if (readSet !== undefined && value instanceof Set) return readSet(value, walk);
      return (readObject ?? readLeaf)(value, walk);
    };
  }

  #objects({ objects, records }: Readings): Read | undefined {
    if (objects.length + records.length === 0) return undefined;
    const names = new Set(objects.flatMap(({ shape }) => Object.keys(shape)));
    names.delete("__proto__"); // zod never reads it
    const others = [...objects.map(({ catchall }) => catchall), ...records].filter(
      (schema) => schema !== undefined,
    );
    const fields = [...names].map((name) => {
      const readings = objects.map(({ shape, catchall }) =>
        Object.hasOwn(shape, name) ? shape[name] : catchall,
      );
      const kept = [...readings, ...records].filter((schema) => schema !== undefined);
      return { name, slot: this.slot(kept) };
    });
    // A `never` catchall (strict) reads nothing, but must be told of what is there, to refuse it.
    const rest = others.length === 0 ? undefined : this.slot(others);
    const anyObject = objects.length > 0;
    return (value, walk) => {
      // Records take plain objects only, objects whatever has properties.
      if (!anyObject && !isPlain(value as object)) return copyOpen(value, walk.open);
      const from = value as Readonly<Record<string, unknown>>;
      const copy: Record<string, unknown> = {};
      for (const { name, slot } of fields) {
        const field = from[name];
        if (field !== undefined) copy[name] = slot.read(field, walk);
        else if (walk.mode === "snapshot" && name in from) copy[name] = undefined;
      }
      if (rest === undefined) return copy;
      // Inherited names too: zod enumerates the same way, and skips the same one.
      for (const name in from) {
        if (names.has(name) || name === "__proto__") continue;
        const field = from[name];
        if (field !== undefined || walk.mode === "snapshot") copy[name] = rest.read(field, walk);
      }
      return copy;
    };
  }

  #arrays({ arrays, tuples }: Readings): Read | undefined {
    if (arrays.length + tuples.length === 0) return undefined;
    const longest = Math.max(0, ...tuples.map(({ items }) => items.length));
    const at = (index: number): Slot =>
      this.slot([
        ...arrays,
        ...tuples
          .map(({ items, rest }) => (index < items.length ? items[index] : rest))
          .filter(Boolean),
      ]);
    const heads = Array.from({ length: longest }, (_, index) => at(index));
    const tail = at(longest);
    const cutsTail = arrays.length === 0 && tuples.every(({ rest }) => rest === null);
    return (value, walk) => {
      const from = value as readonly unknown[];
      let length = from.length;
      // Trailing elements of a tuple that are not there and that are `undefined` read the same.
      if (cutsTail && walk.mode === "key")
        while (length > 0 && from[length - 1] === undefined) length--;
      const copy: unknown[] = [];
      for (let index = 0; index < length; index++) {
        copy.push((heads[index] ?? tail).read(from[index], walk));
      }
      return copy;
    };
  }

  #maps({ maps }: Readings): Read | undefined {
    if (maps.length === 0) return undefined;
    const keys = this.slot(maps.map(({ key }) => key));
    const values = this.slot(maps.map(({ value }) => value));
    return (from, walk) => {
      const copy = new Map<unknown, unknown>();
      for (const [key, value] of from as ReadonlyMap<unknown, unknown>) {
        copy.set(keys.read(key, walk), values.read(value, walk));
      }
      return copy;
    };
  }

  #sets({ sets }: Readings): Read | undefined {
    if (sets.length === 0) return undefined;
    const members = this.slot(sets);
    return (from, walk) => {
      const copy = new Set<unknown>();
      for (const member of from as ReadonlySet<unknown>) copy.add(members.read(member, walk));
      return copy;
    };
  }
}

const inner = new WeakMap<() => unknown, unknown>();

/**
 * What a lazy schema stands for, asked for once: a getter makes a new schema each time, which would
 * recur nowhere.
 */
function innerOf(getter: () => unknown): unknown {
  if (!inner.has(getter)) inner.set(getter, getter());
  return inner.get(getter);
}

/** Flattens wrappers, unions and intersections into the readings of one position (W1, W2). */
function readingsOf(schemas: readonly unknown[]): Readings {
  const into: Readings = {
    open: false,
    objects: [],
    records: [],
    arrays: [],
    tuples: [],
    maps: [],
    sets: [],
    leaves: [],
  };
  const queue = [...schemas];
  const met = new Set<unknown>();
  for (let schema = queue.pop(); schema !== undefined; schema = queue.pop()) {
    if (met.has(schema)) continue; // a lazy that is its own option
    met.add(schema);
    if (!isZod(schema)) {
      into.open = true; // another Standard Schema says nothing of what it reads
      continue;
    }
    const { def } = schema._zod;
    if (wrappers.has(def.type)) queue.push(def["innerType"]);
    else if (def.type === "lazy") queue.push(innerOf(def["getter"] as () => unknown));
    else if (def.type === "pipe") queue.push(def["in"]);
    else if (def.type === "union") queue.push(...(def["options"] as readonly unknown[]));
    else if (def.type === "intersection") queue.push(def["left"], def["right"]);
    else gatherKind(def, into);
  }
  return into;
}

function gatherKind(def: Def, into: Readings): void {
  switch (def.type) {
    case "object":
      into.objects.push({
        shape: def["shape"] as Readonly<Record<string, unknown>>,
        catchall: def["catchall"],
      });
      return;
    case "record":
      into.records.push(def["valueType"]);
      return;
    case "array":
      into.arrays.push(def["element"]);
      return;
    case "tuple":
      into.tuples.push({ items: def["items"] as readonly unknown[], rest: def["rest"] });
      return;
    case "map":
      into.maps.push({ key: def["keyType"], value: def["valueType"] });
      return;
    case "set":
      into.sets.push(def["valueType"]);
      return;
    default:
      if (leafKinds.has(def.type)) into.leaves.push(def["coerce"] === true ? def.type : undefined);
      else into.open = true;
  }
}

const openRead: Read = (value, walk) => copyOpen(value, walk.open);

/**
 * A coercing leaf gives the coerced value, so that `"5"` and `5` are one input. Where the position
 * has other readings too, they may tell the two apart, and so does the key.
 */
function leafRead({ leaves, objects, records, arrays, tuples, maps, sets }: Readings): Read {
  const [kind] = leaves;
  const others = [leaves.slice(1), objects, records, arrays, tuples, maps, sets];
  const coerce = kind === undefined ? undefined : coercions[kind];
  if (coerce === undefined || others.some((list) => list.length > 0)) return openRead;
  return (value, walk) => {
    if (walk.mode === "snapshot" || value === undefined || value === null) {
      return copyOpen(value, walk.open);
    }
    try {
      return coerce(value) ?? copyOpen(value, walk.open);
    } catch {
      return copyOpen(value, walk.open); // validation will refuse it
    }
  };
}

const coercions: Readonly<Record<string, (value: unknown) => unknown>> = {
  string: (value) => String(value),
  number: (value) => Number(value),
  boolean: (value) => Boolean(value),
  bigint: (value) => BigInt(value as string),
  date(value) {
    const date = new Date(value as string);
    return Number.isNaN(date.getTime()) ? undefined : date;
  },
};

/** Ends cycles (the object itself, which nothing can seal) and copies shared objects once. */
function remembering(slot: Slot, read: Read): Read {
  return (value, walk) => {
    if (typeof value !== "object" || value === null) return read(value, walk);
    walk.seen ??= new Map();
    let copies = walk.seen.get(slot);
    if (copies === undefined) walk.seen.set(slot, (copies = new Map()));
    if (copies.has(value)) return copies.get(value);
    copies.set(value, value);
    const copy = read(value, walk);
    copies.set(value, copy);
    return copy;
  };
}
