import { digest } from "@holdpoint/seal";
import { describe, expect, it } from "vitest";
import { z } from "zod";

import { defineTool } from "@holdpoint/tools";

import { flow, FlowRunner } from "../../src/index.ts";
import { logMeter, type LogMeter } from "../support/log-meter.ts";
import { keyring } from "../support/world.ts";

const tool = (name: string, result: (n: number) => string, idempotent = true) =>
  defineTool({
    name,
    description: name,
    input: z.object({ n: z.number() }),
    output: z.object({ text: z.string() }),
    idempotent,
    execute: ({ n }) => ({ text: result(n) }),
  });

const look = tool("look", (n) => `result ${n}`);

/** What a run of `flow` writes, and in how many commits. */
async function measured(
  built: Parameters<FlowRunner["run"]>[0],
  input: object,
): Promise<Pick<LogMeter["written"], "entries" | "snapshots"> & { readonly commits: number }> {
  const { log, written, commits } = logMeter();
  const runner = new FlowRunner({ log, keyring, roundsMax: 20_000, visitsMax: 20_000 });
  const result = await runner.run(built, input as never);
  if (result.status !== "completed") throw new Error(result.status);
  return { ...written, commits: commits() };
}

/** One node of `n` calls, one after the other. */
const inOneNode = flow("calls", z.object({ n: z.number(), last: z.string().optional() }))
  .node("all", async ({ n }, ctx) => {
    let last = "";
    for (let at = 0; at < n; at += 1) last = (await ctx.call(look, { n: at })).text;
    return { last };
  })
  .build();

/** A loop of `n` rounds that each add a line of some hundred characters to the state. */
const agent = flow("agent", z.object({ n: z.number(), lines: z.array(z.string()) }))
  .node("turn", async ({ lines }, ctx) => {
    const { text } = await ctx.call(look, { n: lines.length });
    return { lines: [...lines, `${lines.length}: ${text} ${`${lines.length}, `.repeat(20)}`] };
  })
  .route("turn", ["turn", "$end"], ({ n, lines }) => (lines.length < n ? "turn" : "$end"))
  .build();

describe("what a run writes", () => {
  it.each([
    ["calls in one node", inOneNode, (n: number) => ({ n })],
    ["rounds that add to the state", agent, (n: number) => ({ n, lines: [] })],
  ])("FLOW-73 grows as the number of its %s does", async (_, built, input) => {
    const [few, some, many] = [
      await measured(built, input(10)),
      await measured(built, input(100)),
      await measured(built, input(1_000)),
    ];
    const each = (some.entries - few.entries) / 90;
    expect((many.entries - some.entries) / 900 / each).toBeLessThan(1.5);
    expect(many.snapshots).toBeGreaterThan(0);
    expect(many.snapshots).toBeLessThan(many.entries / 2);
  });

  it("FLOW-73 holds a large value once, wherever it goes", async () => {
    const text = "y".repeat(50_000);
    const large = tool("large", () => text);
    const built = flow("large", z.object({ got: z.array(z.string()), copy: z.string().optional() }))
      .node("fetch", async (_, ctx) => ({ got: [(await ctx.call(large, { n: 1 })).text] }))
      .node("pass", ({ got }) => ({ copy: got[0]! }))
      .node("add", ({ copy = "" }) => ({ got: [copy] }))
      .reduce("got", (current, added) => [...current, ...added])
      .path("fetch", "pass", "add")
      .build();
    const { entries } = await measured(built, { got: [] });
    expect(entries).toBeGreaterThan(text.length);
    expect(entries).toBeLessThan(1.2 * text.length);
  });

  it("FLOW-73 CASE-202 keeps a value of a megabyte, and writes it no more than once more after a snapshot, over a hundred rounds that carry it on", async () => {
    const text = Array.from({ length: 23_300 }, (_, at) => digest({ at })).join("");
    const one = z.string().optional();
    // It moves from one field to the other and back.
    const built = flow("carries", z.object({ here: one, there: one, turns: z.number() }))
      .node("turn", ({ here, there, turns }) => ({ here: there, there: here, turns: turns + 1 }))
      .route("turn", ["turn", "$end"], ({ turns }) => (turns < 100 ? "turn" : "$end"))
      .build();
    const { entries, snapshots } = await measured(built, { here: text, turns: 0 });
    expect(text.length).toBeGreaterThan(1_000_000);
    expect(entries).toBeLessThan(2.2 * text.length);
    expect(snapshots).toBeLessThan(1.1 * text.length);
  });

  const drawn = defineTool({
    name: "drawn",
    description: "Has a default that might be drawn anew.",
    input: z.object({ n: z.number(), id: z.string().default("d") }),
    output: z.object({ text: z.string() }),
    idempotent: true,
    execute: ({ n }) => ({ text: `${n}` }),
  });
  const once = tool("once", (n) => `${n}`, false);

  it.each([
    ["1 for an idempotent tool whose arguments are as they were passed", look, 1],
    ["2 for an idempotent tool whose arguments were drawn", drawn, 2],
    ["2 for a tool that is not idempotent", once, 2],
  ] as const)("FLOW-72 takes no more commits a call than %s", async (_, called, most) => {
    const calls = (n: number) =>
      flow("few", z.object({ done: z.boolean().optional() }))
        .node("all", async (_state, ctx) => {
          for (let at = 0; at < n; at += 1) await ctx.call(called, { n: at });
          return { done: true };
        })
        .build();
    const [some, more] = [await measured(calls(10), {}), await measured(calls(30), {})];
    expect((more.commits - some.commits) / 20).toBeLessThanOrEqual(most);
  });
});
