import {
  DeferredApproval,
  memoryApprovalStore,
  type ApprovalPort,
  type RecordState,
} from "@holdpoint/approvals";
import { Executor } from "@holdpoint/tools";
import { describe, expect, it } from "vitest";

import { flow, memoryRunLog, replies } from "../../src/index.ts";
import { breakingStore } from "../support/breaking-store.ts";
import { effects } from "../support/effects.ts";
import { decided, one, State } from "../support/one-call.ts";
import {
  asAnotherProcess,
  keyring,
  no,
  paused,
  rejection,
  stateOf,
  world,
  yes,
} from "../support/world.ts";

describe("an answer is settled as the store says", () => {
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

  it("FLOW-59 denies a durable run whose question was closed without a person, and lets no portable one go on", async () => {
    for (const durable of [true, false]) {
      const { log, f } = one();
      const store = memoryApprovalStore();
      const { runner, port } = world({ store, ...(durable && { log: memoryRunLog() }) });
      const first = paused(await runner().run(f, { n: 1 }, { runId: "r" }));
      const resume = (reply?: ReturnType<typeof yes>) =>
        durable
          ? runner().resume(f, "r", reply && replies({ [first.pending.id]: reply }))
          : runner().resume(f, first.checkpoint, reply);
      const closing = { scope: "default", id: first.pending.id, reason: "cancelled" } as const;
      await store.commit("c", await port.records.withdraw({ ...closing, attemptId: "c" }));
      expect(await rejection(resume(yes()))).toMatchObject(decided);
      const code = durable ? "approval-denied" : "approval-already-decided";
      expect(await rejection(resume())).toMatchObject({ code });
      expect(log).toEqual([]);
    }
  });

  it("FLOW-54 lets no durable run go on with an approval that was spent elsewhere, and denies it where a denial was", async () => {
    for (const isApproved of [true, false]) {
      const decision = isApproved ? yes() : no();
      const { log, f } = one();
      const store = memoryApprovalStore();
      const { runner, port } = world({ store, log: memoryRunLog() });
      const { id } = paused(await runner().run(f, { n: 1 }, { runId: "r" })).pending;
      const { argumentsDigest } = (await port.records.read("default", id))!;
      const spending = { scope: "default", id, attemptId: "x", argumentsDigest, decision };
      const settled = await port.records.settle(spending);
      if (settled.status !== "ready") throw new Error(`it is ${settled.status}, not ready`);
      await store.commit("x", settled.writes);
      const code = isApproved ? "approval-already-decided" : "approval-denied";
      expect(await rejection(runner().resume(f, "r"))).toMatchObject({ code });
      expect(log).toEqual([]);
    }
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
});
