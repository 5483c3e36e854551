import {
  arraySort,
  defineData,
  keepSparse,
  mapSet,
  methodOf,
  setAdd,
  setHas,
  slotGetter,
  toNumber,
} from "../platform.ts";
import { unitsOf } from "./scalar-rows.ts";
import { blankList } from "./blank-list.ts";
import type { Json, Row } from "./row.ts";

type AnyMap = Map<unknown, unknown>;
type AnySet = Set<unknown>;
const mapEach = methodOf<(self: AnyMap, each: (value: unknown, key: unknown) => void) => void>(
  Map.prototype,
  "forEach",
);
const setEach = methodOf<(self: AnySet, each: (member: unknown) => void) => void>(
  Set.prototype,
  "forEach",
);
const mapSize = slotGetter(Map.prototype, "size") as (map: object) => number;
const setSize = slotGetter(Set.prototype, "size") as (set: object) => number;
const mapClass = Map;
const setClass = Set;

/** SEAL-09: insertion order in the sealed text, order of the keys' canonical texts in the other form. */
export const mapRow: Row = {
  tag: "$map",
  classes: ["Map"],
  encode(value, writer, depth) {
    writer.bare(value, "a Map");
    const count = mapSize(value);
    writer.nest(count === 0 ? depth : depth + 1);
    writer.spend(4 * count, count, count + 1);
    const pairs = blankList(count);
    let index = 0;
    mapEach(value as Map<unknown, unknown>, (held, key) => {
      const first = writer.part(key, depth + 2, { place: `keys(${index})` });
      pairs[index] = [first, writer.part(held, depth + 2, { place: `values(${index})` })];
      index++;
    });
    return pairs;
  },
  check(payload, checker) {
    const pairs = checker.list(payload);
    const keys: Json[] = [];
    for (let i = 0; i < pairs.length; i++) {
      checker.part(pairs[i]!, i);
      keys[i] = checker.list(pairs[i]!, 2)[0]!;
    }
    checker.distinct(keys);
  },
  build(payload, builder) {
    const pairs = payload as Json[][];
    const map = new mapClass<unknown, unknown>();
    for (let i = 0; i < pairs.length; i++) {
      const pair = builder.part(pairs[i]!, i) as unknown[];
      mapSet(map, pair[0], pair[1]);
    }
    // A codec may give one value for two stand-ins; an entry must not vanish for it.
    if (mapSize(map) !== pairs.length) builder.refuse("two keys of a Map became one");
    return map;
  },
  order(payload, print) {
    return printSorted(payload as Json[][], (pair) => {
      const first = print(pair[0]!);
      const last = print(pair[1]!);
      return { first, last, text: `[${first},${last}]` };
    });
  },
};

/** SEAL-10. */
export const setRow: Row = {
  tag: "$set",
  classes: ["Set"],
  encode(value, writer, depth) {
    writer.bare(value, "a Set");
    writer.nest(depth);
    writer.spend(0, 0, 1);
    const members = blankList(setSize(value));
    let index = 0;
    setEach(value as Set<unknown>, (member) => {
      members[index] = writer.part(member, depth + 1, { place: `values(${index})` });
      index++;
    });
    return members;
  },
  check(payload, checker) {
    const members = checker.list(payload);
    for (let i = 0; i < members.length; i++) checker.part(members[i]!, i);
    checker.distinct(members);
  },
  build(payload, builder) {
    const members = payload as Json[];
    const set = new setClass<unknown>();
    for (let i = 0; i < members.length; i++) setAdd(set, builder.part(members[i]!, i));
    if (setSize(set) !== members.length) builder.refuse("two members of a Set became one");
    return set;
  },
  order(payload, print) {
    return printSorted(payload as Json[], (member) => {
      const text = print(member);
      return { first: text, last: "", text };
    });
  },
};

/** What an entry or member is sorted by, and its text. */
interface Printed {
  readonly first: string;
  readonly last: string;
  readonly text: string;
}

function printSorted<Item extends Json>(
  items: readonly Item[],
  print: (item: Item) => Printed,
): string {
  const printed: Printed[] = [];
  // No element is inherited here: the check before each use has seen to that.
  for (let i = 0; i < items.length; i++) printed[i] = print(items[i]!);
  arraySort(printed, (a, b) => compareText(a.first, b.first) || compareText(a.last, b.last));
  let text = "[";
  for (let i = 0; i < printed.length; i++)
    text += i === 0 ? printed[i]!.text : `,${printed[i]!.text}`;
  return `${text}]`;
}

