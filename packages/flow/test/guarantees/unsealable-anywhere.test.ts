import { defineTool } from "@holdpoint/tools";
import { describe, expect, it } from "vitest";
import { z } from "zod";

import { defineInterrupt, flow, memoryRunLog, type Flow } from "../../src/index.ts";
import { effects } from "../support/effects.ts";
import { paused, rejection, stateOf, world, yes } from "../support/world.ts";

const State = z.object({ n: z.number(), odd: z.any() });
type Input = z.input<typeof State>;

class Stranger {
  readonly secret = "canary-4711";
}

function detached(): ArrayBuffer {
  const buffer = new ArrayBuffer(4);
  structuredClone(buffer, { transfer: [buffer] });
  return buffer;
}

function ring(): object {
  const self: { self?: unknown } = {};
  self.self = self;
  return self;
}

const thenKey = ["th", "en"].join("");

/** Values that can't be sealed, one for each rule that refuses some. */
const odd: Record<string, () => unknown> = {
  function: () => () => 1,
  class: () => Stranger,
  symbol: () => Symbol("s"),
  instance: () => new Stranger(),
  "prototype of its own": () => Object.create({ b: 2 }),
  cycle: ring,
  accessor: () => ({
    get x() {
      return 1;
    },
  }),
  "hidden property": () => Object.defineProperty({}, "a", { value: 1 }),
  "symbol key": () => ({ [Symbol("s")]: 1 }),
  promise: () => Promise.resolve(),
  "callable then": () => ({ [thenKey]: () => 1 }),
  error: () => new TypeError("x"),
  regexp: () => /x/,
  "weak map": () => new WeakMap(),
  "boxed string": () => Object("a"),
  proxy: () => new Proxy({ a: 1 }, {}),
  "sparse array": () => Object.assign([], { 1: 1 }),
  "array with more": () => Object.assign([1], { x: 1 }),
  "array subclass": () => new (class Items extends Array<number> {})(1, 2),
  "invalid date": () => new Date(Number.NaN),
  "date with more": () => Object.assign(new Date(5), { more: 1 }),
  "map subclass": () => new (class Index extends Map {})(),
  "set with more": () => Object.assign(new Set(), { more: 1 }),
  "bytes with more": () => Object.assign(new Uint8Array(3), { more: 1 }),
  "many bytes with more": () => Object.assign(new Uint8Array(5_000), { more: 1 }),
  "many numbers with a symbol": () =>
    Object.assign(new Float64Array(5_000).fill(NaN), { [Symbol("more")]: 1 }),
  "shared bytes": () => new Uint8Array(new SharedArrayBuffer(4)),
  "detached buffer": detached,
};

const Ask = defineInterrupt({ name: "ask", info: z.any(), answer: z.string(), cursor: z.any() });

const base = () => flow("f", State);

const after = async (n: number) => {
  for (let turn = 0; turn < n; turn++) await new Promise((done) => setImmediate(done));
};

/** Flows that bring a value to each place of a pause that is sealed. */
const places = (make: () => unknown): Record<string, Flow<object, Input>> => {
  const value = () => ({ it: { deep: [make()] } });
  return { ...placesOfGraph(value), ...placesOfCode(value) };
};

function placesOfGraph(value: () => object): Record<string, Flow<object, Input>> {
  const { gated } = effects();
  const picks = defineTool({
    name: "picks",
    description: "asks for some",
    input: z.object({ n: z.number() }),
    confirm: ({ n }) => n > 0,
    execute: value,
  });
  const put = () => base().node("put", () => ({ odd: value() }));
  return {
    "the state at a gate": put()
      .gate("look", { payload: (s) => s.n })
      .path("put", "look")
      .build(),
    "a gate's payload": base().gate("look", { payload: value }).build(),
    "the state at a tool": put()
      .call("pay", gated, { args: { n: 1 } })
      .path("put", "pay")
      .build(),
    "a sibling's update": base()
      .node("start", () => ({}))
      .call("pay", gated, { args: { n: 1 } })
      .node("other", async () => (await after(3), { odd: value() }))
      .edge("start", "pay")
      .edge("start", "other")
      .build(),
    "the items of a map": base()
      .map("m", {
        over: () => [value(), value()],
        each: (_, ctx) => ctx.call(gated, { n: ctx.index }).then(() => 1),
        into: () => ({}),
      })
      .build(),
    "the value of a map's item": base()
      .map("m", {
        over: () => [0, 1],
        each: async (n, ctx) => (n === 0 ? value() : (await ctx.call(gated, { n })).got),
        into: () => ({}),
      })
      .build(),
    "the result of a map's tool": base()
      .mapCall("m", picks, { over: () => [0, 1], args: (n) => ({ n }), into: () => ({}) })
      .build(),
  };
}

