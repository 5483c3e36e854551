import { getDescriptor, getPrototypeOf, pattern, sliceText, testPattern } from "../platform.ts";
import { intrinsicName } from "./registry.ts";

const CLASS_NAME_CHARS = 64;

const KNOWN: Readonly<Record<string, string>> = {
  Error: "Keep its name, message and code as fields of a plain object",
  RegExp: "Keep its source and flags as strings",
  Promise: "Await it first",
  WeakMap: "Weak collections can't be listed; use a Map with ids",
  WeakSet: "Weak collections can't be listed; use a Set of ids",
  WeakRef: "Refer to the object by an id",
  String: "Unwrap it to a string",
  Number: "Unwrap it to a number",
  Boolean: "Unwrap it to a boolean",
  BigInt: "Unwrap it to a bigint",
  Symbol: "Use a string that names it",
  Date: "Use a Date itself, or a codec",
  Map: "Use a Map itself, or a codec",
  Set: "Use a Set itself, or a codec",
};

/** What an object that no row, model or codec takes is, and what its owner can do. */
export function describe(value: object): { found: string; advice: string } {
  if (typeof value === "function") {
    return {
      found: "a function",
      advice: "Keep a name in the state, and look the function up by it",
    };
  }
  // What has no prototype is a plain object, and never comes here.
  const own = classNameOf(getPrototypeOf(value)!);
  for (let at = getPrototypeOf(value); at !== null; at = getPrototypeOf(at)) {
    const intrinsic = intrinsicName(at) ?? "";
    const advice: unknown = getDescriptor(KNOWN, intrinsic)?.value;
    if (typeof advice === "string") {
      const found =
        own === intrinsic || own === undefined
          ? withArticle(intrinsic)
          : `${withArticle(own)} (${withArticle(intrinsic)})`;
      return { found, advice };
    }
  }
  return {
    found: own === undefined ? "an object with a prototype of its own" : `an instance of ${own}`,
    advice: "Register the class with model(), write a codec with defineCodec(), or use plain data",
  };
}

/** `an Error`, `a URL`: a name that begins with U is mostly said with a consonant. */
function withArticle(name: string): string {
  return testPattern(VOWEL, name) ? `an ${name}` : `a ${name}`;
}

const VOWEL = pattern(/^[AEIO]/u);
const NAME = pattern(/^[\p{L}\p{N}_$.]+$/u);

/** A class's name by data properties alone: no getter of the class runs. */
function classNameOf(prototype: object): string | undefined {
  const made: unknown = getDescriptor(prototype, "constructor")?.value;
  if (typeof made !== "function") return undefined;
  const name: unknown = getDescriptor(made, "name")?.value;
  if (typeof name !== "string" || !testPattern(NAME, name)) return undefined;
  return sliceText(name, 0, CLASS_NAME_CHARS);
}
