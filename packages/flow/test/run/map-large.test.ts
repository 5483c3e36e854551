import { describe, expect, it } from "vitest";
import { z } from "zod";

import { appendWrite, flow, memoryRunLog } from "../../src/index.ts";
import { carried } from "../support/carried.ts";
import { effects } from "../support/effects.ts";
import { no, paused, stateOf, world, yes } from "../support/world.ts";

const State = z.object({
  list: z.array(z.number()),
  got: z.array(z.union([z.number(), z.string(), z.null()])).default([]),
});

const range = (count: number) => Array.from({ length: count }, (_, n) => n);

/** What came of each item: its value, or why there is none. */
const outcomes = (results: {
  items: readonly ({ ok: true; value: { got: number } } | { ok: false; reason: string })[];
}) => ({ got: results.items.map((item) => (item.ok ? item.value.got : item.reason)) });

describe("large maps", () => {
  it("FLOW-33 FLOW-36 FLOW-62 ends a map of 1,000 items with 37 pauses, 3 failures and 2 denials as one that never paused", async () => {
    const asks = (n: number) => n % 27 === 5;
    const fails = new Set([0, 500, 999]);
    const denied = new Set([5, 32]);
    const make = (paused: boolean) => {
      const { log, tool } = effects();
      const picky = tool("picky", {
        confirm: ({ n }: { n: number }) => (paused ? asks(n) : false),
        run: (n) => (fails.has(n) ? Promise.reject(new RangeError(`no ${n}`)) : n * 10),
      });
      const f = flow("f", State)
        .mapCall("each", picky, {
          over: (s) => s.list,
          args: (n) => ({ n }),
          into: outcomes,
          onError: "skip",
        })
        .build();
      return { log, f };
    };
    const list = range(1_000);
    const here = make(true);
    const { runner, count } = world();
    const first = paused(await runner().run(here.f, { list }));
    expect(first.pendings).toHaveLength(37);
    expect(here.log).toHaveLength(1_000 - 37);
    const { state, pauses } = await carried(here.f, first, runner, {
      decision: (path) => (denied.has(Number(/\d+(?=\]$)/.exec(path)![0])) ? no() : yes()),
    });
    expect(pauses).toBe(37);
    expect(here.log).toHaveLength(1_000 - denied.size);
    expect(new Set(here.log).size).toBe(here.log.length);
    expect(await count("pending")).toBe(0);

    const never = make(false);
    const straight = stateOf(await world().runner().run(never.f, { list })).got;
    const expected = straight.map((got, n) => (denied.has(n) ? "denied" : got));
    expect(state["got"]).toEqual(expected);
    expect(expected.filter((got) => got === "failed")).toHaveLength(3);
  });

  it("FLOW-72 goes on after a crash at any revision with the items that had ended, from its log", async () => {
    const { log, tool } = effects();
    const safe = tool("safe", { idempotent: true });
    const f = flow("f", State)
      .map("each", {
        over: (s) => s.list,
        each: async (n, ctx) => (await ctx.call(safe, { n })).got,
        into: ({ values }) => ({ got: [...values] }),
        concurrency: 2,
      })
      .build();
    const whole = memoryRunLog();
    const { runner } = world();
    const end = stateOf(await runner({ log: whole }).run(f, { list: range(5) }, { runId: "r" }));
    expect(end.got).toEqual([0, 10, 20, 30, 40]);
    const rows = await whole.read("default", "r", 0, 100);
    const events = await runner({ log: whole }).history(f, "r");
    for (let revision = 1; revision <= rows.length; revision++) {
      const cut = memoryRunLog();
      const writes = rows
        .slice(0, revision)
        .map((row) => appendWrite("default", "r", row.revision, row.text));
      await cut.commit(`crash-${revision}`, writes);
      log.length = 0;
      expect(stateOf(await runner({ log: cut }).adopt(f, "r"))).toEqual(end);
      const finished = events
        .slice(0, revision)
        .filter(({ type }) => type === "call-finished").length;
      expect(log).toHaveLength(5 - finished);
    }
  });
});
