import { defineTool } from "@holdpoint/tools";
import { describe, expect, it } from "vitest";
import { z } from "zod";

import { flow, replies, type MapOptions } from "../../src/index.ts";
import { carried } from "../support/carried.ts";
import { handClock, settle } from "../support/clock.ts";
import { effects } from "../support/effects.ts";
import { no, paused, rejection, stateOf, world, yes } from "../support/world.ts";

const State = z.object({
  list: z.array(z.number()),
  got: z.array(z.union([z.number(), z.string(), z.null()])).default([]),
});

const range = (count: number) => Array.from({ length: count }, (_, n) => n);

/** What came of each item: its value, or why there is none. */
const outcomes = (results: {
  items: readonly ({ ok: true; value: { got: number } } | { ok: false; reason: string })[];
}) => ({ got: results.items.map((item) => (item.ok ? item.value.got : item.reason)) });

/** A map over a tool that asks for some of its items. */
function calls(asks: (n: number) => boolean, options: MapOptions = {}) {
  const { log, tool } = effects();
  const sometimes = tool("sometimes", { confirm: ({ n }: { n: number }) => asks(n) });
  const f = flow("f", State)
    .mapCall("each", sometimes, {
      over: (s) => s.list,
      args: (n) => ({ n }),
      into: outcomes,
      ...options,
    })
    .build();
  return { log, f };
}

describe("a map runs something for each item of a list", () => {
  it("gives results by index, whichever item finished first, and no more side by side than it may", async () => {
    let most = 0;
    let now = 0;
    const f = flow("f", State)
      .map("each", {
        over: (s) => s.list,
        each: async (n, ctx) => {
          most = Math.max(most, (now += 1));
          await settle(6 - n);
          now -= 1;
          return `${ctx.node} ${ctx.index}:${n * 10}`;
        },
        into: (results) => ({ got: [...results.values] }),
        concurrency: 3,
      })
      .build();
    const state = stateOf(
      await world()
        .runner()
        .run(f, { list: [0, 1, 2, 3, 4, 5] }),
    );
    expect(state.got).toEqual(range(6).map((n) => `each#1[${n}] ${n}:${n * 10}`));
    expect(most).toBe(3);
  });

  it("is over as many items as the state says, none included", async () => {
    const { f, log } = calls(() => false);
    expect(stateOf(await world().runner().run(f, { list: [] })).got).toEqual([]);
    expect(log).toEqual([]);
    expect(
      stateOf(
        await world()
          .runner()
          .run(f, { list: [7] }),
      ).got,
    ).toEqual([70]);
  });

  it.each([
    ["something that is no array", () => "abc" as never],
    ["more items than are kept", () => Array<number>(100_001).fill(0)],
  ])("refuses a map over %s", async (_, over) => {
    const f = flow("f", State)
      .map("each", { over, each: (n: number) => n, into: () => ({}) })
      .build();
    const failure = await rejection(world().runner().run(f, { list: [] }));
    expect(failure.cause).toMatchObject({ code: "items-invalid", data: { node: "each" } });
  });

  it("lets no item change another's, or the list", async () => {
    const shared = { tags: ["a"] };
    const Tags = z.object({ got: z.array(z.string()).default([]) });
    const f = flow("f", Tags)
      .map("each", {
        over: () => [shared, shared],
        each: async (item) => {
          item.tags.push("b");
          await settle(1);
          return item.tags.join("");
        },
        into: ({ values }) => ({ got: [...values] }),
      })
      .build();
    expect(stateOf(await world().runner().run(f, {})).got).toEqual(["ab", "ab"]);
    expect(shared.tags).toEqual(["a"]);
  });

  it("tries each item again by itself, and limits the time of each by itself", async () => {
    const tries = new Map<number, number>();
    const clock = handClock();
    const f = flow("f", State)
      .map("each", {
        over: (s) => s.list,
        each: (n) => {
          tries.set(n, (tries.get(n) ?? 0) + 1);
          if (n === 3) return new Promise<number>(() => {});
          if (tries.get(n)! < n) throw new RangeError("not yet");
          return n;
        },
        into: (results) => ({ got: results.items.map((item) => (item.ok ? item.value : "-")) }),
        onError: "skip",
        retry: { attempts: 2, on: (error) => (error as Error).name === "RangeError" },
        timeoutMs: 50,
      })
      .build();
    const running = world({ clock })
      .runner()
      .run(f, { list: [1, 2, 3, 4] });
    await clock.move(50);
    expect(stateOf(await running).got).toEqual([1, 2, "-", "-"]);
    expect([...tries.values()]).toEqual([1, 2, 1, 2]);
  });

  it.each(["fail", "skip"] as const)(
    "tells how each item ended (%s), without its value",
    async (onError) => {
      const { tool } = effects();
      const picky = tool("picky", { run: (n) => (n === 1 ? Promise.reject(new Error("no")) : n) });
      const f = flow("f", State)
        .mapCall("each", picky, {
          over: (s) => s.list,
          args: (n) => ({ n }),
          into: () => ({}),
          onError,
        })
        .failed("each", "$end")
        .build();
      const { runner, notices } = world();
      stateOf(await runner().run(f, { list: [0, 1] }));
      const told = notices.filter(({ type }) => type.startsWith("item-"));
      expect(told).toMatchObject([
        { type: "item-finished", visit: "each#1[0]", ok: true },
        {
          type: onError === "skip" ? "item-skipped" : "item-finished",
          visit: "each#1[1]",
          ok: false,
          code: "failed",
        },
      ]);
      expect(JSON.stringify(told)).not.toContain("value");
    },
  );
});

