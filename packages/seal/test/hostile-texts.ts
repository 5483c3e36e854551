/** Texts made to cost a reader more than they are worth; `make` gives about so many bytes. */
export interface HostileText {
  readonly name: string;
  readonly make: (bytes: number) => string;
  readonly ends: "taken" | "refused";
}

function repeat(part: string, bytes: number, separator = ","): string {
  return Array.from(
    { length: Math.ceil(bytes / (part.length + separator.length)) },
    () => part,
  ).join(separator);
}

export const HOSTILE: readonly HostileText[] = [
  { name: "open brackets", make: (bytes) => "[".repeat(bytes), ends: "refused" },
  {
    name: "nested brackets",
    make: (bytes) => "[".repeat(bytes / 2) + "]".repeat(bytes / 2),
    ends: "refused",
  },
  { name: "nested objects", make: (bytes) => '{"a":'.repeat(bytes / 5), ends: "refused" },
  { name: "a long number", make: (bytes) => "1".repeat(bytes), ends: "refused" },
  { name: "a long bigint", make: (bytes) => `{"$bigint":"${"9".repeat(bytes)}"}`, ends: "refused" },
  {
    name: "a long hexadecimal bigint",
    make: (bytes) => `{"$bigint16":"${"f".repeat(bytes)}"}`,
    ends: "taken",
  },
  {
    name: "many hexadecimal bigints",
    make: (bytes) => `[${repeat(`{"$bigint16":"${"f".repeat(600)}"}`, bytes)}]`,
    ends: "taken",
  },
  { name: "many empty lists", make: (bytes) => `[${repeat("[]", bytes)}]`, ends: "taken" },
  { name: "many empty objects", make: (bytes) => `[${repeat("{}", bytes)}]`, ends: "taken" },
  {
    name: "members up to the limit",
    make: (bytes) => `{"$set":[${repeat("{}", Math.min(bytes, 749_990))}]}`,
    ends: "taken",
  },
  {
    name: "many entries of objects",
    make: (bytes) => `{"$map":[${repeat("[{},0]", Math.min(bytes, 874_990))}]}`,
    ends: "taken",
  },
  { name: "many low indexes", make: (bytes) => `[${repeat('{"34":0}', bytes)}]`, ends: "taken" },
  {
    name: "many indexes beside an escaped name",
    make: (bytes) => `[{"\\n":0},${repeat('{"300":0}', bytes)}]`,
    ends: "taken",
  },
  {
    name: "many lists of pairs with an index",
    make: (bytes) => `[${repeat('{"$object":[["900",0],["$",0]]}', bytes)}]`,
    ends: "taken",
  },
  {
    name: "many shapes",
    make: (bytes) =>
      `[${Array.from({ length: bytes / 16 }, (_, i) => `{"k${String(i).padStart(7, "0")}":1}`).join(",")}]`,
    ends: "taken",
  },
  {
    name: "many escaped names",
    make: (bytes) =>
      `[${Array.from({ length: bytes / 18 }, (_, i) => `{"\\n${String(i).padStart(7, "0")}":1}`).join(",")}]`,
    ends: "taken",
  },
  { name: "many zeros", make: (bytes) => `[${repeat("0", bytes)}]`, ends: "taken" },
  {
    name: "many keys",
    make: (bytes) =>
      `{${Array.from({ length: bytes / 12 }, (_, i) => `"k${String(i).padStart(6, "0")}":1`).join(",")}}`,
    ends: "taken",
  },
  {
    name: "many integer keys",
    make: (bytes) => `{${Array.from({ length: bytes / 10 }, (_, i) => `"${i}":1`).join(",")}}`,
    ends: "taken",
  },
  {
    name: "one key again and again",
    make: (bytes) => `{${repeat('"a":1', bytes)}}`,
    ends: "refused",
  },
  {
    name: "many pairs",
    make: (bytes) =>
      `{"$object":[["$",0],${Array.from({ length: bytes / 15 }, (_, i) => `["k${String(i).padStart(7, "0")}",1]`).join(",")}]}`,
    ends: "taken",
  },
  {
    name: "many equal-looking members",
    make: (bytes) => `{"$set":[${repeat("{}", bytes)}]}`,
    ends: "taken",
  },
  {
    name: "many members",
    make: (bytes) => `{"$set":[${Array.from({ length: bytes / 7 }, (_, i) => i).join(",")}]}`,
    ends: "taken",
  },
  {
    name: "many map entries",
    make: (bytes) =>
      `{"$map":[${Array.from({ length: bytes / 11 }, (_, i) => `[${i},0]`).join(",")}]}`,
    ends: "taken",
  },
  { name: "many tags", make: (bytes) => `[${repeat('{"$num":"-0"}', bytes)}]`, ends: "taken" },
  {
    name: "many dates",
    make: (bytes) => `[${repeat('{"$date":"2026-01-01T00:00:00.000Z"}', bytes)}]`,
    ends: "taken",
  },
  {
    name: "many durations",
    make: (bytes) => `[${repeat('{"$duration":{"hours":1}}', bytes)}]`,
    ends: "taken",
  },
  {
    name: "many zoned times",
    make: (bytes) =>
      `[${repeat('{"$zoned":["2026-01-01T00:00:00Z","Europe/Berlin","iso8601"]}', bytes)}]`,
    ends: "taken",
  },
  { name: "bytes", make: (bytes) => `{"$bytes":"${"AAAA".repeat(bytes / 4)}"}`, ends: "taken" },
  {
    name: "units",
    make: (bytes) => `{"$utf16":"${"AAAA".repeat((bytes / 8) * 2)}"}`,
    ends: "taken",
  },
  { name: "escapes", make: (bytes) => `"${'\\"'.repeat(bytes / 2)}"`, ends: "taken" },
  { name: "backslashes", make: (bytes) => `"${"\\".repeat(bytes)}`, ends: "refused" },
  {
    name: "many long strings with one escape each",
    make: (bytes) => `[${repeat(`"${"x".repeat(400)}\\n${"y".repeat(400)}"`, bytes)}]`,
    ends: "taken",
  },
  { name: "an open string", make: (bytes) => `"${"x".repeat(bytes)}`, ends: "refused" },
  {
    name: "a prototype",
    make: (bytes) => `[${repeat('{"__proto__":{"a":1}}', bytes)}]`,
    ends: "refused",
  },
  {
    name: "a constructor's prototype",
    make: (bytes) => `[${repeat('{"constructor":{"prototype":{"a":1}}}', bytes)}]`,
    ends: "taken",
  },
  {
    name: "unpaired surrogates",
    make: (bytes) => `"${"\ud800".repeat(bytes / 3)}"`,
    ends: "refused",
  },
  { name: "words", make: (bytes) => "true".repeat(bytes / 4), ends: "refused" },
  { name: "white space", make: (bytes) => " ".repeat(bytes), ends: "refused" },
  {
    name: "two-byte characters",
    make: (bytes) => `[${repeat(`"${"é".repeat(50)}${"x".repeat(50)}"`, bytes / 1.5)}]`,
    ends: "taken",
  },
];
