import { describe, expect, it } from "vitest";

import { copyOpen } from "../src/open-copy.ts";
import { filledIn, isUnchanged, sameData } from "../src/same-data.ts";

const nested = (levels: number): unknown => {
  let value: unknown = 1;
  for (let level = 0; level < levels; level++) value = { value };
  return value;
};
const instance = new (class Point {
  x = 1;
})();
const bare = Object.assign(Object.create(null) as object, { a: 1 });

const equal: readonly [string, unknown, unknown][] = [
  ["values", 1, 1],
  ["nothing", null, null],
  ["not a number", Number.NaN, Number.NaN],
  ["plain objects", { a: { b: 1 } }, { a: { b: 1 } }],
  ["unset and undefined properties", { a: 1, u: undefined }, { a: 1 }],
  ["arrays", [1, [2]], [1, [2]]],
  ["dates", new Date(5), new Date(5)],
  ["one instance", instance, instance],
  ["64 levels", nested(64), nested(64)],
];
const different: readonly [string, unknown, unknown][] = [
  ["values", 1, 2],
  ["zeros", 0, -0],
  ["kinds", "1", 1],
  ["an object and nothing", {}, null],
  ["nothing and an object", null, {}],
  ["an array and an object", [], {}],
  ["a property", { a: 1 }, { a: 2 }],
  ["a name", { a: 1 }, { b: 1 }],
  ["a property more", { a: 1 }, { a: 1, b: 1 }],
  ["an inherited name", { toString: undefined, a: 1 }, { b: 1 }],
  ["lengths", [1], [1, 1]],
  ["dates", new Date(5), new Date(6)],
  ["two maps", new Map(), new Map()],
  ["an instance and its data", { x: 1 }, instance],
  ["objects without prototype", bare, Object.assign(Object.create(null) as object, bare)],
  ["more than 64 levels", nested(70), nested(70)],
];

describe("comparing data", () => {
  it.each(equal)("FLOW-72 finds no difference: %s", (_, one, other) => {
    expect(sameData(one, other)).toBe(true);
    expect(sameData(other, one)).toBe(true);
  });

  it.each(different)("FLOW-72 finds a difference: %s", (_, one, other) => {
    expect(sameData(one, other)).toBe(false);
    expect(sameData(other, one)).toBe(false);
  });
});

describe("comparing with a copy", () => {
  const copyOf = (value: unknown): unknown =>
    copyOpen(value, { copies: undefined, mode: "snapshot" });

  it.each([
    ["a number", 1],
    ["a text", "a"],
    ["null", null],
    ["undefined", undefined],
    ["not a number", Number.NaN],
    ["an empty object", {}],
    ["objects and arrays", { a: [{ b: 1 }], u: undefined }],
    ["an array", [[], 1]],
    ["60 levels", nested(60)],
  ])("TOOL-12 tells without a digest that data has not changed: %s", (_, value) => {
    expect(isUnchanged(copyOf(value), value)).toBe(true);
  });

  it.each([
    ["an instance, whose copy is itself", { instance }],
    ["a date", { at: new Date(5) }],
    ["a map", { map: new Map() }],
    ["an object without prototype", { bare }],
    ["more than 64 levels", nested(70)],
  ])("TOOL-12 leaves to the digest what a copy can't tell: %s", (_, value) => {
    expect(isUnchanged(copyOf(value), value)).toBe(false);
  });

  it.each(different)("TOOL-12 never takes one for the other: %s", (_, one, other) => {
    expect(isUnchanged(one, other)).toBe(false);
    expect(isUnchanged(other, one)).toBe(false);
  });

  it("TOOL-12 tells an undefined property from an unset one, as the digest does", () => {
    expect(isUnchanged({ u: undefined }, {})).toBe(false);
    expect(isUnchanged({ u: undefined }, { v: undefined })).toBe(false);
  });
});

describe("what a default fills in", () => {
  it.each([
    ["a value", undefined, 1],
    ["null", undefined, null],
    ["an object", undefined, {}],
    ["a property", {}, { a: 1 }],
    ["a property deep down", { a: {} }, { a: { b: 1 } }],
    ["a property of an element", [{}], [{ a: 1 }]],
    ["an object for a value", 1, {}],
    ["an object for null", null, { a: 1 }],
  ])("APR-03 is found: %s", (_, value, made) => {
    expect(filledIn(value, made)).toBe(true);
  });

  it.each([
    ["another value", 1, 2],
    ["nothing at all", undefined, undefined],
    ["a property less", { a: 1, b: 2 }, { a: 3 }],
    ["another date", { at: new Date(4) }, { at: new Date(5) }],
    ["an undefined property", {}, { a: undefined }],
  ])("APR-03 is not found in what only differs: %s", (_, value, made) => {
    expect(filledIn(value, made)).toBe(false);
  });
});
