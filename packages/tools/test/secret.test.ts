import { inspect } from "node:util";

import { approve, DeferredApproval, memoryApprovalStore, unverified } from "@holdpoint/approvals";
import { describe, expect, it } from "vitest";
import { z } from "zod";

import {
  defineTool,
  Executor,
  inputOf,
  MASK,
  memoryLedger,
  redact,
  toolFacts,
  type ToolEvent,
  ToolError,
} from "../src/index.ts";
import { secretTexts } from "../src/secret.ts";
import { orderOf } from "./support/orders.ts";
import { approved, scriptedPort } from "./support/ports.ts";

const canary = "canary-4929-1374";
const number = 867530912345;

/** Everything that a value shows to whoever prints, clones or serialises it. */
function shown(value: unknown): string {
  const texts = [
    inspect(value, { depth: Infinity, maxArrayLength: null }),
    inspect(value, { depth: Infinity, showHidden: true, maxArrayLength: null }),
    JSON.stringify(value, (_, item: unknown) => (typeof item === "bigint" ? String(item) : item)) ??
      "",
    value instanceof Error ? `${value.stack} ${String(value)} ${inspect(value.cause)}` : "",
  ];
  try {
    texts.push(inspect(structuredClone(value), { depth: Infinity }));
  } catch {
    // functions don't clone; inspect has shown them
  }
  return texts.join("\n");
}

describe("masking", () => {
  it.each([
    ["a property", ["a"], { a: 1, b: 2 }, { a: MASK, b: 2 }],
    ["everything below", ["a"], { a: { b: [1] } }, { a: MASK }],
    ["a nested property", ["a.b"], { a: { b: 1, c: 2 } }, { a: { b: MASK, c: 2 } }],
    [
      "elements on the way",
      ["a.b"],
      { a: [{ b: 1 }, { b: 2, c: 3 }] },
      { a: [{ b: MASK }, { b: MASK, c: 3 }] },
    ],
    ["one element", ["a.1"], { a: [1, 2] }, { a: [1, MASK] }],
    ["all elements", ["a.*"], { a: [1, 2] }, { a: [MASK, MASK] }],
    [
      "any key",
      ["*.b"],
      { a: { b: 1 }, c: { b: 2, d: 3 } },
      { a: { b: MASK }, c: { b: MASK, d: 3 } },
    ],
    [
      "map entries",
      ["m.k.p"],
      { m: new Map([["k", { p: 1 }]]) },
      { m: new Map([["k", { p: MASK }]]) },
    ],
    [
      "map entries that are not named",
      ["m.p"],
      { m: new Map([["k", { p: 1 }]]) },
      { m: new Map([["k", { p: MASK }]]) },
    ],
    ["set members", ["s.p"], { s: new Set([{ p: 1 }]) }, { s: new Set([{ p: MASK }]) }],
    ["nothing that is not there", ["a.b", "c"], { a: 1, c: undefined }, { a: 1, c: undefined }],
    ["no value without paths", [], { a: 1 }, { a: 1 }],
    ["no date on another path", ["a"], { d: new Date(5), a: 1 }, { d: new Date(5), a: MASK }],
  ] as const)("TOOL-11 masks %s", (_, paths, value, expected) => {
    const before = structuredClone(value);
    expect(redact(value, paths)).toEqual(expected);
    expect(value).toEqual(before);
  });

  it("TOOL-11 ends at a cycle, and shows nothing of it", () => {
    const cycle: { a: unknown; b: number } = { a: undefined, b: 1 };
    cycle.a = cycle;
    expect(redact(cycle, ["x.y", "a.b"])).toEqual({ a: MASK, b: 1 });
  });

  it("TOOL-11 knows the texts of what is masked, long ones first, and leaves what is too short to give anything away", () => {
    const cycle: Record<string, unknown> = { long: "abcdefgh" };
    cycle["self"] = cycle;
    const value = {
      a: "abc",
      n: 12345,
      big: 10n ** 9n,
      short: "ab",
      flag: true,
      deep: [new Map([["k", "in map"]]), new Set(["in set"]), cycle],
      open: "open",
      m: new Map([["k", { p: "by map" }]]),
      s: new Set([{ p: "by set" }]),
    };
    const texts = secretTexts(value, ["a", "n", "big", "short", "flag", "deep", "m.p", "s.p"]);
    expect(new Set(texts)).toEqual(
      new Set(["1000000000", "abcdefgh", "in map", "in set", "by map", "by set", "12345", "abc"]),
    );
    expect(texts[0]).toBe("1000000000");
  });
});

/** Tools that take a card: one pays, and three fail in ways that would show it. */
function cardTools(received: unknown[]) {
  const make = (name: string, execute: (card: string) => unknown) =>
    defineTool({
      name,
      description: "",
      input: z.object({
        card: z.object({
          number: z.string().refine((text) => !text.startsWith("bad"), {
            error: ({ input }) => `no card: ${String(input)}`,
          }),
        }),
        code: z.number(),
        cents: z.int(),
      }),
      output: z.string(),
      confirm: ({ cents }) => cents > 100,
      secrets: ["card.number", "code"],
      execute: ({ card, code }) => {
        received.push(card.number, code);
        return execute(card.number) as string;
      },
    });
  const fine = make("fine", () => "paid");
  const echoing = make("echoing", (card) => {
    const details = {
      card,
      list: [card, { card }],
      map: new Map([[card, card]]),
      set: new Set([card]),
      code: number,
      attempt: 1,
    };
    throw new ToolError(`no credit on ${card} (${number})`, {
      attributes: { details, at: new Date(5), none: null },
    });
  });
  const wrong = make("wrong", () => 5);
  const plain = make("plain", (card) => {
    throw Object.assign(new Error(card), { cause: new Error(card), card });
  });
  return { fine, echoing, wrong, plain };
}

