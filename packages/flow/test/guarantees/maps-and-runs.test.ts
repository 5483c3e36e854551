import { inspect } from "node:util";

import { approve, editedArguments, type ApprovalPort } from "@holdpoint/approvals";
import { defineTool } from "@holdpoint/tools";
import { describe, expect, it } from "vitest";
import { z } from "zod";

import {
  answerJson,
  flow,
  flowEdits,
  isFlowError,
  memoryRunLog,
  replies,
} from "../../src/index.ts";
import { carried } from "../support/carried.ts";
import { settle } from "../support/clock.ts";
import { effects } from "../support/effects.ts";
import { decided } from "../support/one-call.ts";
import { Evidence, text } from "../support/questions.ts";
import { shapes } from "../support/shapes.ts";
import {
  asAnotherProcess,
  dana,
  no,
  paused,
  recordlessPort,
  rejection,
  stateOf,
  waiting,
  world,
  yes,
} from "../support/world.ts";

const all = (pendings: readonly { readonly id: string }[]) =>
  replies(Object.fromEntries(pendings.map(({ id }) => [id, yes()])));

describe.each(Object.entries(shapes))("what holds for a node holds within %s", (name, make) => {
  it(`FLOW-23 no catch, finally or later line swallows a pause (${name})`, async () => {
    const { log, gated } = effects();
    const lines: string[] = [];
    const f = make(async (n, ctx) => {
      try {
        const { got } = await ctx.call(gated, { n });
        lines.push(`got ${got}`);
        return got;
      } catch {
        lines.push("caught");
        return -1;
      } finally {
        lines.push("finally");
      }
    });
    const { runner } = world();
    const first = paused(await runner().run(f, { list: [1, 2] }));
    await settle();
    expect(lines).toEqual([]);
    const { state } = await carried(f, first, runner);
    expect(lines).toEqual(["got 10", "finally", "got 20", "finally"]);
    expect(state["got"]).toEqual([10, 20]);
    expect(log).toEqual(["gated(1)", "gated(2)"]);
  });

  it(`FLOW-24 FLOW-30 only what got an answer runs again, and the rest waits under its ids (${name})`, async () => {
    const { log, free, gated } = effects();
    const runs: number[] = [];
    const f = make(async (n, ctx) => {
      runs.push(n);
      await ctx.call(free, { n });
      return n === 3 ? n : (await ctx.call(gated, { n })).got;
    });
    const { runner, count } = world();
    const first = paused(await runner().run(f, { list: [0, 1, 2, 3] }));
    expect(new Set(runs)).toEqual(new Set([0, 1, 2, 3]));
    const ids = first.pendings.map(({ id }) => id);
    expect(ids).toHaveLength(3);
    runs.length = 0;
    const second = paused(
      await runner().resume(f, first.checkpoint, replies({ [ids[1]!]: yes() })),
    );
    expect(runs).toEqual([1]);
    expect(second.pendings.map(({ id }) => id)).toEqual([ids[0], ids[2]]);
    expect(second).toMatchObject({ runId: first.runId });
    expect(second.checkpoint.counters.calls).toBe(5);
    expect(await count("pending")).toBe(2);
    expect(stateOf(await runner().resume(f, second.checkpoint, all(second.pendings))).got).toEqual([
      0, 10, 20, 3,
    ]);
    expect(log.filter((line) => line.startsWith("free"))).toHaveLength(4);
    expect(log).toHaveLength(7);
  });

  it(`FLOW-31 FLOW-35 a second question is asked after the first, each answers once, and all else is replayed (${name})`, async () => {
    const { log, free } = effects();
    let drawn = 0;
    const asks = (tool: string) =>
      defineTool({
        name: tool,
        description: tool,
        input: z.object({ n: z.number(), id: z.string().default(() => `id-${(drawn += 1)}`) }),
        confirm: true,
        execute: ({ n, id }) => void log.push(`${tool}(${n}) ${id}`),
      });
    const [one, two] = [asks("one"), asks("two")];
    const f = make(async (n, ctx) => {
      await ctx.call(free, { n });
      await ctx.call(one, { n });
      await ctx.call(two, { n });
      return ctx.uuid();
    });
    const { runner, count } = world();
    const shown = new Map<string, string>();
    let now = await runner().run(f, { list: [1, 2] });
    let pauses = 0;
    for (; now.status === "paused"; pauses++) {
      for (const pending of now.pendings) {
        if (pending.kind !== "approval") throw new Error("only calls wait here");
        const { n, id } = pending.request.arguments as { n: number; id: string };
        const key = `${pending.tool}(${n})`;
        expect(shown.get(key) ?? id).toBe(id); // the first draw stands
        shown.set(key, id);
      }
      const fresh = runner();
      const loaded = fresh.loadCheckpoint(f, fresh.dumpCheckpoint(now.checkpoint));
      now = await fresh.resume(f, loaded, replies({ [now.pendings.at(-1)!.id]: yes() }));
    }
    expect(pauses).toBe(4);
    const ran = log.filter((line) => !line.startsWith("free"));
    expect(ran.toSorted()).toEqual([...shown].map((entry) => entry.join(" ")).toSorted());
    expect(log).toHaveLength(6);
    expect(await count("pending")).toBe(0);
  });

  it(`FLOW-36 a denial is an error that the code may catch (${name})`, async () => {
    const { log, gated } = effects();
    const f = make((n, ctx) =>
      ctx.call(gated, { n }).then(
        ({ got }) => got,
        (error: unknown) => (isFlowError(error, "approval-denied") ? "denied" : "?"),
      ),
    );
    const { runner } = world();
    const first = paused(await runner().run(f, { list: [1, 2] }));
    const [one, two] = first.pendings.map(({ id }) => id) as [string, string];
    const answers = replies({ [one]: no(), [two]: yes() });
    expect(stateOf(await runner().resume(f, first.checkpoint, answers)).got).toEqual([
      "denied",
      20,
    ]);
    expect(log).toEqual(["gated(2)"]);
  });

  it(`FLOW-37 waits for what was begun before the code returned, and begins nothing after (${name})`, async () => {
    const { log, free, gated } = effects();
    const f = make(async (n, ctx) => {
      void ctx.call(gated, { n });
      void settle(3).then(() => ctx.call(free, { n }));
      return n;
    });
    const { runner, notices } = world();
    const first = paused(await runner().run(f, { list: [1] }));
    const { state } = await carried(f, first, runner);
    await settle(10);
    expect(state["got"]).toEqual([1]);
    expect(log).toEqual(["gated(1)"]);
    expect(notices.some(({ type }) => type === "call-dropped")).toBe(true);
  });

  it(`FLOW-38 withdraws a question that the code does not ask again (${name})`, async () => {
    const { log, gated, other } = effects();
    let both = true;
    const f = make(async (n, ctx) => {
      const asked = [ctx.call(gated, { n }), ...(both ? [ctx.call(other, { n })] : [])];
      return (await Promise.all(asked)).length;
    });
    const { runner, count, outcomes } = world();
    const first = paused(await runner().run(f, { list: [1] }));
    both = false;
    const answers = replies({ [first.pendings[0]!.id]: yes() });
    expect(stateOf(await runner().resume(f, first.checkpoint, answers)).got).toEqual([1]);
    expect(log).toEqual(["gated(1)"]);
    expect(await count("pending")).toBe(0);
    expect((await outcomes()).toSorted()).toEqual(["executed", "superseded"]);
  });

  it(`FLOW-26 asks nobody what can't be sealed (${name})`, async () => {
    const { log } = effects();
    const takes = defineTool({
      name: "takes",
      description: "takes anything",
      input: z.object({ it: z.any() }),
      confirm: true,
      execute: () => void log.push("took"),
    });
    const f = make((_, ctx) => ctx.call(takes, { it: () => 1 }).catch(() => undefined));
    const { runner, count } = world();
    const error = await rejection(runner().run(f, { list: [1] }));
    expect(error).toMatchObject({ code: "state-not-sealable" });
    expect((await count("pending")) + (await count("consumed"))).toBe(0);
    expect(log).toEqual([]);
  });

  it(`FLOW-27 a value that can't be sealed fails the pause, withdraws what was asked, and nothing runs again (${name})`, async () => {
    for (const durable of [false, true]) {
      const { log, free, gated } = effects();
      const f = make(async (n, ctx) => {
        await ctx.call(free, { n });
        if (n > 0) return (await ctx.call(gated, { n })).got;
        await settle(3); // once the other one has asked
        return { deep: [() => 1] };
      });
      const { runner, count } = world(durable ? { log: memoryRunLog() } : {});
      const error = await rejection(runner().run(f, { list: [0, 1] }));
      expect(error).toMatchObject({ code: "state-not-sealable" });
      expect(String(error.data!["path"])).toContain("deep");
      expect(log.toSorted()).toEqual(["free(0)", "free(1)"]);
      expect(await count("pending")).toBe(0);
    }
  });

  it(`FLOW-54 FLOW-61 an answer to nothing, or to a checkpoint that was used, changes nothing (${name})`, async () => {
    const { log, gated } = effects();
    const f = make(async (n, ctx) => (await ctx.call(gated, { n })).got);
    const { runner, count } = world();
    const first = paused(await runner().run(f, { list: [1, 2] }));
    const [one, two] = first.pendings.map(({ id }) => id) as [string, string];
    const some = replies({ [one]: yes(), nobody: yes() });
    expect(await rejection(runner().resume(f, first.checkpoint, some))).toMatchObject({
      code: "answer-unknown",
    });
    expect(await count("pending")).toBe(2);
    expect(log).toEqual([]);
    paused(await runner().resume(f, first.checkpoint, replies({ [one]: yes() })));
    for (const again of [one, two]) {
      const used = runner().resume(f, first.checkpoint, replies({ [again]: yes() }));
      expect(await rejection(used)).toMatchObject(decided);
      asAnotherProcess();
    }
    expect(log).toEqual(["gated(1)"]);
  });

  it(`FLOW-55 refuses to go on where the store tells another story of an earlier answer (${name})`, async () => {
    const { log, gated, other } = effects();
    const f = make(async (n, ctx) => {
      await ctx.call(gated, { n });
      return n === 1 ? n : (await ctx.call(other, { n })).got;
    });
    const { runner, port } = world();
    const first = paused(await runner().run(f, { list: [1, 2] }));
    const second = paused(await runner().resume(f, first.checkpoint, all(first.pendings)));
    expect(second.pendings).toHaveLength(1);
    // Of what waits again; of a map, of an item that has ended too.
    const earlier = name === "an item of a map" ? first.pendings : first.pendings.slice(-1);
    for (const { id: spent } of earlier) {
      const stands = await port.records.read("default", spent);
      const telling: ApprovalPort = {
        request: (request, how) => port.request(request, how),
        records: {
          store: port.records.store,
          settle: (how) => port.records.settle(how),
          withdraw: (how) => port.records.withdraw(how),
          conclude: (how) => port.records.conclude(how),
          read: async (scope, id) =>
            id === spent && stands !== undefined
              ? { state: "pending", argumentsDigest: stands.argumentsDigest }
              : port.records.read(scope, id),
        },
      };
      expect(
        await rejection(runner({ approvals: telling }).resume(f, second.checkpoint, yes())),
      ).toMatchObject({ code: "checkpoint-rolled-back", data: { approvalId: spent } });
    }
    expect(log).toHaveLength(2);
    stateOf(await runner().resume(f, second.checkpoint, yes()));
    expect(log).toHaveLength(3);
  });

  it(`FLOW-66 a waiting call stays gated though the tool's rule is gone (${name})`, async () => {
    const { log, tool } = effects();
    let gate = true;
    const pay = tool("pay", { confirm: () => gate });
    const f = make(async (n, ctx) => (await ctx.call(pay, { n })).got);
    const { runner } = world();
    const first = paused(await runner().run(f, { list: [1, 2] }));
    gate = false;
    const [one] = first.pendings.map(({ id }) => id) as [string];
    const second = paused(await runner().resume(f, first.checkpoint, replies({ [one]: yes() })));
    expect(log).toEqual(["pay(1)"]);
    expect(await rejection(runner().resume(f, second.checkpoint, no()))).toMatchObject({
      code: expect.stringMatching(/approval-denied|node-failed/) as unknown,
    });
    expect(log).toEqual(["pay(1)"]);
  });

  it(`FLOW-22 CASE-100 questions wait beside approvals, and an answer that does not fit spends nothing (${name})`, async () => {
    const { log, gated } = effects();
    const f = make(
      async (n, ctx) => {
        const [{ text: said }] = await Promise.all([
          ctx.ask(Evidence, { round: n }),
          ctx.call(gated, { n }),
        ]);
        return said;
      },
      [Evidence],
    );
    for (const durable of [false, true]) {
      log.length = 0;
      const { runner, count } = world(durable ? { log: memoryRunLog() } : {});
      const first = waiting(await runner().run(f, { list: [1, 2] }));
      expect(first.pendings.map(({ tool }) => tool)).toEqual([
        "ask:Evidence",
        "gated",
        "ask:Evidence",
        "gated",
      ]);
      const [one, two] = first.pendings.filter(({ kind }) => kind === "interrupt");
      expect(one).toMatchObject({ info: { round: 1 } });
      const ids = first.pendings.map(({ id }) => id);
      const rest = Object.fromEntries([ids[1]!, ids[3]!].map((id) => [id, yes()]));
      const bad = replies({ ...rest, [one!.id]: answerJson({ text: 5 }) });
      expect(await rejection(runner().resume(f, first.checkpoint, bad))).toMatchObject({
        code: "answer-invalid",
        data: { node: one!.path },
      });
      expect(await count("pending")).toBe(2);
      expect(log).toEqual([]);
      const good = replies({ ...rest, [one!.id]: text("a") });
      const second = waiting(await runner().resume(f, first.checkpoint, good));
      expect(second.pendings.map(({ id }) => id)).toEqual([two!.id]);
      const last = text("b");
      expect(stateOf(await runner().resume(f, second.checkpoint, last)).got).toEqual(["a", "b"]);
      expect(log.toSorted()).toEqual(["gated(1)", "gated(2)"]);
    }
  });

  it(`FLOW-73 a checkpoint, and a log, grow with what is journaled and no faster (${name})`, async () => {
    const grown = async (count: number, from: number) => {
      const { tool } = effects();
      const big = tool("big", { run: (n) => n });
      const { gated } = effects();
      const f = make(async (n, ctx) => {
        for (let call = 0; call < 4; call++) await ctx.call(big, { n: n * 10 + call });
        return n < from ? n : (await ctx.call(gated, { n })).got;
      });
      const log = memoryRunLog();
      const list = Array.from({ length: count }, (_, n) => n);
      const { runner } = world({ approvals: recordlessPort(), log });
      const first = paused(await runner().run(f, { list }, { runId: "r" }));
      const rows = await log.read("default", "r", 0, 100_000);
      return {
        checkpoint: first.checkpoint.sealed.length,
        log: rows.reduce((sum, { text }) => sum + text.length, 0),
      };
    };
    for (const waits of ["all wait", "one waits"]) {
      const [ten, twenty, forty] = await Promise.all(
        [10, 20, 40].map((count) => grown(count, waits === "all wait" ? 0 : count - 1)),
      );
      for (const what of ["checkpoint", "log"] as const) {
        const first = twenty![what] - ten![what];
        const then = forty![what] - twenty![what];
        expect(then / first).toBeGreaterThan(1.8);
        expect(then / first).toBeLessThan(2.2);
      }
    }
  });
});

