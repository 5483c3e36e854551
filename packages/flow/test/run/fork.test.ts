import { approve, identityPort } from "@holdpoint/approvals";
import { defineTool } from "@holdpoint/tools";
import { describe, expect, it } from "vitest";
import { z } from "zod";

import { answer, defineInterrupt, flow, memoryRunLog, replies } from "../../src/index.ts";
import { effects } from "../support/effects.ts";
import {
  no,
  paused,
  recordlessPort,
  rejection,
  stateOf,
  waiting,
  world,
  yes,
} from "../support/world.ts";

const State = z.object({
  n: z.number(),
  first: z.number().optional(),
  second: z.number().optional(),
  by: z.string().optional(),
});

/** A node that has a finished call and an allowed one on record when it waits a second time, beside one that is done. */
function twice() {
  const { log, free, gated, other } = effects();
  const f = flow("f", State)
    .node("start", () => void log.push("start"))
    .node("asks", async (s, ctx) => {
      const { got } = await ctx.call(free, { n: s.n });
      const one = await ctx.call(gated, { n: got });
      const two = await ctx.call(other, { n: one.got });
      return { first: one.got, second: two.got };
    })
    .node("quick", () => void log.push("quick"))
    .gate("look", { payload: (s) => s.second })
    .edge("start", "asks")
    .edge("start", "quick")
    .edge("quick", "$end")
    .path("asks", "look")
    .build();
  return { f, log };
}

