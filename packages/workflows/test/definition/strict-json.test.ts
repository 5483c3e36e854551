import { readFileSync } from "node:fs";

import fc from "fast-check";
import { describe, expect, it } from "vitest";

import { documentLimits } from "../../src/definition/boundary.ts";
import { JsonRefusal, readStrictJson } from "../../src/definition/strict-json.ts";

const read = (source: string | Uint8Array): unknown => readStrictJson(source, documentLimits);

function refusal(source: string | Uint8Array): JsonRefusal {
  try {
    read(source);
  } catch (error) {
    if (error instanceof JsonRefusal) return error;
    throw error;
  }
  throw new Error("it was read");
}

interface Vector {
  readonly id: string;
  readonly source: string | Uint8Array;
  readonly expected: string;
}

function vectors(file: string): readonly Vector[] {
  const url = new URL(`../vectors/${file}`, import.meta.url);
  const lines = readFileSync(url, "utf8").trim().split("\n");
  return lines.flatMap((line): Vector[] => {
    const row: Record<string, unknown> = JSON.parse(line);
    const expected = row["external_input"];
    if (typeof expected !== "string") return [];
    return [{ id: String(row["id"] ?? row["name"]), source: sourceOf(row), expected }];
  });
}

function sourceOf(row: Readonly<Record<string, unknown>>): string | Uint8Array {
  if (typeof row["text"] === "string") return row["text"];
  if (typeof row["b64"] === "string") return Buffer.from(row["b64"], "base64");
  const [unit, times] = row["repeat"] as [string, number];
  return unit.repeat(times) + ((row["suffix"] as string | undefined) ?? "");
}

describe.each(["strict_text.jsonl", "jsontestsuite.jsonl"])("the texts of %s", (file) => {
  const all = vectors(file);
  const accepted = all.filter(({ expected }) => expected === "accept");
  const refused = all.filter(({ expected }) => expected !== "accept");

  it(`WF-02 holds enough of both kinds in ${file}`, () => {
    expect(accepted.length).toBeGreaterThanOrEqual(40);
    expect(refused.length).toBeGreaterThanOrEqual(40);
  });

  it.each(accepted)(`WF-02 reads $id of ${file} as it is`, ({ source }) => {
    const text = typeof source === "string" ? source : new TextDecoder().decode(source);
    const deep = { ...documentLimits, depth: 512 }; // the suite has a deep one, which is JSON all the same
    expect(readStrictJson(source, deep)).toEqual(JSON.parse(text));
  });

  it.each(refused)(`WF-02 refuses $id of ${file}`, ({ source }) => {
    expect(refusal(source)).toBeInstanceOf(JsonRefusal);
  });
});

describe("the strict reader", () => {
  it.each([
    ['{"a":1,"b":{"c":2,"c":3}}', "b.c", "a name given twice"],
    ['{"a":1,"\\u0061":2}', "a", "a name given twice"],
    ["[1,2] x", "", "text after the value"],
    ["{}{}", "", "text after the value"],
    ['{"n":[0,9007199254740993]}', "n.1", "a number that would be rounded"],
    ["9007199254740993.5", "", "a number that would be rounded"],
    ["1234567890123456789e2", "", "a number that would be rounded"],
    ["1e400", "", "a number that is too large"],
    ["1e-400", "", "a number that would be rounded"],
    ['["\\ud800"]', "0", "an unpaired surrogate"],
    ['{"a":', "a", "an end"],
  ])("WF-02 refuses %s, naming the path", (text, path, why) => {
    const error = refusal(text);
    expect(error.path).toBe(path);
    expect(error.message).toMatch(new RegExp(`^${why} at position \\d+$`));
  });

  it("WF-02 keeps numbers that a double holds, in any spelling", () => {
    const text =
      "[1.50, 15e-1, 9007199254740992.0, 1180591620717411303424, 0.1, 1E2, -0, 5e-324, 1.7976931348623157e308]";
    const numbers = [1.5, 1.5, 2 ** 53, 2 ** 70, 0.1, 100, -0, 5e-324, 1.7976931348623157e308];
    expect(read(text)).toEqual(numbers);
  });

  it("WF-02 says where and never what", () => {
    const secret = "sk-live-4242";
    for (const text of [`{"key":"${secret}" oops}`, `{"${secret}":1,"${secret}":2}`, secret]) {
      expect(refusal(text).message).not.toContain("4242");
    }
  });

  it("WF-02 takes __proto__ for a name like any other", () => {
    const value = read('{"__proto__":{"admin":true},"a":1}') as object;
    expect(Object.keys(value)).toEqual(["__proto__", "a"]);
    expect(Object.getPrototypeOf(value)).toBe(Object.prototype);
    expect(Reflect.get(Object.prototype, "admin")).toBeUndefined();
  });

  it("WF-02 bounds nesting, members and bytes", () => {
    const nested = (depth: number): string => "[".repeat(depth) + "]".repeat(depth);
    expect(read(nested(32))).toBeDefined();
    expect(refusal(nested(33)).message).toContain("nesting deeper than 32");
    expect(refusal("[".repeat(200_000)).message).toContain("nesting deeper than 32");
    const members = (count: number): string =>
      `{${Array.from({ length: count }, (_, at) => `"k${at}":0`).join(",")}}`;
    expect(read(members(4_096))).toBeDefined();
    expect(refusal(members(4_097)).message).toContain("more than 4096 members");
    const bytes = (count: number): string => `"${"é".repeat((count - 2) / 2)}"`;
    expect(read(bytes(256 * 1024))).toBeDefined();
    expect(refusal(bytes(256 * 1024 + 2)).message).toContain("more than 262144 bytes");
    expect(refusal(new Uint8Array(256 * 1024 + 1)).message).toContain("more than 262144 bytes");
  });

  it("WF-02 reads whatever JSON.stringify writes", () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 6 }), (value) => {
        const text = JSON.stringify(value);
        expect(read(text)).toEqual(JSON.parse(text));
        expect(read(new TextEncoder().encode(text))).toEqual(JSON.parse(text));
      }),
    );
  });

  it("WF-02 reads no text that JSON.parse refuses", () => {
    const piece = fc.constantFrom(
      ...Array.from('[]{},:"\\-+.eE0123456789tfn '),
      "true",
      "null",
      "\\u00e9",
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => {
        const text = pieces.join("");
        let parsed: unknown;
        try {
          parsed = read(text);
        } catch {
          return;
        }
        expect(parsed).toEqual(JSON.parse(text));
      }),
      { numRuns: 2_000 },
    );
  });
});
