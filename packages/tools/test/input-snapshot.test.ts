import { describe, expect, it } from "vitest";
import { z } from "zod";

import { inputOf, inputReader } from "../src/index.ts";
import { inputKinds, object, Point } from "./support/input-kinds.ts";
import { tool } from "./support/inputs.ts";

describe("the snapshot of an input", () => {
  it.each(inputKinds)("FLOW-31 is no longer the caller's: $kind", ({ schema, same: [value] }) => {
    if (typeof value !== "object" || value === null) return;
    const { value: copy } = inputOf(tool(schema), value);
    expect(copy).not.toBe(value);
    expect(Object.prototype.toString.call(copy)).toBe(Object.prototype.toString.call(value));
  });

  it("FLOW-31 copies built-in data at open positions, and leaves instances as they are", () => {
    const bytes = new Uint8Array([1, 2, 3, 4]);
    const point = new Point();
    const input = {
      map: new Map([[{ k: 1 }, new Set([new Date(1)])]]),
      view: new DataView(bytes.buffer, 1, 2),
      buffer: bytes.buffer,
      node: Buffer.from("ab"),
      bare: Object.assign(Object.create(null), { a: 1 }),
      holes: Object.assign([], { 1: "x" }),
      point,
      [Symbol.for("s")]: 1,
      ["__proto__"]: 1,
    };
    const { value } = inputOf(tool(z.any()), input);
    const copy = value as typeof input;
    expect(copy).toEqual(input);
    expect(copy.view.byteLength).toBe(2);
    expect(copy.view.buffer.byteLength).toBe(2);
    expect(copy.point).toBe(point);
    expect(Object.getPrototypeOf(copy.bare)).toBeNull();
    expect(1 in copy.holes && !(0 in copy.holes)).toBe(true);
    expect(Buffer.isBuffer(copy.node)).toBe(true);
    bytes.fill(9);
    input.node.fill("z");
    expect(new Uint8Array(copy.buffer)).toEqual(new Uint8Array([1, 2, 3, 4]));
    expect(copy.view.getUint8(0)).toBe(2);
    expect(copy.node.toString()).toBe("ab");
  });

  it("FLOW-31 keeps declared properties that are undefined for validation, and no others", () => {
    const schema = z.object({ a: z.exactOptional(z.number()), b: z.number().optional() });
    const { value } = inputOf(tool(schema), { a: undefined, x: undefined });
    expect(Object.entries(value as object)).toEqual([["a", undefined]]);
    expect(schema.safeParse(value).success).toBe(false);
  });

  it("FLOW-31 copies what fits no reading, whatever its kind", () => {
    const wrong = [new Map([["k", {}]]), new Set([{}]), [{}], { a: {} }, new Date(5)];
    for (const schema of [z.string(), z.number(), z.literal("a"), z.map(z.string(), z.string())]) {
      for (const value of wrong) {
        const copy = inputOf(tool(schema), value).value;
        expect(copy).toEqual(value);
        expect(copy).not.toBe(value);
      }
    }
  });

  it("FLOW-31 copies all of a cyclic input but the way back", () => {
    interface Node {
      name: string;
      children: Node[];
    }
    const node: z.ZodType<Node> = z.lazy(() =>
      z.object({ name: z.string(), children: z.array(node) }),
    );
    const cycle: Node = { name: "a", children: [] };
    cycle.children.push(cycle);
    for (const schema of [node, z.any()]) {
      const copy = inputOf(tool(schema), cycle).value as Node;
      expect(copy).not.toBe(cycle);
      cycle.name = "changed";
      expect(copy.name).toBe("a");
      cycle.name = "a";
    }
  });

  it("FLOW-31 keeps an own `__proto__` at an open position a property", () => {
    const input: unknown = JSON.parse('{"__proto__": {"polluted": true}}');
    const { value } = inputOf(tool(z.any()), input);
    expect(Object.getPrototypeOf(value)).toBe(Object.prototype);
    expect(Object.keys(value as object)).toEqual(["__proto__"]);
    const loose = inputOf(tool(z.looseObject({})), input);
    expect(Object.keys(loose.value as object)).toEqual([]);
  });

  it("FLOW-31 is total: throwing getters, proxies, and nestings past the stack are left to validation", () => {
    const throwing = {
      get a() {
        throw new Error("no");
      },
    };
    const proxy = new Proxy(
      {},
      {
        get: () => {
          throw new Error("no");
        },
      },
    );
    for (const value of [throwing, proxy]) {
      expect(() => inputOf(tool(object), value)).not.toThrow();
    }
    let deep: unknown = 1;
    for (let level = 0; level < 100_000; level++) deep = { deep };
    expect(inputOf(tool(z.any()), deep).value).toBe(deep);
  });

  it("FLOW-31 does not walk an open array longer than a million elements, nor a subclass of Array", () => {
    class List extends Array<number> {}
    const sparse: unknown[] = [];
    sparse.length = 4_000_000_000;
    const most: unknown[] = [];
    most.length = 1_000_000;
    expect(inputOf(tool(z.any()), most).value).not.toBe(most);
    most.length += 1;
    expect(inputOf(tool(z.any()), most).value).toBe(most);
    const rootless = Object.create(Object.create(null)) as object;
    expect(inputOf(tool(z.any()), rootless).value).toBe(rootless);
    const list = List.from([1]);
    expect(inputOf(tool(z.any()), sparse).value).toBe(sparse);
    expect(inputOf(tool(z.any()), list).value).toBe(list);
  });

  it("FLOW-31 FLOW-34 reads the input of what is no tool as a tool's, under its own name", () => {
    const schema = z.object({ a: z.number(), at: z.date().default(() => new Date()) });
    const read = inputReader("inner", schema);
    const input = { a: 1, more: [1] };
    const taken = read(input);
    input.a = 2;
    expect(taken.value).toEqual({ a: 1 });
    expect(taken.key()).toBe(read({ a: 1 }).key());
    expect(read({ a: 2 }).key()).not.toBe(taken.key());
    expect(inputReader("other", schema)({ a: 1 }).key()).not.toBe(taken.key());
  });
});