/** UTF-16 code units decide, as RFC 8785 has it: what `<` compares, and no locale. */
export function compareText(a: string, b: string): number {
  return +(a > b) - +(a < b);
}

/** Up to here texts are put in their place one by one: the native sort makes two lists for itself. */
const SORTED_IN_PLACE = 24;

/** Sorts a list of texts by `compareText`. */
export function sortTexts(texts: string[]): void {
  const { length } = texts;
  if (length > SORTED_IN_PLACE) return void arraySort(texts, compareText);
  for (let i = 1; i < length; i++) {
    const text = texts[i]!;
    let to = i;
    for (; to > 0 && texts[to - 1]! > text; to--) texts[to] = texts[to - 1]!;
    texts[to] = text;
  }
}

/** SEAL-08: whether a key keeps its object from the plain form. NUL and surrogates: see `needsUnits`. */
export function isReservedKey(key: string): boolean {
  return key[0] === "$" || key === "__proto__";
}

/** Whether an object would iterate `key` among its integer keys, first and ascending. */
export function isIndexKey(key: string): boolean {
  const index = toNumber(key);
  return index >>> 0 === index && index < 4_294_967_295 && `${index}` === key;
}

/** SEAL-08: an object one of whose keys could be taken for something else. */
export const objectRow: Row = {
  tag: "$object",
  check(payload, checker) {
    const pairs = checker.list(payload);
    const seen = new setClass<string>();
    let reserved = false;
    let indexes = true;
    let lastIndex = -1;
    for (let i = 0; i < pairs.length; i++) {
      checker.part(pairs[i]!, i);
      const spelled = checker.list(pairs[i]!, 2)[0]!;
      const key = checker.key(spelled, i);
      if (setHas(seen, key)) checker.refuse("a key given twice");
      setAdd(seen, key);
      if (typeof spelled !== "string" || isReservedKey(key)) reserved = true;
      // Objects iterate integer keys first and ascending: another order would not come back.
      const index = isIndexKey(key) ? toNumber(key) : -1;
      if (index >= 0 && (!indexes || index < lastIndex)) checker.refuse("keys out of order");
      if (index >= 0) lastIndex = index;
      else indexes = false;
    }
    if (!reserved) checker.refuse("an object due in its plain form");
  },
  build(payload, builder) {
    const pairs = payload as Json[][];
    const object = {};
    // Indexes come first, or not at all.
    if (isIndexKey(keyText(pairs[0]![0]!))) keepSparse(object);
    for (let i = 0; i < pairs.length; i++) {
      const pair = builder.part(pairs[i]!, i) as unknown[];
      // Defined, never assigned: `__proto__` stays data (SEAL-08).
      defineData(object, pair[0] as string, pair[1]);
    }
    return object;
  },
  order(payload, print) {
    return printSorted(payload as Json[][], (pair) => ({
      first: keyText(pair[0]!),
      last: "",
      text: `[${print(pair[0]!)},${print(pair[1]!)}]`,
    }));
  },
};

/** A key of a list of pairs, as the string it stands for. */
export function keyText(spelled: Json): string {
  if (typeof spelled === "string") return spelled;
  return unitsOf((spelled as { $utf16: string }).$utf16) as string;
}

/** SEAL-15: name and fields; which names may be built is the checker's business (SEAL-41). */
export const modelRow: Row = {
  tag: "$model",
  check(payload, checker) {
    const parts = checker.list(payload, 2);
    checker.allowModel(checker.text(parts[0]!));
    checker.fields(parts[1]!, 1);
  },
  build(payload, builder) {
    const parts = payload as Json[];
    return builder.model(parts[0] as string, builder.part(parts[1]!, 1));
  },
};

/** SEAL-16: type name and stand-in. */
export const codecRow: Row = {
  tag: "$codec",
  check(payload, checker) {
    const parts = checker.list(payload, 2);
    checker.allowCodec(checker.text(parts[0]!));
    checker.part(parts[1]!, 1);
  },
  build(payload, builder) {
    const parts = payload as Json[];
    return builder.codec(parts[0] as string, builder.part(parts[1]!, 1));
  },
};
