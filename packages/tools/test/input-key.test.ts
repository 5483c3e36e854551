import { runInNewContext } from "node:vm";

import { isSealError } from "@holdpoint/seal";
import { describe, expect, it } from "vitest";
import { z } from "zod";

import { defineTool, inputOf } from "../src/index.ts";
import { compileWalk } from "../src/input-walk.ts";
import { inputKinds, object } from "./support/input-kinds.ts";
import { keyOf, tool } from "./support/inputs.ts";

const notSealable = expect.toSatisfy((e) => isSealError(e, "state-not-sealable"));

describe("the key of an input, by kind of schema", () => {
  it.each(inputKinds)("FLOW-31 reads through $kind", ({ schema, same, others }) => {
    const keys = same.map((value) => keyOf(schema, value));
    expect(new Set(keys).size).toBe(1);
    expect(new Set([...keys, ...others.map((value) => keyOf(schema, value))]).size).toBe(
      others.length + 1,
    );
  });

  it("FLOW-31 is of the tool too, and of nothing else that a tool has", () => {
    const named = (name: string, description: string) =>
      inputOf(defineTool({ name, description, input: z.any(), execute: () => 1 }), 1).key();
    expect(named("a", "")).toBe(named("a", "other"));
    expect(named("a", "")).not.toBe(named("b", ""));
  });

  it("FLOW-31 reads recursive schemas, cyclic ones that sealing then refuses by path included", () => {
    interface Node {
      name: string;
      children: Node[];
    }
    const node: z.ZodType<Node> = z.lazy(() =>
      z.object({ name: z.string(), children: z.array(node) }),
    );
    const getter = z.object({
      name: z.string(),
      get children() {
        return z.array(getter);
      },
    });
    const fresh = (): z.ZodType<Node> =>
      z.object({ name: z.string(), children: z.array(z.lazy(() => fresh())) });
    for (const schema of [node, getter, fresh()]) {
      const shared = { name: "s", children: [], extra: 1 };
      const tree = { name: "a", children: [shared, shared] };
      const plain = { name: "s", children: [] };
      expect(keyOf(schema, tree)).toBe(keyOf(schema, { name: "a", children: [plain, plain] }));
      const cycle: Node = { name: "a", children: [] };
      cycle.children.push(cycle);
      expect(() => keyOf(schema, cycle)).toThrow(notSealable);
    }
    const self: z.ZodType = z.lazy(() => z.union([z.string(), self, object, object]));
    expect(keyOf(self, { a: 1, extra: 1 })).toBe(keyOf(self, { a: 1 }));
    expect(keyOf(z.json(), { a: [1, { b: null }] })).toBe(keyOf(z.json(), { a: [1, { b: null }] }));
  });

  it("FLOW-31 reads schemas that make new ones without an end as far down as the input goes", () => {
    const fresh = (): z.ZodType => z.object({ down: z.lazy(() => fresh()).optional() });
    let deep: object = {};
    let plain: object = {};
    for (let level = 0; level < 300; level++) {
      deep = { down: deep, extra: 1 };
      plain = { down: plain };
    }
    const read = compileWalk(fresh());
    expect(read(deep, "key")).toEqual(plain);
    expect(read(deep, "key")).toEqual(plain);
  });

  it("FLOW-31 ends in bounded time for shared references that would double at each level", () => {
    let bomb: unknown = 1;
    for (let level = 0; level < 60; level++) bomb = [bomb, bomb];
    const schema: z.ZodType = z.lazy(() => z.union([z.number(), z.array(schema)]));
    expect(() => inputOf(tool(schema), bomb)).not.toThrow();
    expect(() => inputOf(tool(z.any()), bomb)).not.toThrow();
  });

  it("FLOW-31 takes a tool's own key where the input can't be sealed", () => {
    const stream = { read: () => 1, path: "/a" };
    expect(() => keyOf(z.any(), stream)).toThrow(
      expect.toSatisfy((e) => isSealError(e, "state-not-sealable")),
    );
    const byPath = tool(z.any(), (input) => (input as typeof stream).path);
    const key = inputOf(byPath, stream).key();
    expect(inputOf(byPath, { ...stream }).key()).toBe(key);
    expect(inputOf(byPath, { ...stream, path: "/b" }).key()).not.toBe(key);
  });

  it("FLOW-31 runs no part of a schema but its shape: no default, transform, check or catch", () => {
    let ran = 0;
    const count = () => String(++ran);
    const schema = z.object({
      a: z.string().default(count),
      b: z.any().transform(count),
      c: z.string().refine(count).catch(count),
      d: z.preprocess(count, z.string()),
    });
    inputOf(tool(schema), { b: 1, c: 2, d: 3 }).key();
    expect(ran).toBe(0);
  });
});

describe("the bounds of a walk", () => {
  it("FLOW-31 reads what is past the bound of a schema's positions as passed", () => {
    const names = Array.from({ length: 5010 }, (_, at) => `f${at}`);
    const schema = z.object(
      Object.fromEntries(names.map((name) => [name, z.object({ a: z.number() }).optional()])),
    );
    const read = compileWalk(schema);
    const extra = { a: 1, extra: 1 };
    expect(read({ f0: extra, f5009: extra }, "key")).toEqual({ f0: { a: 1 }, f5009: extra });
  });

  it("FLOW-31 knows plain objects of another realm", () => {
    const foreign: unknown = runInNewContext("({ a: { b: 1 }, u: undefined })");
    const own = { a: { b: 1 } };
    expect(keyOf(z.any(), foreign)).toBe(keyOf(z.any(), own));
    expect(keyOf(z.record(z.string(), z.any()), foreign)).toBe(keyOf(z.any(), own));
    const { value } = inputOf(tool(z.any()), foreign);
    expect(Object.getPrototypeOf(value)).toBe(Object.prototype);
  });
});
