import { defineTool } from "@holdpoint/tools";
import { describe, expect, it } from "vitest";
import { z } from "zod";

import { flow, memoryRunLog, replies } from "../../src/index.ts";
import { settle } from "../support/clock.ts";
import { effects } from "../support/effects.ts";
import { no, paused, recordlessPort, rejection, stateOf, world, yes } from "../support/world.ts";

const State = z.object({
  n: z.number(),
  sum: z.number().optional(),
  log: z.array(z.string()).default([]),
});

describe("everything that waits in a round is in the result", () => {
  it("FLOW-24 FLOW-21 CASE-018 lists five concurrent equal calls under five ids, in 200 rounds", async () => {
    const { log, gated } = effects();
    const f = flow("f", State)
      .node("a", async (_, ctx) => {
        const got = await Promise.all([1, 1, 1, 2, 2].map((n) => ctx.call(gated, { n })));
        return { sum: got.reduce((sum, each) => sum + each.got, 0) };
      })
      .build();
    const { runner } = world();
    for (let round = 0; round < 200; round++) {
      log.length = 0;
      const first = paused(await runner().run(f, { n: 1 }));
      expect(first.pendings).toHaveLength(5);
      expect(first.pending).toBe(first.pendings[0]);
      expect(new Set(first.pendings.map(({ request }) => request.callId)).size).toBe(5);
      expect(log).toEqual([]);
      const ids = first.pendings.map(({ id }) => id);
      const answered = [ids[round % 5]!, ids[(round + 2) % 5]!];
      const second = paused(
        await runner().resume(
          f,
          first.checkpoint,
          replies(Object.fromEntries(answered.map((id) => [id, yes()]))),
        ),
      );
      expect(second.pendings.map(({ id }) => id)).toEqual(
        ids.filter((id) => !answered.includes(id)),
      );
      expect(log).toHaveLength(2);
      const rest = Object.fromEntries(second.pendings.map(({ id }) => [id, yes()]));
      expect(stateOf(await runner().resume(f, second.checkpoint, replies(rest))).sum).toBe(70);
      expect(log).toHaveLength(5);
    }
  });

  it("FLOW-21 lists what waits in node and call order, whichever port answered first", async () => {
    const { gated, other } = effects();
    let held: (() => void) | undefined;
    const slow = recordlessPort();
    const port = {
      request: async (...how: Parameters<typeof slow.request>) => {
        const answer = await slow.request(...how);
        if (how[0].node === "a#1" && how[0].tool === "gated")
          await new Promise<void>((resolve) => (held = resolve));
        return answer;
      },
    };
    const f = flow("f", State)
      .node("start", () => ({}))
      .node("a", async (_, ctx) => {
        await Promise.all([ctx.call(gated, { n: 1 }), ctx.call(other, { n: 2 })]);
      })
      .gate("b", { payload: (s) => s.n })
      .edge("start", "b")
      .edge("start", "a")
      .build();
    const running = world({ approvals: port }).runner().run(f, { n: 1 });
    await settle();
    held!();
    const { pendings } = paused(await running);
    expect(pendings.map(({ path, tool }) => `${path} ${tool}`)).toEqual([
      "a#1 gated",
      "a#1 other",
      "b#1 node:f.b",
    ]);
  });

  it("FLOW-11 FLOW-24 does not run a finished sibling again, and keeps its update unmerged until the round is whole", async () => {
    const { gated } = effects();
    const ran: string[] = [];
    const f = flow("f", State)
      .node("start", () => ({ log: [] }))
      .node("done", (s) => {
        ran.push("done");
        return { log: [...s.log, "done"] };
      })
      .call("asks", gated, { args: { n: 1 }, into: (r) => ({ sum: r.got }) })
      .node("after", (s) => ({ log: [...s.log, "after"] }))
      .edge("start", "asks")
      .edge("start", "done")
      .edge("done", "after")
      .edge("asks", "after")
      .build();
    const { runner } = world();
    const first = paused(await runner().run(f, { n: 1 }));
    expect(first.checkpoint.state["log"]).toEqual([]);
    expect(first.checkpoint.frontier).toEqual(["done#1", "asks#1"]);
    expect(stateOf(await runner().resume(f, first.checkpoint, yes()))).toEqual({
      n: 1,
      sum: 10,
      log: ["done", "after"],
    });
    expect(ran).toEqual(["done"]);
  });

  it("FLOW-30 runs only what got an answer again", async () => {
    const { gated, other } = effects();
    const ran: string[] = [];
    const f = flow("f", State)
      .node("start", () => ({}))
      .node("a", async (_, ctx) => {
        ran.push("a");
        await ctx.call(gated, { n: 1 });
      })
      .node("b", async (_, ctx) => {
        ran.push("b");
        await ctx.call(other, { n: 1 });
      })
      .edge("start", "a")
      .edge("start", "b")
      .build();
    const { runner, port } = world();
    const first = paused(await runner().run(f, { n: 1 }));
    const [a, b] = first.pendings.map(({ id }) => id) as [string, string];
    const second = paused(await runner().resume(f, first.checkpoint, replies({ [b]: yes() })));
    expect(ran).toEqual(["a", "b", "b"]);
    expect(second.pendings.map(({ id }) => id)).toEqual([a]);
    expect(await port.records.asked("default", a)).toBe(1);
    stateOf(await runner().resume(f, second.checkpoint, yes()));
    expect(ran).toEqual(["a", "b", "b", "a"]);
  });

  it("FLOW-38 leaves the other question of a node pending under its id, and asks it once", async () => {
    const { log, gated, other } = effects();
    const f = flow("f", State)
      .node("a", async (_, ctx) => {
        await Promise.all([ctx.call(gated, { n: 1 }), ctx.call(other, { n: 2 })]);
      })
      .build();
    const { runner, port, count } = world();
    const first = paused(await runner().run(f, { n: 1 }));
    const [a, b] = first.pendings.map(({ id }) => id) as [string, string];
    const second = paused(await runner().resume(f, first.checkpoint, replies({ [a]: yes() })));
    expect(second.pending.id).toBe(b);
    expect(second.pending.request.callId).toBe(first.pendings[1]!.request.callId);
    expect(await count("pending")).toBe(1);
    expect(await port.records.asked("default", b)).toBe(1);
    stateOf(await runner().resume(f, second.checkpoint, yes()));
    expect(log).toEqual(["gated(1)", "other(2)"]);
  });

  it("FLOW-38 denies and consumes what is left unanswered on request, and asks it under a new id", async () => {
    const { log, gated } = effects();
    const keys: string[] = [];
    const keyed = defineTool({
      name: "keyed",
      description: "keeps its key",
      input: z.object({}),
      confirm: true,
      execute: (_, { idempotencyKey }) => void keys.push(idempotencyKey),
    });
    const f = flow("f", State)
      .node("a", async (_, ctx) => {
        await Promise.all([ctx.call(gated, { n: 1 }), ctx.call(keyed, {})]);
      })
      .build();
    const { runner, outcomes, notices } = world();
    const plain = paused(await runner().run(f, { n: 1 }, { runId: "one" }));
    stateOf(
      await runner().resume(
        f,
        plain.checkpoint,
        replies(Object.fromEntries(plain.pendings.map(({ id }) => [id, yes()]))),
        { unanswered: "supersede" },
      ),
    );
    expect(await outcomes()).toEqual(["executed", "executed"]);
    const { runner: again, outcomes: ends } = world({ onEvent: (notice) => notices.push(notice) });
    const first = paused(await again().run(f, { n: 1 }, { runId: "one" }));
    const [a, b] = first.pendings as [(typeof first.pendings)[0], (typeof first.pendings)[0]];
    const second = paused(
      await again().resume(f, first.checkpoint, replies({ [a.id]: yes() }), {
        unanswered: "supersede",
      }),
    );
    expect((await ends()).toSorted()).toEqual(["executed", "superseded"]);
    expect(second.pending.id).not.toBe(b.id);
    expect(second.pending.request.callId).not.toBe(b.request.callId);
    expect(notices.map(({ type }) => type)).toContain("superseded");
    stateOf(await again().resume(f, second.checkpoint, yes()));
    expect(keys[1]).toBe(keys[0]); // a generation is in the call id, never in the idempotency key
    expect(log).toEqual(["gated(1)", "gated(1)"]);
  });

  it("FLOW-38 withdraws a question that the re-run does not ask any more", async () => {
    const { log, gated, other } = effects();
    let asksBoth = true;
    const f = flow("f", State)
      .node("a", async (_, ctx) => {
        const calls = [ctx.call(gated, { n: 1 })];
        if (asksBoth) calls.push(ctx.call(other, { n: 2 }));
        await Promise.all(calls);
      })
      .build();
    const { runner, outcomes, count } = world();
    const first = paused(await runner().run(f, { n: 1 }));
    asksBoth = false;
    stateOf(await runner().resume(f, first.checkpoint, replies({ [first.pending.id]: yes() })));
    expect(log).toEqual(["gated(1)"]);
    expect((await outcomes()).toSorted()).toEqual(["executed", "superseded"]);
    expect(await count("pending")).toBe(0);
  });

  it("FLOW-38 asks a withdrawn question anew where the code comes back to it, and says on record that it was not asked again at once", async () => {
    const { log, tool, gated, other } = effects();
    const third = tool("third", { confirm: true });
    let asks: readonly (typeof gated | typeof other | typeof third)[] = [gated, other];
    const f = flow("f", State)
      .node("a", async (_, ctx) => {
        const [first, ...rest] = asks.map((asked) => ctx.call(asked, { n: 1 }));
        await first;
        await Promise.all(rest);
      })
      .build();
    const { runner, outcomes } = world({ log: memoryRunLog() });
    const first = paused(await runner().run(f, { n: 1 }, { runId: "r" }));
    asks = [gated, third];
    const one = replies({ [first.pending.id]: yes() });
    const second = paused(await runner().resume(f, "r", one));
    expect(second.pendings.map(({ tool: asked }) => asked)).toEqual(["third"]);
    expect(await runner().history(f, "r")).toContainEqual(
      expect.objectContaining({
        type: "superseded",
        approvalId: first.pendings[1]!.id,
        again: false,
      }),
    );
    asks = [gated, third, other];
    const two = replies({ [second.pending.id]: yes() });
    const last = paused(await runner().resume(f, "r", two));
    expect(last.pendings.map(({ tool: asked }) => asked)).toEqual(["other"]);
    expect(last.pending.id).not.toBe(first.pendings[1]!.id);
    stateOf(await runner().resume(f, last.checkpoint, yes()));
    expect(log).toEqual(["gated(1)", "third(1)", "other(1)"]);
    expect((await outcomes()).toSorted()).toEqual([
      "executed",
      "executed",
      "executed",
      "superseded",
    ]);
  });

  it("R036 answers two questions of one node in both orders, and both at once", async () => {
    for (const order of [[0], [1], [0, 1]]) {
      const { log, gated, other } = effects();
      const f = flow("f", State)
        .node("a", async (_, ctx) => {
          const [a, b] = await Promise.all([ctx.call(gated, { n: 1 }), ctx.call(other, { n: 2 })]);
          return { sum: a.got * 1000 + b.got };
        })
        .build();
      const { runner } = world();
      const first = paused(await runner().run(f, { n: 1 }));
      const some = Object.fromEntries(order.map((index) => [first.pendings[index]!.id, yes()]));
      let result = await runner().resume(f, first.checkpoint, replies(some));
      if (order.length === 1) result = await runner().resume(f, paused(result).checkpoint, yes());
      expect(stateOf(result).sum).toBe(10_020);
      expect(log.toSorted()).toEqual(["gated(1)", "other(2)"]);
    }
  });

  it("R037 CASE-020 FLOW-30 refuses a bare answer where several wait, and an unknown id among known ones", async () => {
    const { log, gated, other } = effects();
    const f = flow("f", State)
      .node("a", async (_, ctx) => {
        await Promise.all([ctx.call(gated, { n: 1 }), ctx.call(other, { n: 2 })]);
      })
      .build();
    const { runner, count } = world();
    const first = paused(await runner().run(f, { n: 1 }));
    const ids = first.pendings.map(({ id }) => id);
    const bare = await rejection(runner().resume(f, first.checkpoint, yes()));
    expect(bare).toMatchObject({ code: "answer-ambiguous", data: { ids } });
    for (const id of ids) expect(bare.message).toContain(id);
    const mixed = replies({ [ids[0]!]: yes(), nobody: no() });
    expect(await rejection(runner().resume(f, first.checkpoint, mixed))).toMatchObject({
      code: "answer-unknown",
      data: { id: "nobody", ids },
    });
    expect(() => replies({ [ids[0]!]: { kind: "approve", by: "dana" } as never })).toThrow(
      /approve\(\), deny\(\), answer\(\), inDoubt, replies\(\)/,
    );
    for (const forged of [
      { kind: "approve" },
      "approve",
      null,
      1,
      { byId: new Map([[ids[0], yes()]]) },
    ])
      expect(await rejection(runner().resume(f, first.checkpoint, forged as never))).toMatchObject({
        code: "answer-invalid",
      });
    expect(await count("pending")).toBe(2);
    expect(log).toEqual([]);
  });

  it("FLOW-12 withdraws what waits when a sibling fails, once the round has settled", async () => {
    const { gated } = effects();
    const ran: string[] = [];
    const f = flow("f", State)
      .node("start", () => ({}))
      .call("asks", gated, { args: { n: 1 } })
      .node("slow", async () => {
        await settle();
        ran.push("slow");
      })
      .node("first", () => {
        throw new Error("first");
      })
      .node("second", () => {
        throw new Error("second");
      })
      .edge("start", "asks")
      .edge("start", "slow")
      .edge("start", "first")
      .edge("start", "second")
      .build();
    const { runner, outcomes, count } = world();
    const error = await rejection(runner().run(f, { n: 1 }, { runId: "r" }));
    expect(error).toMatchObject({
      code: "node-failed",
      data: {
        flow: "f",
        runId: "r",
        node: "first#1",
        errors: [
          { node: "first#1", error: { message: "first" } },
          { node: "second#1", error: { message: "second" } },
        ],
      },
      cause: { message: "first" },
    });
    expect(ran).toEqual(["slow"]);
    expect(await count("pending")).toBe(0);
    expect(await outcomes()).toEqual(["cancelled"]);
  });

  it("FLOW-12 says that an answer was of no use where a failure ends the run before its code runs", async () => {
    const { gated } = effects();
    let fails = false;
    const f = flow("f", State)
      .node("start", () => ({}))
      .gate("look", { payload: (s) => s.n, when: () => true })
      .call("asks", gated, { args: { n: 1 } })
      .edge("start", "look")
      .edge("start", "asks")
      .build();
    const { runner, outcomes } = world({ concurrency: 1 });
    const first = paused(await runner().run(f, { n: 1 }));
    const all = replies(Object.fromEntries(first.pendings.map(({ id }) => [id, yes()])));
    const stop = new AbortController();
    fails = true;
    const onEvent = ({ type }: { type: string }) =>
      void (type === "answered" && fails && stop.abort());
    expect(
      await rejection(
        runner({ onEvent }).resume(f, first.checkpoint, all, { signal: stop.signal }),
      ),
    ).toMatchObject({ code: "aborted" });
    expect((await outcomes()).toSorted()).toEqual(["passed", "unused"]);
  });
});
