/**
 * Every function and accessor of the built-ins, replaced one after another: what is written, read, hashed and refused
 * stays what it was, or ends in a typed error (SEAL-26). A test of its own, since it takes seconds.
 */
import { describe, expect, it } from "vitest";

import {
  canonicalize,
  createKeyring,
  decode,
  digest,
  digestText,
  encode,
  isSealError,
  keyringOf,
  nobleMac,
  open,
  seal,
} from "../src/index.ts";
import { nodeMac } from "../src/node.ts";
import { nobleSha256 } from "../src/sealing/hash.ts";

const key = new Uint8Array(32).fill(1);
const options = {
  keyring: createKeyring({ current: { id: "k1", key }, mac: nodeMac }),
  purpose: "decision",
  header: { b: 1, a: "x" },
};
/** Hashed by another package's code, as where the runtime has no hash of its own. */
const slow = {
  keyring: createKeyring({ current: { id: "k1", key }, mac: nobleMac }),
  purpose: "decision",
};
const plain = { keyring: keyringOf(key), purpose: "decision" };

const text =
  '{"$object":[["b",[1.5,{"$num":"-0"},{"$utf16":"eAAAAA"},{"$undefined":true},{"$bigint":"7"},' +
  `{"$bigint16":"1${"0".repeat(500)}"}]],["a",{"$map":[["k",{"$set":[2,1,{"z":1}]}],[[1],2],["b",3]]}],` +
  '["d",{"$date":"1970-01-01T00:00:00.005Z"}],["t",{"$uint16":"AQACAA"}],["u",{"$bytes":"BwcHBw"}],' +
  '["f",{"$float64":"AAAAAAAA-D8"}],["$x",{"2":1,"10":3}],["\\n",{"é\\n":"😀"}],' +
  '["z",{"$zoned":["2026-01-01T00:00:00Z","Europe/Berlin","iso8601"]}],["l",{"$duration":{"hours":2}}],' +
  '["m",{"$yearmonth":"2026-02-01[u-ca=iso8601]"}],["n",null]]}';
const value = decode(text);
const sealed = seal(value, options);
const slowly = seal(value, slow);
const forged = sealed.replace('"a":"x"', '"a":"y"');

const refused = (of: string) => (): string => {
  decode(of);
  return "taken";
};
const extra = Object.assign(new Map(), { x: 1 });
const long = Object.assign(new Uint8Array(8), { x: 1 });
const RUNS: readonly (() => unknown)[] = [
  () => encode(value),
  () => canonicalize(value),
  () => digest(value),
  () => encode(decode(text)),
  () => seal(value, options),
  () => encode(open(sealed, options).value),
  () => open(sealed, options).header["a"],
  () => encode(open(slowly, slow).value),
  () => seal(value, plain),
  () => nobleSha256.base64(text),
  () => open(forged, options),
  () => open(sealed, { ...options, purpose: "other" }),
  () => encode({ f: { a: [key, () => 1] } }),
  () => encode(extra),
  () => encode(long),
  refused('{"a":[1,1.0]}'),
  refused("[ 1]"),
  refused('{"$bigint":"01"}'),
  refused('{"$date":"2026-02-30T00:00:00.000Z"}'),
  refused('{"$map":[["a",1],["a",2]]}'),
  refused('{"$set":[1,1]}'),
  refused('{"b":{"a":1,"a":2}}'),
  refused('{"$bytes":"A"}'),
  refused('{"$utf16":"YQA"}'),
  refused('{"b":1,"0":2}'),
  refused('"\\u0041"'),
  refused('{"$zoned":["2026-01-01T00:00:00Z","Europe/berlin","iso8601"]}'),
  refused('{"$model":["P",{}]}'),
];

/** What a run gives: its text, or the code and path of its error. Nothing here may stand on a built-in. */
function outcome(run: () => unknown): string {
  try {
    return `${run() as string}`;
  } catch (error) {
    return isSealError(error) ? `${error.code} ${error.path}` : "untyped";
  }
}
const before = RUNS.map(outcome);

