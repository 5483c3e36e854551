import { defineTool } from "@holdpoint/tools";
import { describe, expect, it } from "vitest";
import { z } from "zod";

import {
  appendWrite,
  flow,
  memoryRunLog,
  replies,
  type RunLog,
  type RunResult,
} from "../../src/index.ts";
import { carried } from "../support/carried.ts";
import { logMeter } from "../support/log-meter.ts";
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

  it("R132 FLOW-33 FLOW-77 does each of 1,000 items once, over 37 questions, 3 failures and two deaths of its process", async () => {
    const fails = new Set([0, 500, 999]);
    const entered = new Map<string, number>();
    const concurrency = 8;
    const pays = defineTool({
      name: "pays",
      description: "pays",
      input: z.object({ n: z.number() }),
      output: z.object({ got: z.number() }),
      idempotent: true,
      confirm: ({ n }) => n % 27 === 5,
      execute: ({ n }, { idempotencyKey: key }) => {
        entered.set(key, (entered.get(key) ?? 0) + 1);
        if (fails.has(n)) throw new RangeError(`no ${n}`);
        return { got: n * 10 };
      },
    });
    const f = flow("f", State)
      .mapCall("each", pays, {
        over: (s) => s.list,
        args: (n) => ({ n }),
        into: outcomes,
        onError: "skip",
        concurrency,
      })
      .build();
    const list = range(1_000);
    const inner = memoryRunLog();
    const { runner, count } = world();
    const dies = async (commits: number, work: (log: RunLog) => Promise<unknown>) => {
      const meter = logMeter(inner);
      const dead = meter.dieAt(commits);
      void work(meter.log);
      await dead;
    };
    await dies(60, (log) => runner({ log }).run(f, { list }, { runId: "r" }));
    await dies(50, (log) => runner({ log }).adopt(f, "r"));
    const done = entered.size;
    expect(done).toBeLessThan(1_000 - 37);
    let now: RunResult<typeof f> = await runner({ log: inner }).adopt(f, "r");
    expect(paused(now).pendings).toHaveLength(37);
    let pauses = 0;
    for (; now.status === "paused"; pauses++) {
      const { id } = now.pendings[pauses % now.pendings.length]!;
      now = await runner({ log: inner }).resume(f, "r", replies({ [id]: yes() }));
    }
    expect(pauses).toBe(37);
    expect(now.state.got).toEqual(list.map((n) => (fails.has(n) ? "failed" : n * 10)));
    // Under one key each; entered again, with that very key, are those alone that a death cut off.
    expect(entered.size).toBe(1_000);
    const again = [...entered.values()].filter((times) => times > 1);
    expect(again.every((times) => times <= 3)).toBe(true);
    expect(again.length).toBeLessThanOrEqual(2 * concurrency);
    expect(await count("pending")).toBe(0);
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
