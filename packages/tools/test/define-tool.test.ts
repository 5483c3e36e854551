import { readdirSync, readFileSync } from "node:fs";

import { describe, expect, expectTypeOf, it } from "vitest";
import { z } from "zod";

import * as surface from "../src/index.ts";
import {
  type AnyTool,
  defineTool,
  Executor,
  inputOf,
  isToolError,
  type Schema,
  type Tool,
  toolFacts,
  type ToolInput,
  type ToolOutput,
} from "../src/index.ts";

const input = z.object({ cents: z.int() });
const base = { name: "t", description: "d", input, execute: () => 1 };
const invalid = expect.toSatisfy((e) => isToolError(e, "definition-invalid"));

describe("a tool", () => {
  it("TOOL-01 says what it is, and is frozen", () => {
    const tool = defineTool({ ...base, version: "3", idempotent: true });
    expect(tool).toEqual({ name: "t", description: "d", version: "3", idempotent: true });
    expect(Object.isFrozen(tool)).toBe(true);
    expect(defineTool(base)).toMatchObject({ version: undefined, idempotent: false });
  });

  it("TOOL-01 has facts for graphs and pages", () => {
    const output = z.number();
    const retry = { attempts: 2, backoffMs: 5 };
    const full = defineTool({
      ...base,
      output,
      retry,
      timeoutMs: 5,
      secrets: ["cents"],
      confirm: () => false,
    });
    expect(toolFacts(full)).toEqual({
      name: "t",
      description: "d",
      version: undefined,
      idempotent: false,
      confirms: true,
      input,
      output,
      secrets: ["cents"],
      retry,
      timeoutMs: 5,
    });
    expect(toolFacts(defineTool(base))).toMatchObject({
      confirms: false,
      secrets: [],
      retry: undefined,
    });
    expect(toolFacts(defineTool({ ...base, confirm: false })).confirms).toBe(false);
    expect(toolFacts(defineTool({ ...base, confirm: true })).confirms).toBe(true);
  });

  const wrong: readonly [string, object][] = [
    ["name", { name: "" }],
    ["name", { name: "node:x" }],
    ["name", { name: "1a" }],
    ["name", { name: "a".repeat(129) }],
    ["name", { name: 5 }],
    ["execute", { execute: "x" }],
    ["input", { input: {} }],
    ["input", { input: null }],
    ["input", { input: "x" }],
    ["output", { output: {} }],
    ["timeoutMs", { timeoutMs: 0 }],
    ["retry", { retry: { attempts: 0 } }],
    ["retry", { retry: { attempts: 1.5 } }],
    ["retry", { retry: { attempts: 101 } }],
    ["retry", { retry: { attempts: 1, backoffMs: -1 } }],
    ["secrets", { secrets: ["a..b"] }],
    ["secrets", { secrets: [""] }],
  ];
  it.each(wrong)("TOOL-01 is refused where its %s can't be: %j", (member, change) => {
    expect(() => defineTool({ ...base, ...change } as typeof base)).toThrow(
      expect.toSatisfy(
        (e) => isToolError(e, "definition-invalid") && e.attributes["member"] === member,
      ),
    );
  });

  it("TOOL-01 is refused where a time is no finite number", () => {
    for (const ms of [Infinity, Number.NaN]) {
      expect(() => defineTool({ ...base, timeoutMs: ms })).toThrow(invalid);
      expect(() => defineTool({ ...base, retry: { attempts: 1, backoffMs: ms } })).toThrow(invalid);
    }
  });

  it("TOOL-01 takes any Standard Schema, a function that is one included", async () => {
    const shout: Schema<string, string> = {
      "~standard": {
        version: 1,
        vendor: "test",
        validate: (value) =>
          typeof value === "string"
            ? { value: value.toUpperCase() }
            : {
                issues: [{ message: "no text", path: ["a", { key: "b" }] }, { message: "at all" }],
              },
      },
    };
    const slow = Object.assign(() => undefined, {
      "~standard": {
        version: 1,
        vendor: "test",
        validate: async (value: unknown) => shout["~standard"].validate(value),
      },
    }) as unknown as Schema<string, string>;
    for (const schema of [shout, slow]) {
      const tool = defineTool({
        name: "t",
        description: "",
        input: schema,
        output: schema,
        execute: (text) => `${text}!`,
      });
      const executor = new Executor();
      expect(await executor.call(tool, "a")).toBe("A!");
      await expect(executor.call(tool, 5 as never)).rejects.toMatchObject({
        code: "arguments-invalid",
        message: "the arguments of 't' are not valid: a.b: no text; (value): at all",
      });
    }
  });

  it("TOOL-11 is refused at its first input where a secret path leads nowhere", () => {
    interface Tree {
      leaf: string;
      inner?: Tree | undefined;
    }
    const tree: z.ZodType<Tree> = z.lazy(() =>
      z.object({ leaf: z.string(), inner: tree.optional() }),
    );
    const nest: z.ZodType = z.lazy(() => z.array(nest));
    const schema = z.object({
      card: z.object({ number: z.string() }).optional(),
      list: z.array(z.object({ pin: z.string() })),
      pair: z.tuple([z.object({ a: z.string() })], z.object({ b: z.string() })),
      map: z.map(z.string(), z.object({ c: z.string() })),
      set: z.set(z.object({ d: z.string() })),
      record: z.record(z.string(), z.object({ e: z.string() })),
      loose: z.looseObject({}),
      open: z.any(),
      either: z.union([z.object({ f: z.string() }), z.string()]),
      tree,
      nest,
    });
    const good = [
      "card",
      "card.number",
      "list.pin",
      "list.0.pin",
      "list.*.pin",
      "list.*",
      "pair.a",
      "pair.b",
      "map.k.c",
      "set.d",
      "record.k.e",
      "*.number",
      "loose.x",
      "open.x.y",
      "either.f",
      "tree.inner.inner.leaf",
      "nest.x",
    ];
    const take = (path: string) => () =>
      inputOf(
        defineTool({
          name: "t",
          description: "",
          input: schema,
          secrets: [path],
          execute: () => 1,
        }),
        {} as never,
      );
    for (const path of good) expect(take(path)).not.toThrow();
    for (const path of [
      "crad",
      "card.numbr",
      "list.x",
      "pair.c",
      "map.k.x",
      "record.k.x",
      "card.number.x",
      "either.g",
    ]) {
      expect(take(path)).toThrow(invalid);
    }
  });
});