const { getOwnPropertyDescriptor, defineProperty, getPrototypeOf } = Object;
const { ownKeys } = Reflect;

/** Classes and namespaces by name, with their prototypes. */
const NAMES = [
  ..."Array String Object Map Set WeakMap RegExp Number Boolean Math BigInt Date Function JSON".split(
    " ",
  ),
  ..."Reflect Symbol Uint8Array ArrayBuffer DataView TextEncoder TextDecoder Iterator Buffer".split(
    " ",
  ),
];
const TEMPORAL = ["Instant", "ZonedDateTime", "Duration", "PlainYearMonth"];
const HOLDERS: (readonly [name: string, holder: object])[] = [
  ["%TypedArray%", getPrototypeOf(Uint8Array) as object],
  ["%TypedArray%.prototype", getPrototypeOf(Uint8Array.prototype) as object],
  ["%ArrayIterator%", getPrototypeOf([].values()) as object],
  ["%MapIterator%", getPrototypeOf(new Map().entries()) as object],
  ["%SetIterator%", getPrototypeOf(new Set().values()) as object],
  ...NAMES.flatMap((name) => withPrototype(name, globalThis)),
  ...TEMPORAL.flatMap((name) => withPrototype(name, memberOf(globalThis, "Temporal") as object)),
];

function memberOf(holder: object, name: string): unknown {
  return (holder as { readonly [name: string]: unknown })[name];
}

function withPrototype(name: string, holder: object): (readonly [string, object])[] {
  const held = memberOf(holder, name) as object;
  const prototype = memberOf(held, "prototype");
  const own = [name, held] as const;
  return typeof prototype === "object" ? [own, [`${name}.prototype`, prototype as object]] : [own];
}

const REPLACEMENTS: readonly ((this: unknown) => unknown)[] = [
  () => undefined,
  () => [],
  function (this: unknown) {
    return this;
  },
  () => {
    throw new Error("patched");
  },
];

/** What the runs give while one member is replaced; nothing where it can't be. */
function under(holder: object, name: PropertyKey, replacement: () => unknown): readonly string[] {
  const own = getOwnPropertyDescriptor(holder, name)!;
  const replaces = typeof own.value === "function" ? "value" : own.get === undefined ? "" : "get";
  if (replaces === "" || own.configurable !== true) return before;
  const found: string[] = [];
  found.length = RUNS.length;
  defineProperty(holder, name, { ...own, [replaces]: replacement });
  for (let i = 0; i < RUNS.length; i++) found[i] = outcome(RUNS[i]!);
  defineProperty(holder, name, own);
  return found;
}

/** A changed text, a text taken that was refused, an error that has no code. */
function isWrong(found: string, was: string): boolean {
  return (
    found !== was &&
    !/^(?:state-not-sealable|seal-malformed|checkpoint-tampered|platform-altered) /.test(found)
  );
}

describe("each built-in replaced after import", () => {
  it("SEAL-26 stands for what it says on an unchanged runtime", () => {
    expect(before.slice(0, 10)).toEqual([
      text,
      canonicalize(value),
      digest(value),
      text,
      sealed,
      text,
      "x",
      text,
      slowly,
      digestText(text),
    ]);
    expect(before.slice(10).filter((found) => !/^[a-z]+(?:-[a-z]+)+ /.test(found))).toEqual([]);
  });

  it.each(HOLDERS)(
    "SEAL-26 R149 %s: nothing is changed, taken or left without a code",
    (_, holder) => {
      const wrong: string[] = [];
      for (const name of ownKeys(holder)) {
        for (const [which, replacement] of REPLACEMENTS.entries()) {
          const found = under(holder, name, replacement);
          for (const [run, was] of before.entries()) {
            if (isWrong(found[run]!, was))
              wrong.push(`${String(name)} ${which}: run ${run} ${found[run]!.slice(0, 60)}`);
          }
        }
      }
      expect(wrong).toEqual([]);
    },
  );
});
