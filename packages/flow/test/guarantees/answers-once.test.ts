import { memoryApprovalStore, memoryHome } from "@holdpoint/approvals";
import { Executor } from "@holdpoint/tools";
import { describe, expect, it } from "vitest";

import { openCheckpoint } from "../../src/checkpoint/open.ts";
import { encodeState, sealRun } from "../../src/checkpoint/seal.ts";
import { graphOf } from "../../src/graph/flow.ts";
import { flow, FlowRunner, memoryRunLog, replies } from "../../src/index.ts";
import { spentMax, spentMs } from "../../src/limits.ts";
import { resolveOptions } from "../../src/run/options.ts";
import { giveBack, takeOnce, usedBefore } from "../../src/run/spent.ts";
import { breakingStore } from "../support/breaking-store.ts";
import { effects } from "../support/effects.ts";
import { decided, one, State } from "../support/one-call.ts";
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

const resumed = { use: "resumed", stands: [] } as const;

describe("an answer is spent once", () => {
  it("FLOW-54 says what stands, and not what the second one said, where no record does", async () => {
    const { log, f } = one();
    const { runner } = world({ approvals: recordlessPort() });
    const first = paused(await runner().run(f, { n: 1 }));
    const denied = rejection(runner().resume(f, first.checkpoint, no("not today")));
    expect(await denied).toMatchObject({ code: "approval-denied" });
    expect(await rejection(runner().resume(f, first.checkpoint, yes()))).toMatchObject({
      ...decided,
      message: "the approval ask-1 is already denied",
      decision: { approved: false, by: { id: "dana" }, note: "not today" },
    });
    expect(log).toEqual([]);
  });

  it("FLOW-54 names the question that was answered, where the second one answers another", async () => {
    const { gated, other } = effects();
    const f = flow("f", State)
      .node("a", async (_, ctx) => {
        await Promise.all([ctx.call(gated, { n: 1 }), ctx.call(other, { n: 2 })]);
      })
      .build();
    const { runner } = world({ approvals: recordlessPort() });
    const first = paused(await runner().run(f, { n: 1 }));
    const [a, b] = first.pendings.map(({ id }) => id) as [string, string];
    paused(await runner().resume(f, first.checkpoint, replies({ [a]: yes() })));
    for (const reply of [{ [b]: no() }, { [b]: no(), [a]: no() }]) {
      const refused = await rejection(runner().resume(f, first.checkpoint, replies(reply)));
      expect(refused).toMatchObject({ ...decided, approvalId: a, decision: { approved: true } });
    }
  });

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
    expect(takeOnce("a", resumed, 0)).toBeUndefined();
    expect(takeOnce("a", resumed, spentMs - 1)?.use).toBe("resumed");
    expect(takeOnce("a", resumed, spentMs)).toBeUndefined();
    const shared = globalThis as { [place: symbol]: Map<string, unknown> };
    expect(shared[Symbol.for("@holdpoint/flow.spent")]!.has("a")).toBe(true);
    for (let index = 0; index < spentMax; index++) takeOnce(`k${index}`, resumed, spentMs + 1);
    expect(shared[Symbol.for("@holdpoint/flow.spent")]!.size).toBe(spentMax);
    expect(takeOnce("a", resumed, spentMs + 1)).toBeUndefined();
    asAnotherProcess();
  });

  it("FLOW-57 remembers who decided what, and none of the arguments that ran instead", () => {
    asAnotherProcess();
    const decision = { approved: true, by: dana, at: 1, note: "less", edited: { arguments: [1] } };
    takeOnce("a", { use: "resumed", stands: [{ id: "ask-1", decision }] }, 0);
    const kept = { approved: true, by: dana, at: 1, note: "less" };
    expect(takeOnce("a", resumed, 1)).toEqual({
      use: "resumed",
      stands: [{ id: "ask-1", decision: kept }],
    });
    asAnotherProcess();
  });

  it("FLOW-57 holds as many as its bound, the last ones, whatever was forgotten or given back before", () => {
    asAnotherProcess();
    const last = 2 * spentMax;
    for (let index = 0; index < last; index++) {
      takeOnce(`k${index}`, resumed, 0);
      if (index % 3 === 0) giveBack(`k${index}`);
    }
    const held = Array.from({ length: last }, (_, index) => index).filter(
      (index) => usedBefore(`k${index}`) !== undefined,
    );
    expect(held).toHaveLength(spentMax);
    expect(held.at(-1)).toBe(last - 1);
    expect(held[0]).toBe(last - 1.5 * spentMax);
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
    if (wait?.kind !== "approval") throw new Error("no approval waits");
    visit.execution.waits[0] = { ...wait, facts: { ...wait.facts, tool: "" } };
    const text = sealRun(encodeState(state, graph, parts), state, parts);
    expect(() => runner().loadCheckpoint(f, text)).toThrow(/names no tool/);
    expect(await count("pending")).toBe(1);
    expect(log).toEqual([]);
  });
});
