import {
  approve,
  DeferredApproval,
  identityPort,
  memoryApprovalStore,
  memoryHome,
  type ApprovalPort,
  type ApprovalRule,
  type RecordState,
} from "@holdpoint/approvals";
import { defineTool, Executor } from "@holdpoint/tools";
import { describe, expect, it } from "vitest";
import { z } from "zod";

import { openCheckpoint } from "../../src/checkpoint/open.ts";
import { encodeState, sealRun } from "../../src/checkpoint/seal.ts";
import { graphOf } from "../../src/graph/flow.ts";
import { flow, FlowRunner, isFlowError, memoryRunLog, replies } from "../../src/index.ts";
import { spentMax, spentMs } from "../../src/limits.ts";
import { resolveOptions } from "../../src/run/options.ts";
import { takeOnce } from "../../src/run/spent.ts";
import { breakingStore } from "../support/breaking-store.ts";
import { effects } from "../support/effects.ts";
import {
  asAnotherProcess,
  dana,
  keyring,
  no,
  paused,
  recordlessPort,
  rejection,
  stateOf,
  world,
  yes,
} from "../support/world.ts";

const State = z.object({ n: z.number(), sum: z.number().optional() });
const decided = { code: "approval-already-decided" };

function one() {
  const { log, gated } = effects();
  const f = flow("f", State)
    .call("pay", gated, { args: (s) => ({ n: s.n }), into: (r) => ({ sum: r.got }) })
    .build();
  return { log, f };
}

