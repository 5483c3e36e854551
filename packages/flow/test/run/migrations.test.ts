import { model } from "@holdpoint/seal/zod";
import { defineTool } from "@holdpoint/tools";
import { describe, expect, it } from "vitest";
import { z } from "zod";

import { flow, memoryRunLog, replies, type Flow, type Migration } from "../../src/index.ts";
import { settle } from "../support/clock.ts";
import { effects } from "../support/effects.ts";
import { change, held, Was } from "../support/changed-flow.ts";
import { decided } from "../support/one-call.ts";
import {
  asAnotherProcess,
  no,
  paused,
  recordlessPort,
  rejection,
  stateOf,
  world,
  yes,
} from "../support/world.ts";

describe("a migration", () => {
  it("FLOW-53 carries a paused run over, seals it again as one of the new graph, and spends the old text once", async () => {
    for (const records of [true, false]) {
      const { log, was, is, migration } = change();
      const { runner, notices } = world(records ? {} : { approvals: recordlessPort() });
      const text = held(runner, await runner().run(was, { n: 1 }, { runId: "r" }));
      const id = runner().loadCheckpoint(was, text).pendings[0]!.id;
      expect(log).toEqual(["free(2)"]);

      // Without one it is refused as ever; with one it waits as before: loading, planning and refusals change nothing.
      expect(() => runner().loadCheckpoint(is, text)).toThrow(/changed since run r paused/);
      const migrations = [migration];
      const told = notices.length;
      const loaded = runner({ migrations }).loadCheckpoint(is, text);
      expect(loaded).toMatchObject({ digest: was.digest, pendings: [{ id, path: "pay#1" }] });
      const plan = await runner({ migrations }).plan(is, loaded);
      expect(plan.nodes.map(({ node, why }) => `${node} ${why}`)).toEqual([
        "start finished",
        "payout waits",
        "quick finished",
        "check not-reached",
      ]);
      const idle = paused(await runner({ migrations }).resume(is, loaded));
      expect(idle.checkpoint).toMatchObject({ digest: was.digest, revision: loaded.revision });
      expect(runner().dumpCheckpoint(idle.checkpoint)).toBe(text);
      expect(notices.slice(told)).toEqual([]);

      const resumed = () =>
        runner({ migrations }).resume(is, runner({ migrations }).loadCheckpoint(is, text), yes());
      const second = paused(await resumed());
      expect(log).toEqual(["free(2)", "gated(20)"]); // what had finished is replayed under the new name
      expect(second.checkpoint).toMatchObject({ digest: is.digest, frontier: ["check#1"] });
      expect(second.pending.request.arguments).toBe(200);
      expect(second.checkpoint.counters.visits).toEqual({
        start: 1,
        quick: 1,
        payout: 1,
        check: 1,
      });
      expect(notices.slice(told, told + 2)).toMatchObject([
        { type: "migrated", revision: loaded.revision + 1 },
        { type: "answered", revision: loaded.revision + 2 },
      ]);
      expect(await rejection(resumed())).toMatchObject(decided);
      if (records) asAnotherProcess();
      expect(await rejection(resumed())).toMatchObject(decided);
      expect(
        await rejection(runner().resume(was, runner().loadCheckpoint(was, text), yes())),
      ).toMatchObject(decided);

      // The new text needs no migration any more.
      const again = held(runner, second);
      const end = stateOf(await runner().resume(is, runner().loadCheckpoint(is, again), yes()));
      expect(end).toStrictEqual({ n: 2, note: "done", total: 200 });
    }
  });

  it("FLOW-53 FLOW-74 puts it on a durable run's record with the answer, and leaves the log alone until then", async () => {
    const { log, was, is, migration } = change();
    const { runner } = world({ log: memoryRunLog() });
    const first = paused(await runner().run(was, { n: 1 }, { runId: "r" }));
    expect(await rejection(runner().plan(is, "r"))).toMatchObject({
      code: "graph-version-mismatch",
    });
    const migrations = [migration];
    const before = await runner().history(was, "r");
    await runner({ migrations }).plan(is, "r");
    expect(
      await rejection(runner({ migrations }).resume(is, "r", replies({ nobody: yes() }))),
    ).toMatchObject({ code: "answer-unknown" });
    expect(await runner({ migrations }).history(is, "r")).toEqual(before);

    const answer = replies({ [first.pending.id]: yes() });
    const second = paused(await runner({ migrations }).resume(is, "r", answer));
    const events = await runner().history(is, "r");
    expect(events.slice(before.length, before.length + 2)).toMatchObject([
      { type: "migrated", from: was.digest, seed: { runId: "r", digest: is.digest } },
      { type: "settling" }, // the records live elsewhere
    ]);
    // History tells the visit as it stood then, whatever became of it.
    expect(events[before.length]).toMatchObject({
      stand: {
        state: { n: 2 },
        visits: [
          {
            node: "payout",
            path: "pay#1",
            status: "waiting",
            execution: { journal: [{}], waits: [{}] },
          },
          { node: "quick", status: "finished" },
        ],
      },
    });
    // From here on it is a run of the new graph, for a runner that knows of no migration, and of the old one no more.
    expect(await rejection(runner().adopt(was, "r"))).toMatchObject({
      code: "graph-version-mismatch",
    });
    expect(paused(await runner().adopt(is, "r")).pending.id).toBe(second.pending.id);
    expect(
      await rejection(runner({ migrations }).resume(is, first.checkpoint, yes())),
    ).toMatchObject(decided);
    const end = replies({ [second.pending.id]: yes() });
    expect(stateOf(await runner().resume(is, "r", end))).toMatchObject({ total: 200 });
    expect(log).toEqual(["free(2)", "gated(20)"]);
    expect(stateOf(await runner().adopt(is, "r"))).toMatchObject({ total: 200 });
  });

  it("FLOW-53 finds its way over several graphs, and refuses where a step is missing or they lead in a circle", async () => {
    const { gated } = effects();
    const version = (name: string) =>
      flow("f", Was, { version: name })
        .call(`pay${name}`, gated, { args: (s) => ({ n: s.n }), into: (r) => ({ sum: r.got }) })
        .build();
    const [one, two, three] = [version("1"), version("2"), version("3")];
    const step = (from: Flow, to: Flow, a: string, b: string): Migration => ({
      flow: "f",
      from: from.digest,
      to: to.digest,
      nodes: { [`pay${a}`]: `pay${b}` },
      state: (s) => ({ ...s, note: `${(s["note"] as string | undefined) ?? ""}${b}` }),
    });
    const first = step(one, two, "1", "2");
    const second = step(two, three, "2", "3");
    const { runner } = world();
    const text = held(runner, await runner().run(one, { n: 1 }));
    for (const migrations of [
      [first],
      [second],
      [first, { ...second, flow: "g" }],
      [first, step(two, one, "2", "1")],
    ]) {
      const some = runner({ migrations });
      expect(() => some.loadCheckpoint(three, text)).toThrow(
        expect.objectContaining({ code: "graph-version-mismatch" }),
      );
    }
    const both = runner({ migrations: [second, first] });
    const end = await both.resume(three, both.loadCheckpoint(three, text), yes());
    expect(stateOf(end)).toStrictEqual({ n: 1, note: "23", sum: 10 });
  });

  it("FLOW-53 FLOW-77 keeps the ids of what had begun: a call cut off by a crash is entered again under its own key", async () => {
    const keys: string[] = [];
    let dies = true;
    const charge = defineTool({
      name: "charge",
      description: "charges a card",
      input: z.object({ n: z.number() }),
      output: z.object({ got: z.number() }),
      confirm: true,
      idempotent: true,
      execute: async ({ n }, { idempotencyKey }) => {
        keys.push(idempotencyKey);
        if (dies) await new Promise(() => {});
        return { got: n };
      },
    });
    const build = (name: string) =>
      flow("f", Was)
        .call(name, charge, { args: (s) => ({ n: s.n }), into: (r) => ({ sum: r.got }) })
        .build();
    const [was, is] = [build("pay"), build("payout")];
    const migrations: Migration[] = [
      { flow: "f", from: was.digest, to: is.digest, nodes: { pay: "payout" } },
    ];
    const { runner, outcomes } = world({ log: memoryRunLog() });
    const first = paused(await runner().run(was, { n: 7 }, { runId: "r" }));
    const stop = new AbortController();
    const cut = runner().resume(was, first.checkpoint, yes(), { signal: stop.signal });
    while (keys.length === 0) await settle();
    stop.abort();
    await rejection(cut);
    dies = false;
    expect(stateOf(await runner({ migrations }).adopt(is, "r"))).toMatchObject({ sum: 7 });
    expect(keys).toHaveLength(2);
    expect(new Set(keys).size).toBe(1);
    expect(await outcomes()).toEqual(["executed"]);
  });

  it("FLOW-53 gives a node that took over an old name no path that was used before", async () => {
    const { gated, other } = effects();
    const was = flow("f", Was)
      .call("pay", gated, { args: (s) => ({ n: s.n }), into: (r) => ({ sum: r.got }) })
      .build();
    const is = flow("f", Was)
      .call("first", gated, { args: (s) => ({ n: s.n }), into: (r) => ({ sum: r.got }) })
      .call("pay", other, { args: (s) => ({ n: s.n }) })
      .path("first", "pay", "$end")
      .build();
    const migrations = [{ flow: "f", from: was.digest, to: is.digest, nodes: { pay: "first" } }];
    const { runner } = world();
    const first = paused(await runner().run(was, { n: 1 }));
    const second = paused(await runner({ migrations }).resume(is, first.checkpoint, yes()));
    expect(second.pending).toMatchObject({ tool: "other", path: "pay#2" });
  });

  it("FLOW-53 writes an unmerged update anew, in the new graph's order, and reads classes that only the old schema reached", async () => {
    class Money {
      declare readonly cents: number;
      static of(cents: number): Money {
        return Object.assign(new Money(), { cents });
      }
    }
    const money = model(Money, { name: "money", fields: z.object({ cents: z.int() }) });
    const Old = z.object({
      n: z.number(),
      price: money.schema,
      log: z.array(z.string()).default([]),
    });
    const New = z.object({
      n: z.number(),
      cents: z.number(),
      log: z.array(z.string()).default([]),
    });
    const { gated } = effects();
    const was = flow("f", Old)
      .reduce("log", (all, more) => [...all, ...more])
      .node("start", () => ({}))
      .node("quick", () => ({ price: Money.of(9), log: ["quick"] }))
      .call("pay", gated, { args: { n: 1 }, into: () => ({ log: ["pay"] }) })
      .edge("start", "quick")
      .edge("start", "pay")
      .build();
    const is = flow("f", New)
      .reduce("log", (all, more) => [...all, ...more])
      .node("start", () => ({}))
      .call("pay", gated, { args: { n: 1 }, into: () => ({ log: ["pay"] }) })
      .node("quick", () => ({ cents: 9, log: ["quick"] }))
      .edge("start", "quick")
      .edge("start", "pay")
      .build();
    const renamed = ({ price, ...rest }: Readonly<Record<string, unknown>>) => ({
      ...rest,
      ...(price instanceof Money && { cents: price.cents }),
    });
    const base = { flow: "f", from: was.digest, to: is.digest, state: renamed, update: renamed };
    const { runner } = world({ models: [money] });
    const text = held(runner, await runner().run(was, { n: 1, price: Money.of(5) }));
    const without = runner({ migrations: [base] });
    expect(() => without.loadCheckpoint(is, text)).toThrow(
      expect.objectContaining({ code: "state-invalid" }),
    );
    const migrations: Migration[] = [{ ...base, reads: Old }];
    const some = runner({ migrations });
    const end = stateOf(await some.resume(is, some.loadCheckpoint(is, text), yes()));
    expect(end).toStrictEqual({ n: 1, cents: 9, log: ["pay", "quick"] });
  });

  it("FLOW-53 ends a run of an earlier graph by hand, and leaves one that has ended alone", async () => {
    const { was, is, migration } = change();
    const { runner, count } = world({ log: memoryRunLog() });
    const migrations = [migration];
    await runner().run(was, { n: 1 }, { runId: "a" });
    await runner({ migrations }).cancel(is, "a", { reason: "no more" });
    expect(await count("pending")).toBe(0);
    expect((await runner().history(is, "a")).slice(-2)).toMatchObject([
      { type: "migrated" },
      { type: "cancelled" },
    ]);
    const failing = paused(await runner().run(was, { n: 1 }, { runId: "b" }));
    await rejection(runner().resume(was, failing.checkpoint, no()));
    // Its failed round names nodes that are gone; nobody goes on from there.
    const gone = [{ ...migration, nodes: {} }];
    expect(await rejection(runner({ migrations: gone }).resume(is, "b"))).toMatchObject({
      code: "resume-terminal",
    });
  });

  it("FLOW-53 FLOW-34 carries nested runs and items over with the node around them, and refuses what no longer fits", async () => {
    const { log, free, gated } = effects();
    const make = (node: string, within: string) => {
      const inner = flow("inner", Was)
        .node("look", async (s, ctx) => ({ sum: (await ctx.call(free, { n: s.n })).got }))
        .call(within, gated, { args: (s) => ({ n: s.n }) })
        .edge("look", within)
        .build();
      const declares = node !== "alone";
      return flow("f", Was)
        .map(node, {
          over: (s) => [s.n, s.n + 1],
          each: async (n, ctx) => (await ctx.run(inner, { n })).sum!,
          into: ({ values }) => ({ sum: values.reduce((sum, n) => sum + n, 0) }),
          ...(declares && { runs: [inner] }),
        })
        .build();
    };
    const was = make("each", "pay");
    const { runner, count } = world();
    const first = paused(await runner().run(was, { n: 1 }));
    const text = runner().dumpCheckpoint(first.checkpoint);
    const over = (is: typeof was, to: string) => {
      const step = { flow: "f", from: was.digest, to: is.digest, nodes: { each: to } };
      return runner({ migrations: [step] });
    };
    for (const [node, within] of [
      ["every", "payout"],
      ["alone", "pay"],
    ] as const) {
      const gone = make(node, within);
      expect(() => over(gone, node).loadCheckpoint(gone, text)).toThrow(
        expect.objectContaining({ code: "migration-failed" }),
      );
    }
    const is = make("every", "pay");
    log.length = 0;
    const resumed = over(is, "every");
    let now = await resumed.resume(
      is,
      resumed.loadCheckpoint(is, text),
      replies({ [first.pendings[1]!.id]: yes() }),
    );
    expect(paused(now).pending.id).toBe(first.pending.id);
    now = await runner().resume(is, paused(now).checkpoint, yes());
    expect(stateOf(now).sum).toBe(10 + 20);
    expect(log).toEqual(["gated(2)", "gated(1)"]);
    expect(await count("pending")).toBe(0);
  });
});