describe("what holds for several branches of nested runs", () => {
  it("CASE-032 FLOW-11 FLOW-30 a branch that is done stays done while others wait, and what comes after runs once", async () => {
    for (const durable of [false, true]) {
      const { log, gated } = effects();
      const State = z.object({
        one: z.number().default(0),
        two: z.number().default(0),
        three: z.number().default(0),
      });
      const inner = flow("inner", z.object({ n: z.number(), got: z.number().default(0) }))
        .gate("first", { payload: (s) => s.n, when: (s) => s.n > 1 })
        .call("pay", gated, { args: (s) => ({ n: s.n }), into: ({ got }) => ({ got }) })
        .edge("first", "pay")
        .build();
      const f = flow("f", State)
        .node("start", () => ({}))
        .subflow("one", inner, { input: () => ({ n: 1 }), into: ({ got }) => ({ one: got }) })
        .subflow("two", inner, { input: () => ({ n: 2 }), into: ({ got }) => ({ two: got }) })
        .subflow("three", inner, { input: () => ({ n: 3 }), into: ({ got }) => ({ three: got }) })
        .node("after", (s) => void log.push(`after ${s.one + s.two + s.three}`), { join: true })
        .edge("start", "one")
        .edge("start", "two")
        .edge("start", "three")
        .edge("one", "after")
        .edge("two", "after")
        .edge("three", "after")
        .build();
      const { runner, notices } = world(durable ? { log: memoryRunLog() } : {});
      const first = paused(await runner().run(f, {}));
      expect(first.pendings.map(({ path }) => path)).toEqual([
        "one#1/inner.0/pay#1",
        "two#1/inner.0/first#1",
        "three#1/inner.0/first#1",
      ]);
      const { pauses } = await carried(f, first, runner);
      expect(pauses).toBe(5);
      expect(log).toEqual(["gated(1)", "gated(2)", "gated(3)", "after 60"]);
      const ended = notices.filter(
        ({ type, visit }) => type === "visit-finished" && visit === "one#1",
      );
      expect(ended).toHaveLength(1);
    }
  });

  it("FLOW-20 CASE-100 refuses an edit of a gate within that does not fit its schema, and takes the next one", async () => {
    const Small = z.object({ n: z.number() });
    const inner = flow("inner", Small)
      .gate("review", {
        payload: (s) => ({ n: s.n }),
        edits: { schema: z.object({ n: z.number().max(9) }), apply: ({ n }) => ({ n }) },
      })
      .gate("plain", { payload: (s) => ({ n: s.n }) })
      .edge("review", "plain")
      .build();
    const outer = flow("outer", Small)
      .subflow("in", inner, { input: (s) => ({ n: s.n }), into: ({ n }) => ({ n }) })
      .build();
    const edit = (gate: string, n: unknown) =>
      approve({ by: dana, edited: editedArguments(`node:inner.${gate}`, { n }) });
    for (const approvals of [undefined, recordlessPort()]) {
      const { runner } = world({ edits: flowEdits([outer]), ...(approvals && { approvals }) });
      const first = paused(await runner().run(outer, { n: 1 }));
      for (const wrong of [edit("review", 10), edit("review", "x"), edit("plain", 2)])
        expect((await rejection(runner().resume(outer, first.checkpoint, wrong))).code).toBe(
          "edits-not-allowed",
        );
      const second = paused(await runner().resume(outer, first.checkpoint, edit("review", 7)));
      expect(second.pending.request.arguments).toEqual({ n: 7 });
      const none = runner().resume(outer, second.checkpoint, edit("plain", 2));
      expect(await rejection(none)).toBeInstanceOf(Error);
      expect(stateOf(await runner().resume(outer, second.checkpoint, yes())).n).toBe(7);
    }
  });

  it("CASE-040 FLOW-29 two loads of one text share nothing, and show no argument of what waits within", async () => {
    const secret = "canary-4711";
    const tell = defineTool({
      name: "tell",
      description: "tells",
      input: z.object({ what: z.string() }),
      confirm: true,
      execute: () => "told",
    });
    const f = shapes["a nested run in an item in a nested run"]!((_, ctx) =>
      ctx.call(tell, { what: secret }),
    );
    const one = world();
    const first = paused(await one.runner().run(f, { list: [1, 2] }));
    const text = one.runner().dumpCheckpoint(first.checkpoint);
    const [left, right] = [one.runner(), one.runner()];
    const [a, b] = [left.loadCheckpoint(f, text), right.loadCheckpoint(f, text)];
    expect(a.state).not.toBe(b.state);
    for (const printed of [inspect(a), JSON.stringify(a), JSON.stringify(one.notices)])
      expect(printed).not.toContain(secret);
    stateOf(await left.resume(f, a, all(first.pendings)));
    expect(await rejection(right.resume(f, b, all(first.pendings)))).toMatchObject(decided);
  });
});