function placesOfCode(value: () => object): Record<string, Flow<object, Input>> {
  const { gated, free } = effects();
  const gives = defineTool({
    name: "gives",
    description: "gives what it should not",
    input: z.object({ n: z.number() }),
    execute: value,
  });
  const within = flow("within", State)
    .node("put", () => ({ odd: value() }))
    .gate("look", { payload: (s) => s.n })
    .path("put", "look")
    .build();
  return {
    "a call's result": base()
      .node("a", async (_, ctx) => {
        await ctx.call(gives, { n: 1 });
        await ctx.call(gated, { n: 1 });
      })
      .build(),
    "a step's result": base()
      .node("a", async (_, ctx) => {
        await ctx.step("odd", value);
        await ctx.call(gated, { n: 1 });
      })
      .build(),
    "a question's info": base()
      .node("a", async (_, ctx) => void (await ctx.ask(Ask, value())), { asks: [Ask] })
      .build(),
    "a question's cursor": base()
      .node("a", async (_, ctx) => void (await ctx.ask(Ask, 1, { cursor: value() })), {
        asks: [Ask],
      })
      .build(),
    "the state of a run within": base()
      .subflow("w", within, { input: (s) => ({ n: s.n, odd: 1 }), into: () => ({}) })
      .build(),
    "the input of a run within": base()
      .node(
        "w",
        async (_, ctx) => {
          await ctx.call(free, { n: 1 });
          await ctx.run(within, { n: 1, odd: value() });
        },
        { runs: [within] },
      )
      .build(),
  };
}

/** What a result's copy is made of is what a proxy shows: the copy is no proxy (decision 0624). */
const copied = /result|value of a map's item|info|cursor/;

describe("what can't be sealed", () => {
  for (const mode of ["portable", "durable"] as const) {
    it(`P5 FLOW-26 FLOW-27 leaves no pending record and is named by its path, of every kind and at every place (${mode})`, async () => {
      const wrong: string[] = [];
      for (const [kind, make] of Object.entries(odd)) {
        for (const [where, f] of Object.entries(places(make))) {
          if (kind === "proxy" && copied.test(where)) continue;
          const { runner, count, outcomes } = world(
            mode === "durable" ? { log: memoryRunLog() } : {},
          );
          const { code, data, message } = await rejection(runner().run(f, { n: 1, odd: 1 }));
          const left = [await count("pending"), await count("decided")];
          const ended = await outcomes();
          const isRight =
            code === "state-not-sealable" &&
            data!["flow"] === "f" &&
            /\bit\.deep\b/.test(String(data!["path"])) &&
            !`${message} ${JSON.stringify(data)}`.includes("canary") &&
            left.every((number) => number === 0) &&
            ended.every((outcome) => outcome === "state-not-sealable");
          if (!isRight)
            wrong.push(
              `a ${kind} as ${where}: ${code} at ${String(data!["path"])}: ${message}; ${left.join()} left, ${ended.join()}`,
            );
        }
      }
      expect(wrong).toEqual([]);
    });
  }

  it("FLOW-27 FLOW-47 records of a proxy's result what it shows, and of one that throws nothing", async () => {
    const { gated } = effects();
    const run = async (result: object) => {
      const gives = defineTool({
        name: "gives",
        description: "gives a proxy",
        input: z.object({}),
        execute: () => ({ it: result }),
      });
      const f = flow("f", State)
        .node("a", async (_, ctx) => {
          const { it } = (await ctx.call(gives, {})) as { it: object };
          await ctx.call(gated, { n: 1 });
          return { odd: it };
        })
        .build();
      const { runner } = world();
      return runner().resume(f, paused(await runner().run(f, { n: 1, odd: 1 })).checkpoint, yes());
    };
    const shows = new Proxy({}, { ownKeys: () => ["a"], getOwnPropertyDescriptor: () => shown });
    const shown = { value: 5, enumerable: true, configurable: true };
    expect(stateOf(await run(shows)).odd).toEqual({ a: 5 });
    const throws = new Proxy(
      {},
      {
        ownKeys: () => {
          throw new Error("a trap of the tool's own");
        },
      },
    );
    expect(await rejection(run(throws))).toMatchObject({
      code: "state-not-sealable",
      data: { path: "it", call: "gives" },
    });
  });
});
