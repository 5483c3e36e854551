/**
 * Writes `vectors/*.json` from the rows below. Run by hand when a row is added:
 * `node test/long/write-vectors.ts`. A released row never changes: the test reads the files.
 */
import { writeFileSync } from "node:fs";
import { runInThisContext } from "node:vm";

import { canonicalize, createKeyring, digest, encode, sign, type Header } from "../../src/index.ts";

const VALUES: readonly (readonly [name: string, js: string])[] = [
  ["null", "null"],
  ["booleans", "[true, false]"],
  ["strings and escapes", String.raw`["", "é😀", "\"\\/", "\b\t\n\f\r", "\u001f\u007f\u2028"]`],
  ["numbers", "[0, -1, 1.5, 1e21, 1e-7, 5e-324, 123456789012345680000, 0.1 + 0.2]"],
  ["numbers that JSON has not", "[NaN, Infinity, -Infinity, -0]"],
  ["bigints", "[0n, 1n, -12n, 2n ** 64n]"],
  ["a bigint of 600 digits", "10n ** 599n"],
  ["a bigint of 601 digits", "-(10n ** 600n)"],
  ["undefined", "({ a: undefined, b: [undefined] })"],
  ["lists", "[[], [1, [2]]]"],
  ["an object's own order", "({ b: 1, a: { d: [], c: {} } })"],
  ["integer names first", "({ b: 1, 10: 2, 9: 3 })"],
  ["names sorted by UTF-16 unit", String.raw`({ "\ufb33": 1, "😀": 2, "é": 3, "": 4 })`],
  ["names that begin with $", "({ $price: 1, a: { $: [] } })"],
  ["a name that is __proto__", String.raw`JSON.parse('{"b":1,"__proto__":{"x":1},"a":2}')`],
  ["text that no store may hold", String.raw`["\0", "\ud800", "a\udc00"]`],
  ["names that no store may hold", String.raw`({ b: 1, "\0": 2, "a\ud800": 3 })`],
  ["a map", 'new Map([["b", 1], [2, null], [{ k: 1 }, "x"], [NaN, [0]]])'],
  ["a map with keys that look equal", "new Map([[{}, 2], [{}, 1]])"],
  ["a set", 'new Set(["b", "a", 1, 1n, true])'],
  ["a set in a set", "new Set([new Set([2, 1]), new Set()])"],
  [
    "bytes",
    "[new Uint8Array(0), new Uint8Array([255]), new Uint8Array([255, 254]), new Uint8Array([1, 2, 3])]",
  ],
  [
    "a buffer and a view",
    "[new Uint8Array([1, 2]).buffer, new DataView(new Uint8Array([9, 1, 2, 9]).buffer, 1, 2)]",
  ],
  [
    "integer elements",
    "[Int8Array.of(-1), Uint8ClampedArray.of(300), Int16Array.of(1, -2), Uint16Array.of(258), Int32Array.of(-2), Uint32Array.of(1), BigInt64Array.of(-1n), BigUint64Array.of(1n)]",
  ],
  ["float elements", "[Float32Array.of(1.5, -0), Float64Array.of(0.1)]"],
  ["dates", "[new Date(0), new Date(1767323045006), new Date(8.64e15), new Date(-8.64e15)]"],
  ["Temporal: an instant", 'Temporal.Instant.from("2026-01-02T03:04:05.123456789Z")'],
  [
    "Temporal: both readings of a repeated hour",
    '[Temporal.ZonedDateTime.from("2026-10-25T02:30:00+02:00[Europe/Berlin]"), Temporal.ZonedDateTime.from("2026-10-25T02:30:00+01:00[Europe/Berlin]")]',
  ],
  [
    "Temporal: plain kinds",
    '[Temporal.PlainDate.from("2026-02-03"), Temporal.PlainTime.from("01:02:03.5"), Temporal.PlainDateTime.from("2026-02-03T04:05:06")]',
  ],
  ["Temporal: another calendar", 'Temporal.PlainDate.from("2026-02-03[u-ca=hebrew]")'],
  [
    "Temporal: kinds with a hidden part",
    '[Temporal.PlainYearMonth.from("2026-02"), Temporal.PlainMonthDay.from("02-29")]',
  ],
  ["Temporal: a duration", "Temporal.Duration.from({ hours: 1, minutes: 90, milliseconds: 1500 })"],
];

interface SealRow {
  readonly name: string;
  readonly purpose: string;
  readonly header?: Header;
  readonly body: string;
}

const SEALS: readonly SealRow[] = [
  { name: "an empty body", purpose: "cursor", body: "" },
  { name: "a value", purpose: "checkpoint", body: encode({ a: [1, new Date(0)] }) },
  {
    name: "a header, in whatever order",
    purpose: "log-entry",
    header: { run: "run_1", n: 7, done: true, parent: null },
    body: "[]",
  },
  {
    name: "characters of one to four bytes",
    purpose: "approval",
    header: { title: 'é "✓"' },
    body: '"é✓😀"',
  },
];

const key = Uint8Array.from({ length: 32 }, (_, i) => i);
const keyring = createKeyring({ current: { id: "k1", key } });

function write(name: string, rows: readonly object[]): void {
  const text = `[\n${rows.map((row) => `  ${JSON.stringify(row)}`).join(",\n")}\n]\n`;
  writeFileSync(new URL(`../../vectors/${name}.json`, import.meta.url), text);
}

write(
  "values",
  VALUES.map(([name, js]) => {
    const value: unknown = runInThisContext(`(${js})`);
    return { name, js, text: encode(value), canonical: canonicalize(value), digest: digest(value) };
  }),
);
write(
  "seals",
  SEALS.map(({ name, purpose, header = {}, body }) => {
    const signed = sign(body, { keyring, purpose, header });
    const keyHex = Buffer.from(key).toString("hex");
    return { name, keyHex, keyId: "k1", purpose, header, body, mac: signed.mac, text: signed.text };
  }),
);