describe("an answer is spent once", () => {
  it("FLOW-54 CASE-008 refuses a second resume, in this process and in another one", async () => {
    const { log, f } = one();
    const { runner, port, outcomes } = world();
    const first = paused(await runner().run(f, { n: 1 }));
    const text = runner().dumpCheckpoint(first.checkpoint);
    stateOf(await runner().resume(f, first.checkpoint, yes()));
    expect(await rejection(runner().resume(f, first.checkpoint, yes()))).toMatchObject(decided);
    expect(await rejection(runner().resume(f, first.checkpoint, no()))).toMatchObject(decided);
    asAnotherProcess();
    const other = runner();
    expect(await rejection(other.resume(f, other.loadCheckpoint(f, text), no()))).toMatchObject({
      ...decided,
      decision: { approved: true, by: { id: "dana" } },
    });
    expect(log).toEqual(["gated(1)"]);
    expect(await outcomes()).toEqual(["executed"]);
    const stands = await port.records.read("default", first.pending.id);
    expect(stands).toMatchObject({ state: "consumed", decision: { approved: true } });
  });

  it("FLOW-54 R026 lets one of 64 racing resumes run, whether or not the port keeps records", async () => {
    for (const approvals of [undefined, recordlessPort()]) {
      const { log, f } = one();
      const { runner } = world(approvals && { approvals });
      const first = paused(await runner().run(f, { n: 1 }));
      const ends = await Promise.allSettled(
        Array.from({ length: 64 }, () => runner().resume(f, first.checkpoint, yes())),
      );
      expect(ends.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
      const refused = ends.flatMap((end) =>
        end.status === "rejected" ? [end.reason as unknown] : [],
      );
      expect(refused).toHaveLength(63);
      for (const error of refused) expect(error).toMatchObject(decided);
      expect(log).toEqual(["gated(1)"]);
    }
  });

  it("FLOW-54 refuses a checkpoint whose other question was answered on another path, in any process", async () => {
    const { log, gated, other } = effects();
    const f = flow("f", State)
      .node("a", async (_, ctx) => {
        await Promise.all([ctx.call(gated, { n: 1 }), ctx.call(other, { n: 2 })]);
      })
      .build();
    const { runner } = world();
    const first = paused(await runner().run(f, { n: 1 }));
    const [a, b] = first.pendings.map(({ id }) => id) as [string, string];
    const second = paused(await runner().resume(f, first.checkpoint, replies({ [a]: yes() })));
    expect(
      await rejection(runner().resume(f, first.checkpoint, replies({ [b]: yes() }))),
    ).toMatchObject(decided);
    asAnotherProcess();
    expect(
      await rejection(runner().resume(f, first.checkpoint, replies({ [b]: yes() }))),
    ).toMatchObject(decided);
    expect(log).toEqual(["gated(1)"]);
    stateOf(await runner().resume(f, second.checkpoint, yes()));
    expect(log).toEqual(["gated(1)", "other(2)"]);
  });

  it("FLOW-54 refuses to go on without the records that a question was filed in", async () => {
    const { log, f } = one();
    const { runner, count } = world();
    const first = paused(await runner().run(f, { n: 1 }));
    const error = await rejection(
      runner({ approvals: recordlessPort() }).resume(f, first.checkpoint, yes()),
    );
    expect(error).toMatchObject({ code: "no-approver" });
    expect(await count("pending")).toBe(1);
    stateOf(await runner().resume(f, first.checkpoint, yes()));
    expect(log).toEqual(["gated(1)"]);
  });

  it("FLOW-54 refuses the loser of a race between processes, at the commit itself", async () => {
    const gate = flow("g", State)
      .gate("look", { payload: (s) => s.n })
      .build();
    for (const what of ["call", "gate", "withdrawn"] as const) {
      const { log, f } = one();
      const graph = what === "call" ? f : gate;
      const store = breakingStore();
      const { runner, port } = world({ store });
      const first = paused(await runner().run(graph, { n: 1 }));
      const scope = "default";
      const { id } = first.pending;
      store.meanwhile(async () => {
        asAnotherProcess();
        if (what !== "withdrawn") return runner().resume(graph, first.checkpoint, yes());
        const withdrawal = { scope, id, attemptId: "sweep", reason: "cancelled" } as const;
        return store.commit("sweep", await port.records.withdraw(withdrawal));
      });
      const error = await rejection(runner().resume(graph, first.checkpoint, yes()));
      expect(error).toMatchObject({ ...decided, decision: { approved: what !== "withdrawn" } });
      expect(log).toEqual(what === "call" ? ["gated(1)"] : []);
    }
  });

  it("FLOW-54 lets one of two racing resumes of a durable run go on, in one home and in two", async () => {
    for (const shared of [true, false]) {
      const { log, f } = one();
      const home = memoryHome();
      const store = shared ? memoryApprovalStore(home) : memoryApprovalStore();
      const { runner, outcomes } = world({ store, log: memoryRunLog(home) });
      const first = paused(await runner().run(f, { n: 1 }, { runId: "r" }));
      const reply = () => replies({ [first.pending.id]: yes() });
      const ends = await Promise.allSettled(
        Array.from({ length: 8 }, () => runner().resume(f, "r", reply())),
      );
      expect(ends.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
      const codes = ends.flatMap((end) =>
        end.status === "rejected" ? [(end.reason as { code: string }).code] : [],
      );
      const known = [
        "answer-unknown",
        "approval-already-decided",
        "revision-conflict",
        "resume-terminal",
      ];
      expect(codes.filter((code) => !known.includes(code))).toEqual([]);
      expect(log).toEqual(["gated(1)"]);
      expect(await outcomes()).toEqual(["executed"]);
      expect(await rejection(runner().run(f, { n: 1 }, { runId: "r" }))).toMatchObject({
        code: "run-exists",
      });
    }
  });

  it("FLOW-54 FLOW-59 gives a checkpoint back whose cancelling did not reach the store", async () => {
    const { log, f } = one();
    const store = breakingStore();
    const { runner, outcomes } = world({ store });
    const first = paused(await runner().run(f, { n: 1 }));
    store.fail("down");
    const failed = await rejection(runner().cancel(f, first.checkpoint, { reason: "no" }));
    expect(failed).toMatchObject({ code: "store-unavailable" });
    stateOf(await runner().resume(f, first.checkpoint, yes()));
    expect(log).toEqual(["gated(1)"]);
    expect(await outcomes()).toEqual(["executed"]);
  });

  it("FLOW-35 refuses a quorum where the port keeps no records to count by", async () => {
    const { tool, log } = effects();
    const pay = tool("pay", { confirm: () => ({ quorum: 2 }) });
    const f = flow("f", State)
      .call("pay", pay, { args: { n: 1 } })
      .build();
    const { runner } = world({ approvals: recordlessPort() });
    const first = paused(await runner().run(f, { n: 1 }));
    const people = identityPort((credential) => ({ id: String(credential) }));
    const by = await people.authenticate("erin");
    expect(await rejection(runner().resume(f, first.checkpoint, approve({ by })))).toMatchObject({
      code: "rule-invalid",
    });
    expect(log).toEqual([]);
  });

  it("FLOW-54 asks and spends through one port, also where the executor brings it", async () => {
    const { log, f } = one();
    const { port, runner, outcomes } = world();
    const executor = new Executor({ approvals: port });
    const own = new FlowRunner({ executor, keyring });
    const first = paused(await own.run(f, { n: 1 }));
    stateOf(await own.resume(f, first.checkpoint, yes()));
    expect(await outcomes()).toEqual(["executed"]);
    expect(log).toEqual(["gated(1)"]);
    expect(() => runner({ executor: new Executor() })).toThrow(/another approval port/);
  });

  it("FLOW-57 forgets after a day and at its bound, oldest first, and shares its memory between copies", () => {
    asAnotherProcess();
    expect(takeOnce("a", "resumed", 0)).toBeUndefined();
    expect(takeOnce("a", "resumed", spentMs - 1)).toBe("resumed");
    expect(takeOnce("a", "resumed", spentMs)).toBeUndefined();
    const shared = globalThis as { [place: symbol]: Map<string, unknown> };
    expect(shared[Symbol.for("@holdpoint/flow.spent")]!.has("a")).toBe(true);
    for (let index = 0; index < spentMax; index++) takeOnce(`k${index}`, "resumed", spentMs + 1);
    expect(shared[Symbol.for("@holdpoint/flow.spent")]!.size).toBe(spentMax);
    expect(takeOnce("a", "resumed", spentMs + 1)).toBeUndefined();
    asAnotherProcess();
  });

  it("FLOW-57 lets a checkpoint of a port without records through again once it is forgotten", async () => {
    const { log, f } = one();
    const { runner } = world({ approvals: recordlessPort() });
    const first = paused(await runner().run(f, { n: 1 }));
    stateOf(await runner().resume(f, first.checkpoint, yes()));
    asAnotherProcess();
    stateOf(await runner().resume(f, first.checkpoint, yes()));
    expect(log).toEqual(["gated(1)", "gated(1)"]); // the limit that the README names
  });

  it("FLOW-59 does not spend the checkpoint where the store can't be reached", async () => {
    const { log, f } = one();
    const store = breakingStore();
    const { runner } = world({ store });
    const first = paused(await runner().run(f, { n: 1 }));
    store.fail("down");
    expect(await rejection(runner().resume(f, first.checkpoint, yes()))).toMatchObject({
      code: "store-unavailable",
    });
    expect(log).toEqual([]);
    stateOf(await runner().resume(f, first.checkpoint, yes()));
    expect(log).toEqual(["gated(1)"]);
  });

  it("FLOW-59 learns what became of a settle whose answer was lost, before anything runs", async () => {
    const { log, f } = one();
    const store = breakingStore();
    const { runner, outcomes } = world({ store });
    const first = paused(await runner().run(f, { n: 1 }));
    store.fail("lost");
    stateOf(await runner().resume(f, first.checkpoint, yes()));
    expect(log).toEqual(["gated(1)"]);
    expect(await outcomes()).toEqual(["executed"]);
  });

  it("FLOW-59 runs nothing where it never learns it, and the approval counts as spent", async () => {
    const { log, f } = one();
    const store = breakingStore();
    const { runner } = world({ store });
    const first = paused(await runner().run(f, { n: 1 }));
    store.fail("lost", "lost", "lost", "lost", "lost");
    expect(await rejection(runner().resume(f, first.checkpoint, yes()))).toMatchObject({
      code: "store-unavailable",
    });
    expect(await rejection(runner().resume(f, first.checkpoint, yes()))).toMatchObject(decided);
    expect(log).toEqual([]);
  });

  it("FLOW-59 refuses an approval where the store says denied, and goes on with the store's decision", async () => {
    const { log, f } = one();
    const { runner, port, outcomes } = world();
    const first = paused(await runner().run(f, { n: 1 }));
    await port.records.decide({
      scope: "default",
      id: first.pending.id,
      decision: no("not today"),
    });
    expect(await rejection(runner().resume(f, first.checkpoint, yes()))).toMatchObject({
      ...decided,
      decision: { approved: false },
    });
    expect(await rejection(runner().resume(f, first.checkpoint))).toMatchObject({
      code: "approval-denied",
    });
    expect(log).toEqual([]);
    expect(await outcomes()).toEqual(["denied"]);
  });

  it("FLOW-55 settles at resume what was decided in the store", async () => {
    const { log, f } = one();
    const { runner, port, count, outcomes } = world();
    const first = paused(await runner().run(f, { n: 1 }));
    const still = paused(await runner().resume(f, first.checkpoint));
    expect(still.pending.id).toBe(first.pending.id);
    await port.records.decide({ scope: "default", id: first.pending.id, decision: yes() });
    expect(await count("decided")).toBe(1);
    stateOf(await runner().resume(f, still.checkpoint));
    expect(log).toEqual(["gated(1)"]);
    expect(await outcomes()).toEqual(["executed"]);
  });

  it("FLOW-55 refuses to go on where the store tells another story of an earlier answer", async () => {
    const { log, gated, other } = effects();
    const f = flow("f", State)
      .node("a", async (s, ctx) => {
        await ctx.call(gated, { n: s.n });
        await ctx.call(other, { n: s.n });
      })
      .build();
    const { runner, port, count } = world();
    const first = paused(await runner().run(f, { n: 1 }));
    const second = paused(await runner().resume(f, first.checkpoint, yes()));
    const spent = first.pending.id;
    const stands = await port.records.read("default", spent);
    if (stands?.state !== "consumed") throw new Error("it is not spent");
    const telling = (story: RecordState | undefined): ApprovalPort => ({
      request: (request, how) => port.request(request, how),
      records: {
        store: port.records.store,
        settle: (how) => port.records.settle(how),
        withdraw: (how) => port.records.withdraw(how),
        conclude: (how) => port.records.conclude(how),
        read: async (scope, id) => (id === spent ? story : port.records.read(scope, id)),
      },
    });
    const { argumentsDigest, decision } = stands;
    const edit = { arguments: { n: 9 } };
    for (const story of [
      { state: "pending", argumentsDigest }, // the store was set back to before the answer
      { state: "decided", argumentsDigest, decision },
      { ...stands, decision: { ...decision, approved: false } },
      { ...stands, decision: { ...decision, by: { ...decision.by, id: "erin" } } },
      { ...stands, decision: { ...decision, at: decision.at + 1 } },
      { ...stands, decision: { ...decision, edited: edit } },
    ] as const) {
      const other = runner({ approvals: telling(story) });
      expect(await rejection(other.resume(f, second.checkpoint, yes()))).toMatchObject({
        code: "checkpoint-rolled-back",
        data: { approvalId: spent },
      });
    }
    expect(await count("pending")).toBe(1);
    expect(log).toEqual(["gated(1)"]);
    // One that does not hold it at all: it was another port's.
    stateOf(await runner({ approvals: telling(undefined) }).resume(f, second.checkpoint, yes()));
    expect(log).toEqual(["gated(1)", "other(1)"]);
  });

  it("FLOW-56 settles a call's own approval in its own store", async () => {
    const { log, gated } = effects();
    const own = new DeferredApproval(memoryApprovalStore(), { keyring });
    const executor = new Executor({ approvals: own });
    const f = flow("f", State)
      .node("a", async (s, ctx) => ({ sum: (await ctx.call(gated, { n: s.n }, { executor })).got }))
      .build();
    const { runner, count } = world();
    const first = paused(await runner().run(f, { n: 1 }));
    expect(await count("pending")).toBe(0);
    expect(await own.records.read("default", first.pending.id)).toMatchObject({ state: "pending" });
    expect(stateOf(await runner().resume(f, first.checkpoint, yes())).sum).toBe(10);
    expect(await own.records.read("default", first.pending.id)).toMatchObject({
      state: "consumed",
      outcome: "executed",
    });
    expect(log).toEqual(["gated(1)"]);
    asAnotherProcess();
    const error = await rejection(runner().resume(f, first.checkpoint, yes()));
    expect(error).toMatchObject({
      code: "approval-denied",
      data: { reason: "approval-already-decided" },
    });
    expect(log).toEqual(["gated(1)"]);
  });

  it("FLOW-56 denies a call whose own store says otherwise", async () => {
    const { log, gated } = effects();
    const own = new DeferredApproval(memoryApprovalStore(), { keyring });
    const executor = new Executor({ approvals: own });
    const f = flow("f", State)
      .node("a", async (s, ctx) => {
        await ctx.call(gated, { n: s.n }, { executor });
      })
      .build();
    const { runner } = world();
    const first = paused(await runner().run(f, { n: 1 }));
    await own.records.decide({ scope: "default", id: first.pending.id, decision: no() });
    expect(await rejection(runner().resume(f, first.checkpoint, yes()))).toMatchObject({
      code: "approval-denied",
      data: { reason: "approval-already-decided" },
    });
    expect(log).toEqual([]);
  });

  it("FLOW-56 withdraws what it asked of a call's own store when the run fails", async () => {
    const { gated } = effects();
    const own = new DeferredApproval(memoryApprovalStore(), { keyring });
    const executor = new Executor({ approvals: own });
    const f = flow("f", State)
      .node("start", () => ({}))
      .node("asks", async (s, ctx) => {
        await ctx.call(gated, { n: s.n }, { executor });
      })
      .node("fails", () => {
        throw new Error("no");
      })
      .edge("start", "asks")
      .edge("start", "fails")
      .build();
    const { runner } = world();
    await rejection(runner().run(f, { n: 1 }));
    const [record] = (await own.records.list("default")).items;
    expect(await own.records.read("default", record!.id)).toMatchObject({
      state: "consumed",
      outcome: "cancelled",
    });
  });

  it("FLOW-66 CASE-074 keeps a waiting call gated though the tool's rule is gone", async () => {
    const { tool, log } = effects();
    let gate = true;
    const pay = tool("pay", { confirm: () => gate });
    const f = flow("f", State)
      .node("a", async (s, ctx) => {
        await Promise.all([ctx.call(pay, { n: s.n }), ctx.call(pay, { n: 2 })]);
      })
      .build();
    const { runner } = world();
    const first = paused(await runner().run(f, { n: 1 }));
    gate = false;
    expect(paused(await runner().resume(f, first.checkpoint)).pendings).toHaveLength(2);
    const [a] = first.pendings.map(({ id }) => id) as [string];
    const second = paused(await runner().resume(f, first.checkpoint, replies({ [a]: yes() })));
    expect(log).toEqual(["pay(1)"]);
    expect(await rejection(runner().resume(f, second.checkpoint, no()))).toMatchObject({
      code: "approval-denied",
    });
    expect(log).toEqual(["pay(1)"]);
  });

  it("FLOW-66 FLOW-38 asks again for a superseded call, with what was shown, though the rule is gone", async () => {
    const { log } = effects();
    let gate = true;
    let drawn = 0;
    const pay = defineTool({
      name: "pay",
      description: "pays",
      input: z.object({ n: z.number(), id: z.string().default(() => `id-${(drawn += 1)}`) }),
      confirm: () => gate,
      execute: ({ n, id }) => void log.push(`pay(${n}) ${id}`),
    });
    const f = flow("f", State)
      .node("a", async (_, ctx) => {
        await Promise.all([ctx.call(pay, { n: 1 }), ctx.call(pay, { n: 2 })]);
      })
      .build();
    const { runner } = world();
    const first = paused(await runner().run(f, { n: 1 }));
    const [a, b] = first.pendings.map(({ id }) => id) as [string, string];
    gate = false;
    const second = paused(
      await runner().resume(f, first.checkpoint, replies({ [a]: yes() }), {
        unanswered: "supersede",
      }),
    );
    expect(log).toEqual(["pay(1) id-1"]);
    expect(second.pendings).toHaveLength(1);
    expect(second.pending.id).not.toBe(b);
    expect(second.pending.request.arguments).toEqual({ n: 2, id: "id-2" });
    stateOf(await runner().resume(f, second.checkpoint, yes()));
    expect(log).toEqual(["pay(1) id-1", "pay(2) id-2"]);
  });

  it("CASE-022 refuses a late answer to a call that was denied, and leaves the new one waiting", async () => {
    const { log, gated } = effects();
    const f = flow("f", State)
      .node("a", async (_, ctx) => {
        await ctx.call(gated, { n: 1 }).catch(() => undefined);
        await ctx.call(gated, { n: 1 });
      })
      .build();
    const { runner, count } = world();
    const first = paused(await runner().run(f, { n: 1 }));
    const second = paused(await runner().resume(f, first.checkpoint, no()));
    expect(second.pending.id).not.toBe(first.pending.id);
    expect(second.pending.request.callId).not.toBe(first.pending.request.callId);
    expect(await rejection(runner().resume(f, first.checkpoint, yes()))).toMatchObject(decided);
    expect(
      await rejection(
        runner().resume(f, second.checkpoint, replies({ [first.pending.id]: yes() })),
      ),
    ).toMatchObject({
      code: "answer-unknown",
      data: { ids: [second.pending.id] },
    });
    expect(await count("pending")).toBe(1);
    expect(log).toEqual([]);
  });

  it("CASE-014 asks anew in each turn of a loop, and an answer reaches its own turn alone", async () => {
    const { log, gated } = effects();
    const f = flow("f", State)
      .call("ask", gated, { args: () => ({ n: 1 }) })
      .node("count", (s) => ({ n: s.n + 1 }))
      .edge("ask", "count")
      .route("count", ["ask", "$end"], (s) => (s.n < 3 ? "ask" : "$end"))
      .build();
    const { runner } = world();
    let result = await runner().run(f, { n: 0 });
    const ids: string[] = [];
    for (let turn = 0; turn < 3; turn++) {
      const wait = paused(result);
      ids.push(wait.pending.request.callId);
      expect(log).toHaveLength(turn);
      result = await runner().resume(f, wait.checkpoint, yes());
    }
    expect(stateOf(result).n).toBe(3);
    expect(new Set(ids).size).toBe(3);
  });

  it("FLOW-58 refuses a checkpoint in which something waits that names no tool", async () => {
    const { log, f } = one();
    const { runner, count } = world();
    const first = paused(await runner().run(f, { n: 1 }));
    const { parts } = resolveOptions({ keyring });
    const graph = graphOf(f);
    const { state } = openCheckpoint(graph, parts, runner().dumpCheckpoint(first.checkpoint), {
      scope: "default",
    });
    const [visit] = state.visits;
    if (visit?.status !== "waiting") throw new Error("it does not wait");
    const [wait] = visit.execution.waits;
    visit.execution.waits[0] = { ...wait!, facts: { ...wait!.facts, tool: "" } };
    const text = sealRun(encodeState(state, graph, parts), state, parts);
    expect(() => runner().loadCheckpoint(f, text)).toThrow(/names no tool/);
    expect(await count("pending")).toBe(1);
    expect(log).toEqual([]);
  });

  it("FLOW-35 checks the rule of a question that its port keeps no record of", async () => {
    const { tool, log } = effects();
    const people = identityPort((credential) => ({ id: String(credential) }));
    const rule: ApprovalRule = { approvers: ["erin"], excludeRequester: true };
    const pay = tool("pay", { confirm: () => rule });
    const f = flow("f", State)
      .call("pay", pay, { args: { n: 1 } })
      .build();
    const { runner } = world({ approvals: recordlessPort() });
    const first = paused(
      await runner().run(f, { n: 1 }, { requestedBy: { id: "rita", assurance: "verified" } }),
    );
    for (const by of [dana, await people.authenticate("fred")])
      expect(
        (await rejection(runner().resume(f, first.checkpoint, approve({ by })))).message,
      ).toContain("may not decide");
    stateOf(
      await runner().resume(
        f,
        first.checkpoint,
        approve({ by: await people.authenticate("erin") }),
      ),
    );
    expect(log).toEqual(["pay(1)"]);
  });

  it("FLOW-43 CASE-016 keeps the settings that a run began with, whoever goes on with it", async () => {
    const { gated } = effects();
    const f = flow("f", State)
      .call("ask", gated, { args: { n: 1 } })
      .node("count", (s) => ({ n: s.n + 1 }))
      .edge("ask", "count")
      .route("count", ["ask", "$end"], (s) => (s.n < 9 ? "ask" : "$end"))
      .build();
    const { runner } = world();
    let result = await runner({ visitsMax: 2 }).run(f, { n: 0 });
    result = await runner({ visitsMax: 50 }).resume(f, paused(result).checkpoint, yes());
    const error = await rejection(
      runner({ visitsMax: 50 }).resume(f, paused(result).checkpoint, yes()),
    );
    expect(error).toMatchObject({ code: "visit-budget", data: { node: "ask#3" } });
    expect(isFlowError(error, "visit-budget")).toBe(true);
  });
});