describe("items wait and fail by themselves", () => {
  it("FLOW-33 FLOW-24 with stopOnPause begins nothing more once an item waits, and without it all others run", async () => {
    for (const stopOnPause of [true, false]) {
      const { log, tool } = effects();
      const picky = tool("picky", {
        confirm: ({ n }: { n: number }) => n === 1,
        run: (n) => (n === 3 ? Promise.reject(new Error("no 3")) : n),
      });
      const f = flow("f", State)
        .mapCall("each", picky, {
          over: (s) => s.list,
          args: (n) => ({ n }),
          into: outcomes,
          concurrency: 4,
          onError: "skip",
          stopOnPause,
        })
        .build();
      const { runner } = world();
      const first = paused(await runner().run(f, { list: range(5) }));
      expect(first.pendings.map(({ path }) => path)).toEqual(["each#1[1]"]);
      expect(log).toEqual([
        "picky(0)",
        "picky(2)",
        "picky(3)",
        ...(stopOnPause ? [] : ["picky(4)"]),
      ]);
      log.length = 0;
      const { state } = await carried(f, first, runner);
      expect(log.toSorted()).toEqual(["picky(1)", ...(stopOnPause ? ["picky(4)"] : [])]);
      expect(state["got"]).toEqual([0, 1, 2, "failed", 4]);
    }
  });

  it("FLOW-33 begins nothing new under stopOnPause while another item still waits", async () => {
    const { f, log } = calls((n) => n < 2, { stopOnPause: true, concurrency: 2 });
    const { runner } = world();
    const first = paused(await runner().run(f, { list: range(4) }));
    expect(first.pendings).toHaveLength(2);
    const second = paused(
      await runner().resume(f, first.checkpoint, replies({ [first.pendings[1]!.id]: yes() })),
    );
    expect(log).toEqual(["sometimes(1)"]);
    stateOf(await runner().resume(f, second.checkpoint, yes()));
    expect(log.toSorted()).toEqual(range(4).map((n) => `sometimes(${n})`));
  });

  it("FLOW-30 FLOW-38 CASE-030 CASE-024 lets one decision answer one item; the others keep their questions under their ids", async () => {
    const { f, log } = calls(() => true);
    const { runner, count } = world();
    const first = paused(await runner().run(f, { list: range(3) }));
    const ids = first.pendings.map(({ id }) => id);
    const refused = await rejection(runner().resume(f, first.checkpoint, yes()));
    expect(refused).toMatchObject({ code: "answer-ambiguous" });
    const second = paused(
      await runner().resume(f, first.checkpoint, replies({ [ids[1]!]: yes() })),
    );
    expect(log).toEqual(["sometimes(1)"]);
    expect(second.pendings.map(({ id }) => id)).toEqual([ids[0], ids[2]]);
    expect(await count("pending")).toBe(2);
    const state = stateOf(
      await runner().resume(f, second.checkpoint, replies({ [ids[0]!]: yes(), [ids[2]!]: yes() })),
    );
    expect(state.got).toEqual([0, 10, 20]);
    expect(log).toEqual(["sometimes(1)", "sometimes(0)", "sometimes(2)"]);
  });

  it("FLOW-31 FLOW-33 FLOW-40 replays what an item had done from that item's own journal, by index", async () => {
    const { log, free, gated } = effects();
    const runs: string[] = [];
    const f = flow("f", State)
      .map("each", {
        over: (s) => s.list,
        each: async (n, ctx) => {
          runs.push(`${ctx.index}`);
          const one = await ctx.call(free, { n: 1 });
          const two = await ctx.call(free, { n: 1 }); // equal to the first, and to those of every item
          const stamp = await ctx.step("stamp", () => log.push("stamp"));
          if (n === 1) await ctx.call(gated, { n });
          return one.got + two.got + stamp;
        },
        into: ({ values }) => ({ got: [...values] }),
      })
      .build();
    const { runner } = world();
    const first = paused(await runner().run(f, { list: [0, 1, 2] }));
    expect(log).toHaveLength(9);
    expect(runs).toEqual(["0", "1", "2"]);
    runs.length = 0;
    const { state } = await carried(f, first, runner);
    expect(runs).toEqual(["1"]);
    expect(log.slice(9)).toEqual(["gated(1)"]);
    expect((state["got"] as number[]).length).toBe(3);
  });

  it("FLOW-36 keeps a denied item's reason beside a failed one's, and gives the values of the others", async () => {
    const { tool } = effects();
    const picky = tool("picky", {
      confirm: ({ n }: { n: number }) => n === 1,
      run: (n) => (n === 2 ? Promise.reject(new TypeError("no 2")) : n),
    });
    let seen: unknown;
    const f = flow("f", State)
      .mapCall("each", picky, {
        over: (s) => s.list,
        args: (n) => ({ n }),
        into: (results) => {
          seen = results;
          return { got: results.values.map(({ got }) => got) };
        },
        onError: "skip",
      })
      .build();
    const { runner } = world();
    const first = paused(await runner().run(f, { list: range(4) }));
    const { state } = await carried(f, first, runner, { decision: () => no("too much") });
    expect(state["got"]).toEqual([0, 3]);
    expect(seen).toMatchObject({
      items: [
        { ok: true, value: { got: 0 } },
        { ok: false, reason: "denied", error: { code: "approval-denied" } },
        { ok: false, reason: "failed", error: { name: "TypeError", message: "no 2" } },
        { ok: true, value: { got: 3 } },
      ],
    });
  });

  it("FLOW-33 FLOW-36 fails with the lowest failed index once all have settled, whichever failed first", async () => {
    const { log, tool } = effects();
    const picky = tool("picky", {
      confirm: ({ n }: { n: number }) => n === 0,
      run: async (n) => {
        if (n === 1) await settle(4);
        if (n === 2) return n;
        throw new RangeError(`no ${n}`);
      },
    });
    const f = flow("f", State)
      .mapCall("each", picky, { over: (s) => s.list, args: (n) => ({ n }), into: () => ({}) })
      .build();
    const { runner, count } = world();
    const first = paused(await runner().run(f, { list: [0, 1, 2, 3] }));
    expect(log).toHaveLength(3);
    const text = runner().dumpCheckpoint(first.checkpoint);
    const denied = await rejection(
      runner().resume(f, runner().loadCheckpoint(f, text), no("never")),
    );
    expect(denied).toMatchObject({ code: "approval-denied", data: { note: "never" } });
    expect(await count("pending")).toBe(0);
    expect(log).toHaveLength(3);

    const { f: plain } = calls(() => false);
    expect(stateOf(await runner().run(plain, { list: [3] })).got).toEqual([30]);
    const failing = await rejection(runner().run(f, { list: [1, 2, 3] }));
    expect(failing.cause).toMatchObject({ name: "RangeError", message: "no 1" });
  });
});