describe("nothing but an executor runs a tool", () => {
  const source = new URL("../src/", import.meta.url);
  const files = readdirSync(source, { recursive: true, encoding: "utf8" }).filter((file) =>
    file.endsWith(".ts"),
  );

  it("CASE-076 TOOL-10 only the definition and the attempt import the handle to execute", () => {
    const importing = files.filter((file) =>
      readFileSync(new URL(file, source), "utf8").includes('execute-handle.ts"'),
    );
    expect(importing.toSorted()).toEqual(["define-tool.ts", "pipeline/attempt.ts"]);
    const attempting = files.filter((file) =>
      readFileSync(new URL(file, source), "utf8").includes('/attempt.ts"'),
    );
    expect(attempting).toEqual(["pipeline/execute.ts"]);
    const exports = (
      JSON.parse(readFileSync(new URL("../package.json", source), "utf8")) as { exports: object }
    ).exports;
    expect(Object.keys(exports)).toEqual([".", "./package.json"]);
  });

  it("CASE-076 TOOL-10 no export and no member gives execute away", () => {
    const execute = () => "ran";
    const tool = defineTool({ ...base, execute });
    const reached = new Set<unknown>();
    const look = (value: unknown): void => {
      if (
        (typeof value !== "object" && typeof value !== "function") ||
        value === null ||
        reached.has(value)
      )
        return;
      reached.add(value);
      for (const key of Reflect.ownKeys(value)) {
        const property = Object.getOwnPropertyDescriptor(value, key)!;
        if ("value" in property) look(property.value);
      }
    };
    for (const value of [tool, inputOf(tool, { cents: 1 }), new Executor()]) look(value);
    look(toolFacts(tool));
    look(surface);
    expect(reached.has(execute)).toBe(false);
    // @ts-expect-error -- there is no such member
    const member: unknown = tool.execute;
    expect(member).toBeUndefined();
  });

  it("TOOL-10 refuses a tool of another copy of the package, and what is no tool", async () => {
    const foreign = Object.defineProperty({ name: "f" }, Symbol.for("@holdpoint/tools.tool"), {
      value: true,
    });
    const executor = new Executor();
    for (const [tool, code] of [
      [foreign, "foreign-tool"],
      [{ name: "x", execute: () => 1 }, "not-a-tool"],
      [undefined, "not-a-tool"],
      [null, "not-a-tool"],
      [{ ...defineTool(base) }, "not-a-tool"],
    ] as const) {
      const is = expect.toSatisfy((e) => isToolError(e, code));
      expect(() => inputOf(tool as AnyTool, 1)).toThrow(is);
      expect(() => toolFacts(tool as AnyTool)).toThrow(is);
      await expect(executor.call(tool as AnyTool, 1)).rejects.toEqual(is);
      const order = { tool } as unknown as surface.CallOrder;
      expect(await executor.run(order)).toMatchObject({
        status: "failed",
        executed: false,
        error: { code },
      });
    }
    expect(() => toolFacts(foreign as AnyTool)).toThrow(
      "the tool 'f' was made by another copy of @holdpoint/tools: keep one version in the program",
    );
    expect(() => toolFacts({} as AnyTool)).toThrow(
      "what was given is no tool (object): make one with defineTool",
    );
  });
});