describe("a secret argument", () => {
  it("R059 TOOL-11 CASE-174 shows up in nothing that is written, told or printed, and is whole in execution", async () => {
    const events: ToolEvent[] = [];
    const received: unknown[] = [];
    const ledger = memoryLedger();
    const store = memoryApprovalStore();
    const approvals = new DeferredApproval(store);
    const { fine, ...failing } = cardTools(received);
    const executor = new Executor({
      approvals,
      ledger,
      listeners: [(event) => void events.push(event)],
    });
    const input = { card: { number: canary }, code: number, cents: 5 };
    const sinks: unknown[] = [
      fine,
      toolFacts(fine),
      inputOf(fine, input),
      orderOf(fine, input),
      executor,
    ];
    for (const tool of [fine, ...Object.values(failing)]) {
      sinks.push(await executor.tryCall(tool, input));
      sinks.push(await executor.call(tool, input).catch((error: unknown) => error));
      sinks.push(await executor.run(orderOf(tool, input)));
      sinks.push(
        await executor
          .call(tool, { ...input, cents: 500 }, { runId: "r" })
          .catch((error: unknown) => error),
      );
      const waits = await executor.tryCall(tool, { ...input, cents: 500 }, { runId: "r" });
      sinks.push(waits);
      const id = (waits as { approvalId: string }).approvalId;
      const decision = approve({ by: unverified("dana") });
      await approvals.records.decide({ scope: "default", id, decision });
      sinks.push(await executor.tryCall(tool, { ...input, cents: 500 }, { runId: "r" }));
    }
    sinks.push(await executor.tryCall(fine, { ...input, cents: 0.5 }));
    sinks.push(
      await executor.tryCall(fine, { ...input, card: { number: `bad ${canary}` }, code: number }),
    );
    sinks.push(await executor.run({ ...orderOf(fine, { ...input, cents: 500 }), runId: "q" }));
    sinks.push(events, ledger.entries);
    expect(events.length).toBeGreaterThan(20);
    expect(ledger.entries.length).toBe(16);
    expect(new Set(received)).toEqual(new Set([canary, number]));
    const leaks = sinks
      .map(shown)
      .filter((text) => text.includes(canary) || text.includes(String(number)));
    expect(leaks).toEqual([]);
    expect(sinks.map(shown).join("\n")).toContain(MASK);
  });

  it("TOOL-11 is taken out of a failure's message and attributes, and nothing else is", async () => {
    const tool = defineTool({
      name: "t",
      description: "",
      input: z.object({ pin: z.string(), code: z.number() }),
      secrets: ["pin", "code"],
      execute: ({ pin, code }) => {
        const at = new Date(5);
        const attributes = {
          at,
          none: null,
          flag: true,
          other: 5,
          code,
          big: BigInt(code),
          list: [pin, "open", at],
          map: new Map<unknown, unknown>([[pin, at]]),
          set: new Set([pin, null]),
          deep: { text: `<${pin}>`, bytes: new Uint8Array([1]) },
        };
        throw new ToolError(`${pin} is wrong, ${code} too`, { attributes });
      },
    });
    const result = await new Executor().tryCall(tool, { pin: canary, code: number });
    const at = new Date(5);
    expect(!result.ok && result.error).toEqual({
      name: "ToolError",
      code: "failed",
      message: `${MASK} is wrong, ${MASK} too`,
      retryable: false,
      attributes: {
        at,
        none: null,
        flag: true,
        other: 5,
        code: MASK,
        big: MASK,
        list: [MASK, "open", at],
        map: new Map<unknown, unknown>([[MASK, at]]),
        set: new Set([MASK, null]),
        deep: { text: `<${MASK}>`, bytes: new Uint8Array([1]) },
      },
    });
  });

  it("TOOL-11 that is not there takes nothing out of a failure", async () => {
    const tool = defineTool({
      name: "t",
      description: "",
      input: z.object({ pin: z.string().optional() }),
      secrets: ["pin"],
      execute: () => {
        throw new Error("undefined pin");
      },
    });
    await expect(new Executor().call(tool, {})).rejects.toThrow("undefined pin");
  });

  it("TOOL-11 is masked before the ledger takes a digest, so that a short one can't be guessed from it", async () => {
    const ledger = memoryLedger();
    const tool = defineTool({
      name: "t",
      description: "",
      input: z.object({ pin: z.string(), n: z.number() }),
      secrets: ["pin"],
      execute: () => 1,
    });
    const executor = new Executor({ ledger });
    await executor.call(tool, { pin: "1234", n: 1 });
    await executor.call(tool, { pin: "5678", n: 1 });
    await executor.call(tool, { pin: "1234", n: 2 });
    const [one, two, three] = ledger.entries.map(({ argumentsDigest }) => argumentsDigest);
    expect(one).toBe(two);
    expect(one).not.toBe(three);
  });

  it("TOOL-11 is whole in the request that a person decides about, by its one explicit way, and in no print of it", async () => {
    const approvals = scriptedPort(approved());
    const tool = defineTool({
      name: "t",
      description: "",
      input: z.object({ pin: z.string() }),
      secrets: ["pin"],
      confirm: true,
      execute: ({ pin }) => pin,
    });
    await new Executor({ approvals }).tryCall(tool, { pin: canary });
    const [request] = approvals.requests;
    expect(request?.arguments).toEqual({ pin: canary });
    expect(redact(request?.arguments, toolFacts(tool).secrets)).toEqual({ pin: MASK });
    expect(shown(request)).not.toContain(canary);
  });
});
