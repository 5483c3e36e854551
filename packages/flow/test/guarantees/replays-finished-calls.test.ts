import { defineTool, Executor, registerErrorClass, ToolError } from "@holdpoint/tools";
import { describe, expect, it } from "vitest";
import { z } from "zod";

import { flow, isFlowError, memoryRunLog, replies } from "../../src/index.ts";
import { effects } from "../support/effects.ts";
import { no, paused, recordlessPort, rejection, stateOf, world, yes } from "../support/world.ts";

const State = z.object({ n: z.number(), sum: z.number().optional(), note: z.string().optional() });

class Declined extends ToolError {
  static override readonly errorName: string = "Declined";
}
registerErrorClass("Declined", Declined);

describe("finished calls are replayed, not run", () => {
  it("FLOW-30 FLOW-31 runs a call before the pause once, and the approved one once", async () => {
    const { log, free, gated } = effects();
    const { runner } = world();
    const f = flow("f", State)
      .node("a", async (s, ctx) => {
        const one = await ctx.call(free, { n: s.n });
        const two = await ctx.call(gated, { n: one.got });
        return { sum: one.got + two.got };
      })
      .build();
    const first = paused(await runner().run(f, { n: 1 }));
    expect(log).toEqual(["free(1)"]);
    expect(stateOf(await runner().resume(f, first.checkpoint, yes()))).toEqual({ n: 1, sum: 110 });
    expect(log).toEqual(["free(1)", "gated(10)"]);
  });

  it("FLOW-31 tells nobody of a replayed call, charges nothing and asks no guard", async () => {
    const { free, gated } = effects();
    const ledger: string[] = [];
    const asked: string[] = [];
    const { port, runner, notices } = world();
    const executor = new Executor({
      approvals: port,
      ledger: { record: (entry) => void ledger.push(entry.tool) },
      guards: [{ name: "watch", check: ({ tool }) => void asked.push(tool.name) }],
    });
    const told: string[] = [];
    executor.listen((event) => void told.push(`${event.kind} ${event.tool}`));
    const f = flow("f", State)
      .node("a", async (s, ctx) => {
        await ctx.call(free, { n: s.n });
        await ctx.call(gated, { n: s.n });
      })
      .build();
    const first = paused(await runner({ executor }).run(f, { n: 1 }));
    const before = { ledger: [...ledger], asked: asked.length, told: told.length };
    expect(before.ledger).toEqual(["free"]);
    notices.length = 0;
    await runner({ executor }).resume(f, first.checkpoint, yes());
    expect(ledger).toEqual(["free", "gated"]);
    expect(asked.filter((name) => name === "free").length).toBe(
      asked.slice(0, before.asked).filter((name) => name === "free").length,
    );
    expect(told.slice(before.told).every((line) => line.endsWith(" gated"))).toBe(true);
    expect(notices.filter(({ type }) => type === "call-finished").map(({ name }) => name)).toEqual([
      "gated",
    ]);
  });

  it("FLOW-31 replays two equal calls in the order in which they were made", async () => {
    const { gated } = effects();
    let count = 0;
    const next = defineTool({
      name: "next",
      description: "counts",
      input: z.object({ n: z.number() }),
      execute: () => ({ at: (count += 1) }),
    });
    const seen: string[] = [];
    const f = flow("f", State)
      .node("a", async (s, ctx) => {
        const [one, two] = [await ctx.call(next, { n: 1 }), await ctx.call(next, { n: 1 })];
        seen.push(`${one.at} ${two.at}`);
        await ctx.call(gated, { n: s.n });
      })
      .build();
    const { runner } = world();
    const first = paused(await runner().run(f, { n: 1 }));
    await runner().resume(f, first.checkpoint, yes());
    expect(seen).toEqual(["1 2", "1 2"]);
    expect(count).toBe(2);
  });

  it("FLOW-31 FLOW-71 seals what is in a journal once: 200 results of 10 kB are about 2 MB, and 400 twice that", async () => {
    const { gated } = effects();
    let ran = 0;
    const load = defineTool({
      name: "load",
      description: "loads a page",
      input: z.object({ page: z.number() }),
      output: z.object({ text: z.string() }),
      execute: ({ page }) => {
        ran += 1;
        return { text: String(page % 10).repeat(10_000) };
      },
    });
    const sizes: number[] = [];
    for (const pages of [200, 400]) {
      const f = flow("f", State)
        .node("a", async (s, ctx) => {
          let sum = 0;
          for (let page = 0; page < pages; page++)
            sum += (await ctx.call(load, { page })).text.length;
          await ctx.call(gated, { n: s.n });
          return { sum };
        })
        .build();
      const { runner } = world({ approvals: recordlessPort() });
      const first = paused(await runner().run(f, { n: 1 }));
      const text = runner().dumpCheckpoint(first.checkpoint);
      sizes.push(text.length);
      const other = runner();
      const done = await other.resume(f, other.loadCheckpoint(f, text), yes());
      expect(stateOf(done).sum).toBe(pages * 10_000);
    }
    expect(ran).toBe(600);
    expect(sizes[0]).toBeGreaterThan(2_000_000);
    expect(sizes[0]).toBeLessThan(2_300_000);
    expect(sizes[1]! / sizes[0]!).toBeCloseTo(2, 1);
  });

  it("FLOW-31 calls a tool whose input can't be sealed after a pause as it would have without one", async () => {
    const { free, gated } = effects();
    const sizes: number[] = [];
    const upload = defineTool({
      name: "upload",
      description: "takes a stream",
      input: z.object({ body: z.any() }),
      execute: ({ body }) => void sizes.push((body as { size: number }).size),
    });
    class Stream {
      readonly size: number;
      constructor(size: number) {
        this.size = size;
      }
    }
    const f = flow("f", State)
      .node("a", async (s, ctx) => {
        await ctx.call(free, { n: 1 });
        await ctx.call(gated, { n: s.n });
        await ctx.call(upload, { body: new Stream(5) });
        return { sum: (await ctx.call(free, { n: 2 })).got };
      })
      .build();
    const { runner } = world();
    const first = paused(await runner().run(f, { n: 1 }));
    expect(stateOf(await runner().resume(f, first.checkpoint, yes())).sum).toBe(20);
    expect(sizes).toEqual([5]);
  });

  it("FLOW-32 CASE-094 throws a replayed failure as the class, message and attributes of the live one", async () => {
    const { gated } = effects();
    const charge = defineTool({
      name: "charge",
      description: "declines",
      input: z.object({}),
      execute: () => {
        throw new Declined("card declined", { code: "declined", attributes: { limit: 5 } });
      },
    });
    const seen: unknown[] = [];
    const f = flow("f", State)
      .node("a", async (s, ctx) => {
        try {
          await ctx.call(charge, {});
        } catch (error) {
          const { name, message, code, attributes, cause } = error as Declined;
          seen.push({ is: error instanceof Declined, name, message, code, attributes, cause });
        }
        await ctx.call(gated, { n: s.n });
      })
      .build();
    const { runner } = world();
    const first = paused(await runner().run(f, { n: 1 }));
    stateOf(await runner().resume(f, first.checkpoint, yes()));
    expect(seen).toHaveLength(2);
    expect(seen[0]).toMatchObject({ is: true, code: "declined", attributes: { limit: 5 } });
    expect(seen[1]).toEqual(seen[0]);
  });

  it("FLOW-35 finishes a node that needs two approvals after two resumes, its calls run once each", async () => {
    const { log, free, gated, other } = effects();
    const { runner, outcomes } = world();
    const f = flow("f", State)
      .node("a", async (s, ctx) => {
        const a = await ctx.call(free, { n: s.n });
        const b = await ctx.call(gated, { n: a.got });
        const c = await ctx.call(other, { n: b.got });
        return { sum: c.got };
      })
      .build();
    const first = paused(await runner().run(f, { n: 1 }));
    expect(first.pendings.map(({ tool }) => tool)).toEqual(["gated"]);
    const second = paused(await runner().resume(f, first.checkpoint, yes()));
    expect(second.pendings.map(({ tool }) => tool)).toEqual(["other"]);
    expect(second.runId).toBe(first.runId);
    expect(stateOf(await runner().resume(f, second.checkpoint, yes())).sum).toBe(1000);
    expect(log).toEqual(["free(1)", "gated(10)", "other(100)"]);
    expect(await outcomes()).toEqual(["executed", "executed"]);
  });

  it("FLOW-40 R146 replays steps, times, chance and ids, though the clock and the dice moved on", async () => {
    const { gated } = effects();
    let steps = 0;
    const seen: unknown[] = [];
    const f = flow("f", State)
      .node("a", async (s, ctx) => {
        const step = await ctx.step("think", () => ({ words: `thought ${(steps += 1)}` }));
        const failed = await ctx
          .step("fail", () => {
            throw new TypeError("no luck");
          })
          .catch((error: Error) => `${error.name}: ${error.message}`);
        seen.push([step, failed, ctx.now().getTime(), ctx.random(), ctx.random(), ctx.uuid()]);
        await ctx.call(gated, { n: s.n });
      })
      .build();
    const { runner } = world();
    const first = paused(await runner().run(f, { n: 1 }));
    const zone = process.env["TZ"];
    process.env["TZ"] = "Pacific/Apia";
    try {
      stateOf(await runner().resume(f, first.checkpoint, yes()));
    } finally {
      if (zone === undefined) delete process.env["TZ"];
      else process.env["TZ"] = zone;
    }
    expect(seen).toHaveLength(2);
    expect(seen[1]).toEqual(seen[0]);
    expect(steps).toBe(1);
    const [, , , one, two] = seen[0] as number[];
    expect(one).not.toBe(two);
  });

  it("FLOW-47 keeps results of every size and schema as they were recorded, whatever the node does to them", async () => {
    const Built = z.object({
      rows: z.array(z.object({ at: z.number(), text: z.string().optional() })),
    });
    const outputs = { built: Built, open: z.any() };
    for (const durable of [false, true]) {
      for (const [kind, output] of Object.entries(outputs)) {
        const { gated } = effects();
        const lists = defineTool({
          name: "lists",
          description: "lists rows",
          input: z.object({ n: z.number() }),
          output,
          execute: ({ n }) => ({
            rows: Array.from({ length: n }, (_, at) => ({
              at,
              ...(at === 3 && { text: undefined }),
            })),
          }),
        });
        const seen: unknown[][] = [];
        const f = flow("f", State)
          .node("a", async (_, ctx) => {
            const got: unknown[] = [];
            // A few, many, many, few again: what is kept of a tool's results changes with their size.
            for (const n of [2, 40, 41, 4, 3, 5]) {
              const { rows } = (await ctx.call(lists, { n })) as { rows: { at: number }[] };
              got.push(structuredClone(rows));
              rows.forEach((row) => (row.at = -1));
              rows.length = 1;
            }
            seen.push(got);
            await ctx.call(gated, { n: 1 });
          })
          .build();
        const { runner } = world(durable ? { log: memoryRunLog() } : {});
        const first = paused(await runner().run(f, { n: 1 }));
        stateOf(await runner().resume(f, first.checkpoint, yes()));
        expect([kind, seen.length, seen[1]]).toEqual([kind, 2, seen[0]]);
      }
    }
  });

  it("FLOW-27 FLOW-47 names what can't be sealed in a large result as in a small one", async () => {
    const { gated } = effects();
    const lists = defineTool({
      name: "lists",
      description: "lists rows",
      input: z.object({ n: z.number() }),
      output: z.object({ rows: z.array(z.object({ at: z.number() })) }),
      execute: ({ n }) => ({ rows: Array.from({ length: n }, (_, at) => ({ at })) }),
    });
    const f = flow("f", State)
      .node("a", async (_, ctx) => {
        await ctx.call(lists, { n: 40 });
        await ctx.call(lists, { n: 300_000 });
        await ctx.call(gated, { n: 1 });
      })
      .build();
    const { runner } = world();
    expect(await rejection(runner().run(f, { n: 1 }))).toMatchObject({
      code: "state-not-sealable",
      data: { call: "lists" },
    });
  });

  it("FLOW-47 keeps a result as it was recorded, whatever the node does to it", async () => {
    const { gated } = effects();
    const cache = {
      lines: [{ cents: 5 }],
      at: new Date(5),
      tags: new Set(["a"]),
      by: new Map([["a", { n: 1 }]]),
      raw: Buffer.from("xyz"),
    };
    const load = defineTool({
      name: "load",
      description: "loads",
      input: z.object({}),
      execute: () => structuredClone(cache),
    });
    const seen: unknown[] = [];
    const f = flow("f", State)
      .node("a", async (s, ctx) => {
        const order = await ctx.call(load, {});
        seen.push(structuredClone(order));
        order.lines[0]!.cents = 0;
        order.lines.push({ cents: 9 });
        order.at.setTime(0);
        order.tags.add("b");
        order.by.get("a")!.n = 2;
        order.raw[0] = 0;
        await ctx.call(gated, { n: s.n });
      })
      .build();
    const { runner } = world();
    const first = paused(await runner().run(f, { n: 1 }));
    stateOf(await runner().resume(f, first.checkpoint, yes()));
    expect(seen[1]).toEqual(seen[0]);
  });

  it("FLOW-43 R134 counts calls and costs once over all pauses", async () => {
    const { tool } = effects();
    const dear = tool("dear", { cost: 5 });
    const gated = tool("gated", { cost: 2, confirm: true });
    const spent: unknown[][] = [];
    const { port, runner } = world();
    const executor = new Executor({
      approvals: port,
      guards: [
        {
          name: "look",
          check: (call) => void spent.push([call.tool.name, call.spent.calls, call.spent.cost]),
        },
      ],
    });
    const f = flow("f", State)
      .node("a", async (s, ctx) => {
        await ctx.call(dear, { n: 1 });
        await ctx.call(gated, { n: s.n });
        await ctx.call(dear, { n: 2 });
        await ctx.call(gated, { n: 2 });
      })
      .build();
    const first = paused(await runner({ executor }).run(f, { n: 1 }));
    expect(first.checkpoint.counters).toMatchObject({ calls: 1, cost: 5 });
    const second = paused(await runner({ executor }).resume(f, first.checkpoint, yes()));
    expect(second.checkpoint.counters).toMatchObject({ calls: 3, cost: 12 });
    stateOf(await runner({ executor }).resume(f, second.checkpoint, yes()));
    expect(spent.filter(([name]) => name === "dear")).toEqual([
      ["dear", 0, 0],
      ["dear", 2, 7],
    ]);
  });

  it("CASE-004 changes the world once, though its call paused in between", async () => {
    const touched = new Map<string, number>();
    const touch = defineTool({
      name: "touch",
      description: "touches",
      input: z.object({ key: z.string() }),
      execute: ({ key }) => void touched.set(key, (touched.get(key) ?? 0) + 1),
    });
    const { gated } = effects();
    const f = flow("f", State)
      .node("a", async (s, ctx) => {
        await ctx.call(touch, { key: "x" });
        await ctx.call(gated, { n: s.n });
      })
      .build();
    const { runner } = world();
    const first = paused(await runner().run(f, { n: 1 }));
    stateOf(await runner().resume(f, first.checkpoint, yes()));
    expect(touched.get("x")).toBe(1);
  });

  it("CASE-006 goes on in another process from the text, and refuses fresh input beside a decision", async () => {
    const { log, free, gated } = effects();
    const { runner } = world();
    const visits: string[] = [];
    const f = flow("f", State)
      .node("start", async (s, ctx) => {
        visits.push("start");
        return { sum: (await ctx.call(free, { n: s.n })).got };
      })
      .call("pay", gated, { args: (s) => ({ n: s.sum! }) })
      .path("start", "pay")
      .build();
    const first = paused(await runner().run(f, { n: 1 }));
    const text = runner().dumpCheckpoint(first.checkpoint);
    const other = runner();
    const loaded = other.loadCheckpoint(f, text);
    expect(
      await rejection(other.resume(f, loaded, yes(), { input: { n: 2 } } as never)),
    ).toMatchObject({
      code: "input-invalid",
      message: expect.stringContaining("input"),
    });
    expect(await rejection(other.resume(f, loaded, { n: 2 } as never))).toMatchObject({
      code: "answer-invalid",
    });
    stateOf(await other.resume(f, loaded, yes()));
    expect(visits).toEqual(["start"]);
    expect(log).toEqual(["free(1)", "gated(10)"]);
  });

  it("CASE-082 runs a free call beside a denied one once", async () => {
    const { log, free, gated } = effects();
    const f = flow("f", State)
      .node("a", async (s, ctx) => {
        const free1 = ctx.call(free, { n: s.n });
        const denied = await ctx.call(gated, { n: s.n }).catch((error: unknown) => error);
        return { sum: (await free1).got, note: String(isFlowError(denied, "approval-denied")) };
      })
      .build();
    const { runner } = world();
    const first = paused(await runner().run(f, { n: 1 }));
    expect(stateOf(await runner().resume(f, first.checkpoint, no()))).toEqual({
      n: 1,
      sum: 10,
      note: "true",
    });
    expect(log).toEqual(["free(1)"]);
  });

  it("FLOW-42 tells the code of which run and visit it is", async () => {
    const seen: string[] = [];
    const f = flow("f", State)
      .node("a", (_, ctx) => void seen.push(`${ctx.runId} ${ctx.node}`))
      .route("a", ["a", "$end"], () => (seen.length < 2 ? "a" : "$end"))
      .build();
    stateOf(await world().runner().run(f, { n: 1 }, { runId: "r" }));
    expect(seen).toEqual(["r a#1", "r a#2"]);
  });

  it("FLOW-42 keeps what goes past the context outside the run", async () => {
    const { log, free, gated } = effects();
    const bare = new Executor();
    const f = flow("f", State)
      .node("a", async (s, ctx) => {
        await bare.call(free, { n: 7 });
        await ctx.call(gated, { n: s.n });
      })
      .build();
    const { runner } = world();
    const first = paused(await runner().run(f, { n: 1 }));
    expect(first.checkpoint.counters.calls).toBe(0);
    const done = await runner().resume(f, first.checkpoint, replies({ [first.pending.id]: yes() }));
    expect(stateOf(done)).toEqual({ n: 1 });
    expect(log).toEqual(["free(7)", "free(7)", "gated(1)"]);
  });

  it("FLOW-42 lets a plain run within a node's code wait, end and be asked for by itself", async () => {
    const { log, gated } = effects();
    const aside = flow("aside", State)
      .node("b", async (s, ctx) => void (await ctx.call(gated, { n: s.n })))
      .build();
    const { runner } = world();
    const statuses: string[] = [];
    const f = flow("f", State)
      .node("a", async (s, ctx) => {
        statuses.push((await runner().run(aside, { n: 70 })).status);
        await ctx.call(gated, { n: s.n });
      })
      .build();
    const first = paused(await runner().run(f, { n: 1 }));
    expect(first.pendings.map(({ path }) => path)).toEqual(["a#1"]);
    stateOf(await runner().resume(f, first.checkpoint, yes()));
    expect(statuses).toEqual(["paused", "paused"]); // run anew, by the code that ran again
    expect(log).toEqual(["gated(1)"]);
  });
});