describe("a map's list is sealed with its visit", () => {
  it.each(["map", "map-call"] as const)(
    "FLOW-63 refuses a %s whose list or arguments would be others now, before anything is spent",
    async (kind) => {
      const { log, gated } = effects();
      let more = 0;
      const start = flow("f", State);
      const over = (s: { list: number[] }) => s.list.map((n) => n + (kind === "map" ? more : 0));
      const f =
        kind === "map"
          ? start
              .map("each", { over, each: (n, ctx) => ctx.call(gated, { n }), into: () => ({}) })
              .build()
          : start
              .mapCall("each", gated, { over, args: (n) => ({ n: n + more }), into: () => ({}) })
              .build();
      const { runner, count } = world();
      const first = paused(await runner().run(f, { list: [1, 2] }));
      const answers = replies(Object.fromEntries(first.pendings.map(({ id }) => [id, yes()])));
      more = 1;
      const refused = await rejection(runner().resume(f, first.checkpoint, answers));
      expect(refused).toMatchObject({
        code: "graph-version-mismatch",
        data: { node: "each#1", field: kind === "map" ? "items" : "args" },
      });
      expect(await count("pending")).toBe(2);
      expect(log).toEqual([]);
      more = 0;
      stateOf(await runner().resume(f, first.checkpoint, answers));
      expect(log).toEqual(["gated(1)", "gated(2)"]);
    },
  );

  it("FLOW-63 refuses a list that differs each time before anybody is asked", async () => {
    const { gated } = effects();
    let count = 0;
    const f = flow("f", State)
      .mapCall("each", gated, {
        over: () => [(count += 1)],
        args: (n) => ({ n }),
        into: () => ({}),
      })
      .build();
    const { runner, count: records } = world();
    const refused = await rejection(runner().run(f, { list: [] }));
    expect(refused).toMatchObject({ code: "payload-not-pure" });
    expect((await records("pending")) + (await records("consumed"))).toBe(0);
  });

  it("FLOW-51 refuses a waiting map whose tool or onError changed, naming the node, before anything is spent", async () => {
    const { log, gated, other } = effects();
    const make = (tool: typeof gated | typeof other, options: MapOptions) =>
      flow("f", State)
        .mapCall("each", tool, {
          over: (s) => s.list,
          args: (n) => ({ n }),
          into: () => ({}),
          ...options,
        })
        .build();
    const was = make(gated, {});
    const { runner, count } = world();
    const first = paused(await runner().run(was, { list: [1] }));
    for (const is of [make(other, {}), make(gated, { onError: "skip" })])
      expect(await rejection(runner().resume(is, first.checkpoint, yes()))).toMatchObject({
        code: "graph-version-mismatch",
        data: { differs: ["node:each"] },
      });
    expect(await count("pending")).toBe(1);
    stateOf(await runner().resume(was, first.checkpoint, yes()));
    expect(log).toEqual(["gated(1)"]);
  });

  it("FLOW-51 counts a map's tool, its version and onError in the graph; concurrency, stopOnPause and labels not", () => {
    const make = (tool: string, options: MapOptions, version?: string) =>
      flow("f", State)
        .mapCall(
          "each",
          defineTool({
            name: tool,
            description: tool,
            input: z.object({ n: z.number() }),
            ...(version !== undefined && { version }),
            execute: ({ n }) => n,
          }),
          { over: (s) => s.list, args: (n) => ({ n }), into: () => ({}), ...options },
        )
        .build().digest;
    const base = make("one", {});
    expect(make("one", { concurrency: 2, stopOnPause: true, title: "Each" })).toBe(base);
    const others = [make("two", {}), make("one", { onError: "skip" }), make("one", {}, "2")];
    expect(new Set([base, ...others]).size).toBe(4);
  });

  it("names every wrong option of a map at build", () => {
    const build = () =>
      flow("f", State)
        .map("each", {
          over: (s) => s.list,
          each: (n) => n,
          into: () => ({}),
          concurrency: 0,
          onError: "ignore" as never,
        })
        .build();
    expect(build).toThrow(/concurrency of 'each'[^]*onError of 'each'/);
  });
});