describe("types", () => {
  it("TOOL-01 are inferred from the schemas, or from execute", () => {
    const refund = defineTool({
      name: "refund",
      description: "",
      input: z.object({ id: z.string().default("x"), cents: z.int() }),
      output: z.object({ ref: z.string().transform((ref) => ref.length) }),
      confirm: (args) => {
        expectTypeOf(args).toEqualTypeOf<{ id: string; cents: number }>();
        return { approvers: ["dana"], quorum: 1 };
      },
      execute: async ({ id }, context) => {
        expectTypeOf(id).toEqualTypeOf<string>();
        expectTypeOf(context.signal).toEqualTypeOf<AbortSignal>();
        return { ref: id };
      },
    });
    expectTypeOf<ToolInput<typeof refund>>().toEqualTypeOf<{
      id?: string | undefined;
      cents: number;
    }>();
    expectTypeOf<ToolOutput<typeof refund>>().toEqualTypeOf<{ ref: number }>();
    expectTypeOf(refund.name).toEqualTypeOf<"refund">();
    const free = defineTool({ ...base, execute: async () => ({ n: 1 }) });
    expectTypeOf(free).toEqualTypeOf<
      Tool<{ cents: number }, { n: number }, string, { cents: number }>
    >();
  });

  it("TOOL-01 refuse wrong arguments, results, rules and edits", () => {
    const tool = defineTool({ ...base, confirm: true });
    const executor = new Executor();
    const never = () => {
      // @ts-expect-error -- an argument of the wrong type
      void executor.call(tool, { cents: "1" });
      // @ts-expect-error -- an argument is missing
      void executor.call(tool, {});
      // @ts-expect-error -- there is no such argument
      void executor.call(tool, { cents: 1, cent: 1 });
      // @ts-expect-error -- an edit is arguments
      surface.edited(tool, { cents: "1" });
      // @ts-expect-error -- no tool
      void executor.call({ name: "t" }, 1);
    };
    expectTypeOf(never).toBeFunction();
    // @ts-expect-error -- execute gives what the output schema takes
    defineTool({ ...base, output: z.string(), execute: () => 5 });
    // @ts-expect-error -- confirm gives a boolean or a rule
    defineTool({ ...base, confirm: () => "yes" });
    // @ts-expect-error -- a rule has no such member
    defineTool({ ...base, confirm: () => ({ approver: ["dana"] }) });
    // @ts-expect-error -- confirm reads validated arguments
    defineTool({ ...base, confirm: ({ cent }) => cent > 1 });
    // @ts-expect-error -- confirm answers at once
    defineTool({ ...base, confirm: async () => true });
    expect(toolFacts(tool).confirms).toBe(true);
  });

  it("CASE-156 give a tool's functions no way to an actor", () => {
    defineTool({
      ...base,
      execute: (_args, context) => {
        expectTypeOf<keyof typeof context>().toEqualTypeOf<
          "runId" | "node" | "callId" | "idempotencyKey" | "signal"
        >();
        return 1;
      },
    });
    expect(Object.keys(surface).filter((name) => /actor|identity|approve\b/i.test(name))).toEqual(
      [],
    );
  });
});
