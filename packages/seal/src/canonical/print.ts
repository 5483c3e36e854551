import { isArray, jsonStringify, objectKeys } from "../platform.ts";
import { sortTexts } from "./collection-rows.ts";
import type { Registry } from "./registry.ts";
import type { Json } from "./row.ts";

/**
 * The canonical form of a tree: names sorted by UTF-16 code unit, entries and members by their own
 * canonical texts. Without tags it is exactly RFC 8785.
 *
 * Sorting by code unit rather than by code point differs only past the Basic Multilingual Plane:
 * U+1F600 is written D83D DE00 and so sorts before U+FB33. RFC 8785 chose it because `<` on
 * strings does it in JavaScript, Java and C#; a reader in a language of UTF-8 strings has to
 * compare the UTF-16 units, not the bytes. An object can't hold this order by itself (integer keys
 * come first, by value), hence a writer of its own here while the sealed text uses the native one.
 */
export function printCanonical(tree: Json, registry: Registry): string {
  const print = (value: Json): string => {
    if (typeof value !== "object" || value === null) return jsonStringify(value);
    if (isArray(value)) return printList(value, print);
    const names = objectKeys(value);
    const row = names.length === 1 && names[0]![0] === "$" ? registry.tagged(names[0]!) : undefined;
    if (row !== undefined) {
      const payload = value[row.tag]!;
      return `{"${row.tag}":${row.order === undefined ? print(payload) : row.order(payload, print)}}`;
    }
    sortTexts(names);
    let text = "{";
    for (let i = 0; i < names.length; i++) {
      const name = names[i]!;
      text += `${i === 0 ? "" : ","}${jsonStringify(name)}:${print(value[name]!)}`;
    }
    return `${text}}`;
  };
  return print(tree);
}

function printList(list: readonly Json[], print: (value: Json) => string): string {
  let text = "[";
  for (let i = 0; i < list.length; i++) text += i === 0 ? print(list[i]!) : `,${print(list[i]!)}`;
  return `${text}]`;
}
