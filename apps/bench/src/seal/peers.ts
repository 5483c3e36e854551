/** Other libraries that write values to text or bytes. None of them seals; only their codec is timed. */
import * as cborg from "cborg";
import * as devalue from "devalue";
import { fromJSON, toJSON } from "seroval";
import superjson from "superjson";

import { decode, encode } from "@holdpoint/seal";

export interface Codec {
  readonly name: string;
  readonly write: (value: unknown) => string | Uint8Array;
  readonly read: (written: never) => unknown;
}

export const CODECS: readonly Codec[] = [
  {
    name: "JSON",
    write: (value) => JSON.stringify(value),
    read: (text: string) => JSON.parse(text),
  },
  { name: "@holdpoint/seal", write: encode, read: (text: string) => decode(text) },
  {
    name: "devalue",
    write: (value) => devalue.stringify(value),
    read: (text: string) => devalue.parse(text),
  },
  {
    name: "superjson",
    write: (value) => superjson.stringify(value),
    read: (text: string) => superjson.parse(text),
  },
  {
    name: "seroval",
    write: (value) => JSON.stringify(toJSON(value)),
    read: (text: string) => fromJSON(JSON.parse(text) as Parameters<typeof fromJSON>[0]),
  },
  {
    name: "cborg",
    write: (value) => cborg.encode(value),
    read: (bytes: Uint8Array) => cborg.decode(bytes),
  },
];

/** Values that a codec may keep, lose or refuse. */
export const HARD: readonly (readonly [name: string, value: unknown])[] = [
  ["-0", [-0]],
  ["NaN", [NaN]],
  ["undefined", { a: undefined }],
  ["bigint", [1n]],
  ["Map with object keys", new Map([[{ a: 1 }, 1]])],
  ["Set", new Set([1])],
  ["Date", [new Date(5)]],
  ["Float32Array", [Float32Array.of(1.5)]],
  ["unpaired surrogate", ["\ud800"]],
  ["own __proto__ key", JSON.parse('{"__proto__":{"a":1}}')],
  ["$-key and tag-like data", { $date: "x", json: 1, meta: { values: [["Date"]] } }],
  [
    "class instance",
    [
      new (class Order {
        id = 1;
      })(),
    ],
  ],
  ["function member", { f: () => 1 }],
  ["sparse array", Object.assign([1], { 2: 3 })],
];
