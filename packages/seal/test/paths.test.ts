import { describe, expect, it } from "vitest";
import * as z from "zod";

import { createSealer, decode, defineCodec, encode, isSealError } from "../src/index.ts";
import { formatPath, type Segment } from "../src/canonical/path.ts";
import { model } from "../src/zod.ts";
import { refusal } from "./refusal.ts";

const bad = (): number => 1;

class Box {
  a: unknown = 1;
}
const box = model(Box, { name: "box", fields: z.object({ a: z.any() }) });
class Tag {
  text = "t";
}
const tag = defineCodec({
  type: "tag",
  is: (value) => value instanceof Tag,
  encode: (value: Tag) => [value.text],
  decode: () => new Tag(),
});
class Flat {
  kind = "flat";
}
const flat = defineCodec({
  type: "flat",
  is: (value) => value instanceof Flat,
  encode: () => "f",
  decode: () => new Flat(),
});
const sealer = createSealer({ models: [box], codecs: [tag, flat] });

const format = (segments: readonly Segment[]): string => formatPath(segments, 0, segments.length);

describe("places in refusals", () => {
  const siblings: readonly (readonly [string, unknown])[] = [
    ["an object", { x: { y: 1 } }],
    ["an array", [[1], "x"]],
    ["a Map", new Map([[{ k: 1 }, [2]]])],
    ["a Set", new Set([[1]])],
    ["a Date", new Date(0)],
    ["bytes", new Uint8Array(2)],
    ["a list of pairs", { $a: { b: [] } }],
    ["a model", new Box()],
    ["a codec's value", new Tag()],
    ["a bigint", 5n],
  ];
  it.each(siblings)("SEAL-17 are not moved by %s before them", (_, sibling) => {
    expect(refusal(() => sealer.encode({ a: { s: sibling, t: bad } })).path).toBe("a.t");
    expect(refusal(() => sealer.encode([sibling, [sibling, bad]])).path).toBe("[1][1]");
    expect(refusal(() => sealer.encode({ s: sibling, m: new Map([["k", bad]]) })).path).toBe(
      "m.values(0)",
    );
    expect(refusal(() => sealer.encode({ s: [sibling], d: new Date(NaN) })).path).toBe("d");
  });

  it("SEAL-17 names an element that is an accessor", () => {
    const list = Object.defineProperty([1, [2], 3], 2, { get: bad, enumerable: true });
    expect(refusal(() => encode({ list })).path).toBe("list[2]");
    expect(refusal(() => sealer.encode({ list })).path).toBe("list[2]");
  });

  it("SEAL-21 stop the walk where a bound is met, not at its end", () => {
    const small = createSealer({ limits: { bytes: 30 } });
    const long = "x".repeat(31);
    expect(refusal(() => small.encode({ a: { b: long } })).path).toBe("a");
    expect(refusal(() => small.encode({ a: [long] })).path).toBe("a");
    expect(refusal(() => small.encode({ a: new Map([[1, long]]) })).path).toBe("a.values(0)");
    expect(refusal(() => small.encode({ a: "\0".repeat(20) })).path).toBe("a");
    const text = { text: "x".repeat(9_000_000) };
    const cycle: Record<string, unknown> = { text };
    cycle["back"] = { again: cycle };
    expect(refusal(() => createSealer({ limits: { nodes: 10_000_000 } }).encode(cycle)).found).toBe(
      "a cycle back to the value itself",
    );
  });

  it("SEAL-21 count models and codecs as the reader counts them", () => {
    const strings = [{ a: "x", b: "y" }, ["x", "y"], [true, null, 1], { a: null, b: false, c: 2 }];
    const tagged = [
      new Box(),
      [new Tag()],
      { a: [new Box(), new Tag()] },
      [new Flat(), new Flat()],
    ];
    for (const value of [...strings, ...tagged]) {
      const written = sealer.encode(value);
      for (let limit = 1; limit < 16; limit++) {
        for (const limits of [{ nodes: limit }, { depth: limit }]) {
          const own = createSealer({ models: [box], codecs: [tag, flat], limits });
          const writes = accepted(() => own.encode(value));
          expect([limits, writes]).toEqual([
            limits,
            accepted(() => own.decode(written, { schema: box.schema })),
          ]);
        }
      }
    }
  });

  function accepted(run: () => unknown): boolean {
    try {
      run();
      return true;
    } catch (error) {
      if (isSealError(error)) return false;
      throw error;
    }
  }

  it("SEAL-21 takes a million values and no more", () => {
    const list = Array.from({ length: 999_999 }, () => 0);
    expect(encode(list)).toHaveLength(2 * 999_999 + 1);
    expect(refusal(() => encode([...list, 0])).figure).toBeGreaterThan(1_000_000);
    expect((decode(encode(list)) as unknown[]).length).toBe(999_999);
    expect(refusal(() => decode(`[${"0,".repeat(999_999)}0]`)).found).toBe(
      "more than 1000000 values",
    );
  });

  it("SEAL-17 SEAL-24 format a path by its keys, and shorten what is long", () => {
    expect(format([])).toBe("");
    expect(format(["order", "items", 3, "unit price", "", "$x", { place: "keys(0)" }])).toBe(
      'order.items[3]["unit price"][""].$x.keys(0)',
    );
    expect(format([{ place: "values(1)" }, 0])).toBe("values(1)[0]");
    expect(format(["a ".repeat(32)])).toBe(`["${"a ".repeat(32)}"]`);
    expect(format([`${"a ".repeat(32)}b`])).toBe(`["${"a ".repeat(32)}…"]`);
    expect(format(["a".repeat(64), "b".repeat(65)])).toBe(
      `${"a".repeat(64)}["${"b".repeat(64)}…"]`,
    );
    const long = Array.from({ length: 40 }, (_, i) => i);
    const part = (from: number, to: number): string =>
      long
        .slice(from, to)
        .map((i) => `[${i}]`)
        .join("");
    expect(format(long.slice(0, 32))).toBe(part(0, 32));
    expect(format(long)).toBe(`${part(0, 16)} … ${part(24, 40)}`);
  });

  it("SEAL-24 finds the place of a refusal past strings with quotes, brackets and escapes", () => {
    const before = String.raw`{"a":["]}{[",{"x\\":"\\","y":[]},"\\\"",[[],{}]],"b":{"c":[0,`;
    expect(refusal(() => decode(`${before}1.0]}}`)).path).toBe("b.c[1]");
    expect(refusal(() => decode('[{"a":1},{"b":2},[],"x",{"c":[1,2,{"d":1.0}]}]')).path).toBe(
      "[4].c[2].d",
    );
    expect(refusal(() => decode('{"a":{"x":1},"b":{"x":1,"y":2,"x":3}}')).path).toBe("b.x");
    expect(refusal(() => decode('{"a":[{"x":1},{"x":2}],"a":1}')).path).toBe("a");
  });

  it("SEAL-24 names the place inside a tag's payload", () => {
    const places: readonly (readonly [string, string])[] = [
      ['{"m":{"$model":["box",{"a":{"$x":1}}]}}', "m.$model[1].a.$x"],
      ['{"m":{"$model":["box",{"a":{"$model":["box",{}]}}]}}', "m.$model[1].a.$model"],
      ['{"$codec":["tag",[{"$x":1}]]}', "$codec[1][0].$x"],
      ['[{"$map":[[1,2],[3,{"$x":1}]]}]', "[0].$map[1][1].$x"],
      ['{"$set":[[],{"$x":1}]}', "$set[1].$x"],
      ['{"$object":[["$a",1],["b",{"c":{"$x":1}}]]}', "$object[1][1].c.$x"],
    ];
    for (const [text, path] of places) {
      expect(refusal(() => sealer.decode(text, { schema: box.schema })).path).toBe(path);
    }
  });

  it("SEAL-45 names the place of a value that a codec refuses to read", () => {
    const failing = createSealer({
      codecs: [
        {
          ...tag,
          decode: () => {
            throw new Error("no");
          },
        },
      ],
    });
    const text = failing.encode({ a: [1, { b: new Map([["k", new Tag()]]) }] });
    expect(refusal(() => failing.decode(text)).path).toBe("a[1].b.$map[0][1].$codec");
  });

  it("SEAL-21 tell of a text of a mebibyte by default, and not of one byte less", () => {
    const told: unknown[] = [];
    const own = createSealer({ onLarge: (figure) => told.push(figure) });
    own.encode("x".repeat(1024 * 1024 - 3));
    expect(told).toEqual([]);
    own.encode("x".repeat(1024 * 1024 - 2));
    expect(told).toEqual([{ bytes: 1_048_576, warnBytes: 1_048_576 }]);
  });

  it("SEAL-17 give advice that fits each kind", () => {
    const cases: readonly (readonly [unknown, RegExp])[] = [
      [new Error("x"), /name, message and code/],
      [/a/, /source and flags/],
      [Promise.resolve(), /Await/],
      [new WeakMap(), /Map with ids/],
      [new WeakSet(), /Set of ids/],
      [new WeakRef({}), /by an id/],
      [Object("a"), /to a string/],
      [Object(1), /to a number/],
      [Object(true), /to a boolean/],
      [Object(1n), /to a bigint/],
      [Object(Symbol("s")), /string that names/],
      [new (class Day extends Date {})(), /Date itself/],
      [new (class Index extends Map {})(), /Map itself/],
      [new (class Group extends Set {})(), /Set itself/],
      [bad, /look the function up/],
      [new Box(), /model\(\)/],
    ];
    for (const [value, advice] of cases)
      expect(refusal(() => encode(value)).advice).toMatch(advice);
    class Named {}
    Object.defineProperty(Named, "name", { value: "x".repeat(100) });
    expect(refusal(() => encode(new Named())).found).toBe(`an instance of ${"x".repeat(64)}`);
    Object.defineProperty(Named, "name", { value: "<b>" });
    expect(refusal(() => encode(new Named())).found).toBe("an object with a prototype of its own");
  });
});