describe("a fork", () => {
  it("FLOW-65 FLOW-66 is a new run that asks again, keeps what is finished, and shares nothing with the other one", async () => {
    const { f, log } = twice();
    const { runner, port, count } = world();
    const first = paused(await runner().run(f, { n: 1 }, { runId: "one" }));
    const second = paused(await runner().resume(f, first.checkpoint, yes()));
    const ran = [...log];
    expect(ran).toEqual(["start", "quick", "free(1)", "gated(10)"]);

    const fork = paused(await runner().fork(f, second.checkpoint, { runId: "two" }));
    expect(fork).toMatchObject({ runId: "two", checkpoint: { runId: "two", flow: "f" } });
    expect(log).toEqual(ran); // replayed, not made again
    expect(fork.pendings).toHaveLength(1);
    const [asked, forked] = [second.pending, fork.pending];
    expect(forked).toMatchObject({ tool: "other", path: "asks#1" });
    expect(forked.id).not.toBe(asked.id);
    expect(forked.request.arguments).toEqual(asked.request.arguments);
    expect(await count("pending")).toBe(2);
    expect(fork.checkpoint.counters).toMatchObject({
      rounds: second.checkpoint.counters.rounds,
      visits: second.checkpoint.counters.visits,
      calls: 0,
      cost: 0,
    });

    // Denying the one leaves the other as it was.
    await rejection(runner().resume(f, fork.checkpoint, no()));
    expect(await port.records.read("default", asked.id)).toMatchObject({ state: "pending" });
    const third = paused(await runner().resume(f, second.checkpoint, yes()));
    stateOf(await runner().resume(f, third.checkpoint, yes()));
    expect(log.slice(ran.length)).toEqual(["other(100)"]);

    // Another fork of what was spent long ago goes on by itself, in a store that has none of its records.
    const elsewhere = world();
    const again = paused(await elsewhere.runner().fork(f, second.checkpoint));
    expect(again.runId).not.toBe("one");
    const gate = paused(await elsewhere.runner().resume(f, again.checkpoint, yes()));
    expect(stateOf(await elsewhere.runner().resume(f, gate.checkpoint, yes()))).toMatchObject({
      first: 100,
      second: 1000,
    });
    expect(log.slice(ran.length)).toEqual(["other(100)", "other(100)"]);
    expect(await elsewhere.outcomes()).toEqual(["executed", "passed"]);
  });

  it("FLOW-65 takes no decision over, and spends nothing of the run it is made of, with records or without", async () => {
    const { f, log } = twice();
    for (const { runner } of [world(), world({ approvals: recordlessPort() })]) {
      log.length = 0;
      const first = paused(await runner().run(f, { n: 1 }));
      const forks = [];
      for (let made = 0; made < 2; made++)
        forks.push(paused(await runner().fork(f, first.checkpoint)));
      expect(new Set([first, ...forks].map(({ runId }) => runId)).size).toBe(3);
      expect(new Set([first, ...forks].map(({ pending }) => pending.id)).size).toBe(3);
      for (const { checkpoint } of [first, ...forks])
        expect(paused(await runner().resume(f, checkpoint, yes())).pending.tool).toBe("other");
      expect(log.filter((line) => line === "free(1)")).toEqual(["free(1)"]);
      expect(log.filter((line) => line === "gated(10)")).toHaveLength(3);
    }

    const { runner, port, count } = world();
    const first = paused(await runner().run(f, { n: 1 }));
    await port.records.decide({ scope: "default", id: first.pending.id, decision: yes() });
    const fork = paused(await runner().fork(f, first.checkpoint));
    paused(await runner().resume(f, fork.checkpoint)); // nobody has answered the fork
    expect([await count("decided"), await count("pending")]).toEqual([1, 1]);
    paused(await runner().resume(f, first.checkpoint));
  });

  it("FLOW-65 FLOW-66 asks again with what was shown, whatever the tool's rule says by then; a gate with what it shows", async () => {
    let confirm = true;
    const ran: string[] = [];
    const draws = defineTool({
      name: "draws",
      description: "draws an id",
      input: z.object({ id: z.string().default(() => crypto.randomUUID()) }),
      output: z.object({ id: z.string() }),
      confirm: () => confirm,
      execute: ({ id }) => (ran.push(id), { id }),
    });
    const f = flow("f", State)
      .call("draw", draws, { args: {}, into: (r) => ({ by: r.id }) })
      .gate("look", { payload: (s) => ({ by: s.by }) })
      .path("draw", "look")
      .build();
    const { runner } = world();
    const first = paused(await runner().run(f, { n: 1 }));
    const shown = first.pending.request.arguments;
    confirm = false;
    const fork = paused(await runner().fork(f, first.checkpoint));
    expect(fork.pending.request.arguments).toEqual(shown);
    const gate = paused(await runner().resume(f, fork.checkpoint, yes()));
    expect([{ id: ran[0] }]).toEqual([shown]);
    const gateFork = paused(await runner().fork(f, gate.checkpoint));
    expect(gateFork.pending.request.arguments).toEqual({ by: ran[0] });
    expect(gateFork.pending.id).not.toBe(gate.pending.id);
    expect(stateOf(await runner().resume(f, gateFork.checkpoint, yes())).by).toBe(ran[0]);
    expect(ran).toHaveLength(1);
  });

  it("FLOW-65 FLOW-75 forks a durable run by its id into another log entry by entry, and refuses an id that is taken", async () => {
    const { f, log } = twice();
    const { runner } = world({ log: memoryRunLog() });
    const first = paused(await runner().run(f, { n: 1 }, { runId: "one" }));
    await runner().resume(f, first.checkpoint, yes());
    const before = (await runner().history(f, "one")).length;
    const fork = paused(await runner().fork(f, "one", { runId: "two" }));
    expect(await runner().history(f, "one")).toHaveLength(before);
    const [started, forked] = await runner().history(f, "two");
    expect(started).toMatchObject({ type: "run-started", seed: { runId: "two" } });
    expect(forked).toMatchObject({ type: "forked", from: { runId: "one", revision: before } });
    // Of the other run's approvals nothing goes along, the one that its journal was allowed by not either.
    expect(JSON.stringify(forked)).not.toContain(first.pending.id);
    expect(await rejection(runner().fork(f, "one", { runId: "two" }))).toMatchObject({
      code: "run-exists",
    });
    // Its log alone brings it back, through a fresh runner, and the fork itself can be forked.
    const same = paused(await runner().adopt(f, "two"));
    expect(same.pending.id).toBe(fork.pending.id);
    const third = paused(await runner().fork(f, same.checkpoint, { runId: "three" }));
    for (const id of ["one", "two", "three"]) {
      const { pending } = paused(await runner().adopt(f, id));
      const gate = paused(await runner().resume(f, id, replies({ [pending.id]: yes() })));
      stateOf(await runner().resume(f, gate.checkpoint, yes()));
    }
    expect(third.runId).toBe("three");
    expect(log.filter((line) => line === "free(1)")).toHaveLength(1);
    expect(log.filter((line) => line === "gated(10)")).toHaveLength(1);
    expect(log.filter((line) => line === "other(100)")).toHaveLength(3);
  });

  it("FLOW-65 asks a question that is no approval anew, and keeps the answers that its visit had", async () => {
    const Word = defineInterrupt({ name: "word", answer: z.string() });
    const f = flow("f", State)
      .node(
        "asks",
        async (_, ctx) => ({
          by: `${await ctx.ask(Word, undefined)} ${await ctx.ask(Word, undefined)}`,
        }),
        { asks: [Word] },
      )
      .build();
    const { runner } = world();
    const first = waiting(await runner().run(f, { n: 1 }));
    const second = waiting(await runner().resume(f, first.checkpoint, answer(Word, "one")));
    const fork = waiting(await runner().fork(f, second.checkpoint));
    expect(fork.pendings.map(({ kind }) => kind)).toEqual(["interrupt"]);
    expect(fork.pending.id).not.toBe(second.pending.id);
    const ends = await Promise.all([
      runner().resume(f, fork.checkpoint, answer(Word, "other")),
      runner().resume(f, second.checkpoint, answer(Word, "two")),
    ]);
    expect(ends.map((end) => stateOf(end).by)).toEqual(["one other", "one two"]);
  });

  it("FLOW-65 keeps who asked for the run, unless another is named, so that nobody allows their own request by forking it", async () => {
    const f = flow("f", State)
      .gate("look", { payload: (s) => s.n, excludeRequester: true })
      .build();
    const { runner } = world();
    const people = identityPort((credential) => ({ id: String(credential) }));
    const erin = await people.authenticate("erin");
    const requested = { id: "erin", assurance: "verified" } as const;
    const first = paused(await runner().run(f, { n: 1 }, { requestedBy: requested }));
    const fork = paused(await runner().fork(f, first.checkpoint));
    expect(
      await rejection(runner().resume(f, fork.checkpoint, approve({ by: erin }))),
    ).toMatchObject({ code: "actor-excluded" });
    const named = paused(
      await runner().fork(f, first.checkpoint, { requestedBy: { ...requested, id: "dana" } }),
    );
    stateOf(await runner().resume(f, named.checkpoint, approve({ by: erin })));
  });

  it("FLOW-65 is made of a run that waits, tells of itself, and counts the rounds that led there", async () => {
    const { log, gated } = effects();
    const f = flow("f", State)
      .call("pay", gated, { args: { n: 1 } })
      .route("pay", ["pay", "$end"], (s) => (s.n === 0 ? "pay" : "$end"))
      .build();
    const { runner, notices } = world({ log: memoryRunLog(), roundsMax: 2 });
    const first = paused(await runner().run(f, { n: 0 }, { runId: "one" }));
    const second = paused(await runner().resume(f, first.checkpoint, yes()));
    const fork = paused(await runner().fork(f, second.checkpoint, { runId: "two" }));
    expect(notices.filter(({ runId }) => runId === "two").slice(0, 3)).toMatchObject([
      { type: "run-started", revision: 1 },
      { type: "forked", revision: 2 },
      { type: "approval-requested", revision: 3, visit: "pay#2" },
    ]);
    expect(await rejection(runner().resume(f, fork.checkpoint, yes()))).toMatchObject({
      code: "round-budget",
    });
    expect(log).toHaveLength(2);
    expect(await rejection(runner().fork(f, "two"))).toMatchObject({ code: "resume-terminal" });
    const stop = new AbortController();
    const cut = runner({ onEvent: ({ type }) => type === "call-finished" && stop.abort() });
    const { pending } = paused(await runner().adopt(f, "one"));
    const allowed = replies({ [pending.id]: yes() });
    expect(await rejection(cut.resume(f, "one", allowed, { signal: stop.signal }))).toMatchObject({
      code: "aborted",
    });
    expect(await rejection(runner().fork(f, "one"))).toMatchObject({ code: "not-paused" });
    await runner().cancel(f, "one", { reason: "enough" });
    expect(await rejection(runner().fork(f, "one"))).toMatchObject({ code: "resume-terminal" });
  });

  it.each(["portable", "durable"] as const)(
    "FLOW-65 FLOW-34 FLOW-33 takes maps and nested runs over where they stand (%s)",
    async (mode) => {
      const { log, free, gated } = effects();
      const inner = flow("inner", State)
        .node("look", async (s, ctx) => ({ first: (await ctx.call(free, { n: s.n })).got }))
        .gate("review", { payload: (s) => s.first })
        .node("pay", async (s, ctx) => ({ second: (await ctx.call(gated, { n: s.n })).got }))
        .path("look", "review", "pay")
        .build();
      const outer = flow("outer", State)
        .map("each", {
          over: (s) => [s.n, s.n + 1, s.n + 2],
          each: async (n, ctx) => (n === 3 ? n : (await ctx.run(inner, { n })).second!),
          into: ({ values }) => ({ first: values.reduce((sum, n) => sum + n, 0) }),
          runs: [inner],
        })
        .build();
      const { runner, count } = world(mode === "durable" ? { log: memoryRunLog() } : {});
      const first = paused(await runner().run(outer, { n: 1 }, { runId: "one" }));
      const [, second] = first.pendings;
      const was = paused(
        await runner().resume(outer, first.checkpoint, replies({ [second!.id]: yes() })),
      );
      expect(log.toSorted()).toEqual(["free(1)", "free(2)"]);
      const fork = paused(await runner().fork(outer, was.checkpoint, { runId: "two" }));
      const shape = (of: typeof fork) => of.pendings.map(({ path, tool }) => `${path} ${tool}`);
      expect(shape(fork)).toEqual(shape(was));
      expect(fork.pendings.some(({ id }) => was.pendings.some((old) => old.id === id))).toBe(false);
      expect(await count("pending")).toBe(4);
      expect(log.toSorted()).toEqual(["free(1)", "free(2)"]);
      for (const { checkpoint } of [fork, was]) {
        log.length = 0;
        const loaded = runner().loadCheckpoint(outer, runner().dumpCheckpoint(checkpoint));
        let now = await runner().resume(outer, loaded);
        while (now.status === "paused") {
          const { id } = now.pendings.at(-1)!;
          now = await runner().resume(outer, now.checkpoint, replies({ [id]: yes() }));
        }
        expect(now.state.first).toBe(10 + 20 + 3);
        expect(log.toSorted()).toEqual(["gated(1)", "gated(2)"]);
      }
      expect(await count("pending")).toBe(0);
    },
  );
});
