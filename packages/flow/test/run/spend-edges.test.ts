// What spends, withdraws and recovers, where a store is moved or away at just that moment.
import {
  approve,
  DeferredApproval,
  identityPort,
  memoryApprovalStore,
  type ApprovalPort,
  type ApprovalRecords,
} from "@holdpoint/approvals";
import { Executor } from "@holdpoint/tools";
import { describe, expect, it } from "vitest";
import { z } from "zod";

import { answer, flow, memoryRunLog, replies } from "../../src/index.ts";
import { breakingStore } from "../support/breaking-store.ts";
import { effects } from "../support/effects.ts";
import { decided, one, State } from "../support/one-call.ts";
import { Said, Yes } from "../support/questions.ts";
import { keyring, no, paused, rejection, stateOf, waiting, world, yes } from "../support/world.ts";

const scope = "default";
const people = identityPort((credential) => ({ id: String(credential) }));
/** Yes, by somebody whom an identity port vouches for: others count in no quorum. */
const by = async (name: string) => approve({ by: await people.authenticate(name) });

/** A question and a gated call, side by side. */
function both() {
  const { log, gated } = effects();
  const f = flow("f", Said)
    .node("start", () => ({}))
    .node("ask", async (_, ctx) => void (log.push("ask"), await ctx.ask(Yes)), { asks: [Yes] })
    .call("pay", gated, { args: { n: 1 }, into: () => ({}) })
    .edge("start", "ask")
    .edge("start", "pay")
    .build();
  return { f, log };
}

/** The runner's port with other records in front of its own. */
function through(port: DeferredApproval, other: Partial<ApprovalRecords>): ApprovalPort {
  const { records } = port;
  return {
    request: (request, how) => port.request(request, how),
    records: {
      store: records.store,
      read: (...how) => records.read(...how),
      settle: (how) => records.settle(how),
      withdraw: (how) => records.withdraw(how),
      conclude: (how) => records.conclude(how),
      ...other,
    },
  };
}

describe("a spending commit that is refused", () => {
  it("FLOW-54 FLOW-59 takes in none of the answers that came together, and says which approval stands otherwise", async () => {
    for (const durable of [false, true]) {
      const { f, log } = both();
      const store = breakingStore();
      const { runner, port, outcomes } = world({ store, ...(durable && { log: memoryRunLog() }) });
      const first = waiting(await runner().run(f, { n: 1 }, { runId: "r" }));
      const [question, approval] = first.pendings;
      const reply = replies({ [question!.id]: answer(Yes, true), [approval!.id]: yes() });
      log.length = 0;
      store.meanwhile(() => port.records.decide({ scope, id: approval!.id, decision: no() }));
      const from = durable ? "r" : first.checkpoint;
      expect(await rejection(runner().resume(f, from, reply))).toMatchObject({
        ...decided,
        decision: { approved: false },
      });
      expect([log, await outcomes()]).toEqual([[], []]);
      const alone = replies({ [question!.id]: answer(Yes, true) });
      const still = waiting(await runner().resume(f, from, alone));
      expect(still.pendings.map(({ id }) => id)).toEqual([approval!.id]);
    }
  });

  it("FLOW-59 says that it may be tried again where the record has moved and is open still", async () => {
    for (const durable of [false, true]) {
      const { f, log } = one();
      const { runner, port, count } = world(durable ? { log: memoryRunLog() } : {});
      const first = paused(await runner().run(f, { n: 1 }, { runId: "r" }));
      const stale = through(port, {
        async settle(how) {
          const plan = await port.records.settle(how);
          if (plan.status !== "ready") return plan;
          return { ...plan, writes: plan.writes.map((write) => ({ ...write, expect: 7 })) };
        },
      });
      const moved = runner({ approvals: stale });
      const from = durable ? "r" : first.checkpoint;
      const reply = replies({ [first.pending.id]: yes() });
      expect(await rejection(moved.resume(f, from, reply))).toMatchObject({
        code: "store-unavailable",
        message: expect.stringContaining("is open again: try once more") as string,
      });
      expect([log, await count("pending")]).toEqual([[], 1]);
      stateOf(await runner().resume(f, from, reply));
      expect(log).toEqual(["gated(1)"]);
    }
  });

  it("APR-14 FLOW-59 of a vote that leaves a quorum open runs nothing, and is cast once more", async () => {
    const f = flow("f", State)
      .gate("look", { payload: (s) => s.n, quorum: 3 })
      .build();
    for (const durable of [false, true]) {
      const store = breakingStore();
      const { runner, port } = world({ store, ...(durable && { log: memoryRunLog() }) });
      const first = paused(await runner().run(f, { n: 1 }, { runId: "r" }));
      const { id } = first.pending;
      const vote = async (name: string) =>
        runner().resume(f, durable ? "r" : first.checkpoint, replies({ [id]: await by(name) }));
      const erin = await by("erin");
      store.meanwhile(() => port.records.decide({ scope, id, decision: erin }));
      expect(await rejection(vote("dana"))).toMatchObject({
        code: "store-unavailable",
        message: expect.stringContaining("while a vote was recorded") as string,
      });
      paused(await vote("dana"));
      stateOf(await vote("fred"));
    }
  });
});

describe("an answer to a record that the store does not hold", () => {
  it("FLOW-55 FLOW-59 is refused by its id, and nothing runs", async () => {
    for (const durable of [false, true]) {
      const { f, log } = one();
      const { runner } = world(durable ? { log: memoryRunLog() } : {});
      const first = paused(await runner().run(f, { n: 1 }, { runId: "r" }));
      const { id } = first.pending;
      const elsewhere = new DeferredApproval(memoryApprovalStore(), { keyring });
      const lost = runner({ approvals: elsewhere });
      for (const reply of [undefined, replies({ [id]: yes() })]) {
        const from = durable ? "r" : first.checkpoint;
        expect(await rejection(lost.resume(f, from, reply))).toMatchObject({
          code: "answer-unknown",
          data: { runId: "r", id },
        });
      }
      expect(log).toEqual([]);
    }
  });
});

describe("what is withdrawn", () => {
  it("FLOW-78 APR-20 is withdrawn from where it stands by then", async () => {
    const { f, log } = one();
    const store = breakingStore();
    const { runner, port, outcomes } = world({ store, log: memoryRunLog() });
    const { pending } = paused(await runner().run(f, { n: 1 }, { runId: "r" }));
    store.meanwhile(() => port.records.decide({ scope, id: pending.id, decision: yes() }));
    await runner().cancel(f, "r", { reason: "no need" });
    expect([log, await outcomes()]).toEqual([[], ["unused"]]);
  });

  it("FLOW-78 STORE-13 gives up where the record moves at every try, and is cancelled once it rests", async () => {
    const { f } = one();
    const { runner, port, outcomes } = world({ log: memoryRunLog() });
    paused(await runner().run(f, { n: 1 }, { runId: "r" }));
    const restless = through(port, {
      withdraw: async (how) =>
        (await port.records.withdraw(how)).map((write) => ({ ...write, expect: 7 })),
    });
    const cancel = (runs = runner()) => runs.cancel(f, "r", { reason: "no need" });
    expect(await rejection(cancel(runner({ approvals: restless })))).toMatchObject({
      code: "store-unavailable",
      message: expect.stringContaining("moves without an end") as string,
    });
    expect(await outcomes()).toEqual([]);
    await cancel();
    await cancel();
    expect(await outcomes()).toEqual(["cancelled"]);
  });

  it("FLOW-78 STORE-13 leaves a run as it stands where its store is away", async () => {
    for (const durable of [false, true]) {
      const { f, log } = one();
      const store = breakingStore();
      const { runner, outcomes } = world({ store, ...(durable && { log: memoryRunLog() }) });
      const first = paused(await runner().run(f, { n: 1 }, { runId: "r" }));
      store.fail("down");
      const how = { reason: "no need" };
      expect(await rejection(runner().cancel(f, first.checkpoint, how))).toMatchObject({
        code: "store-unavailable",
      });
      await runner().cancel(f, first.checkpoint, how);
      expect([log, await outcomes()]).toEqual([[], ["cancelled"]]);
    }
  });
});

describe("an approval that allowed nothing", () => {
  const Odd = z.object({ n: z.number(), odd: z.any() });

  /** A question whose answer makes what can't be sealed, before a call that was approved with it has run. */
  function odd() {
    const { log, gated } = effects();
    const f = flow("f", Odd)
      .node("start", () => ({}))
      .node("ask", async (_, ctx) => (await ctx.ask(Yes), { odd: () => 1 }), { asks: [Yes] })
      .call("pay", gated, { args: { n: 1 }, into: () => ({}) })
      .edge("start", "ask")
      .edge("start", "pay")
      .build();
    return { f, log };
  }

  it("APR-21 FLOW-26 of a durable run whose store is away then is put on record when it is taken up", async () => {
    const { f, log } = odd();
    const store = breakingStore();
    const { runner, outcomes } = world({ store, log: memoryRunLog(), concurrency: 1 });
    const first = waiting(await runner().run(f, { n: 1, odd: 0 }, { runId: "r" }));
    const [question, approval] = first.pendings;
    const reply = replies({ [question!.id]: answer(Yes, true), [approval!.id]: yes() });
    let commits = 0;
    const commit = store.commit.bind(store);
    store.commit = async (...how) => {
      commits += 1;
      if (commits === 2) store.fail("down");
      return commit(...how);
    };
    expect(await rejection(runner().resume(f, "r", reply))).toMatchObject({
      code: "store-unavailable",
    });
    expect([log, await outcomes()]).toEqual([[], ["undefined"]]);
    expect(await rejection(runner().adopt(f, "r"))).toMatchObject({ code: "state-not-sealable" });
    expect([log, await outcomes()]).toEqual([[], ["unused"]]);
  });

  it("APR-21 FLOW-12 of a portable run whose store is away then is told to the operator, and the run ends as it does", async () => {
    const { f, log } = one();
    const store = breakingStore();
    const { runner, logged, outcomes } = world({ store });
    const first = paused(await runner().run(f, { n: 1 }));
    const stop = new AbortController();
    const onEvent = ({ type }: { type: string }): void => {
      if (type !== "answered") return;
      store.fail("down");
      stop.abort();
    };
    expect(
      await rejection(
        runner({ onEvent }).resume(f, first.checkpoint, yes(), { signal: stop.signal }),
      ),
    ).toMatchObject({ code: "aborted" });
    expect(logged).toMatchObject([
      {
        message: "an unused approval could not be put on record as such",
        facts: { approvalId: first.pending.id },
      },
    ]);
    expect([log, await outcomes()]).toEqual([[], ["undefined"]]);
  });
});

describe("a spending that was announced", () => {
  const Pay = z.object({ n: z.number(), sum: z.number().optional() });

  /** A run whose process never got to the store with what it had announced: a decision of two people, on record. */
  async function announced() {
    const { log: done, tool } = effects();
    const pay = tool("pay", { confirm: (() => ({ quorum: 2 })) as never });
    const f = flow("f", Pay)
      .call("pay", pay, { args: { n: 1 }, into: ({ got }) => ({ sum: got }) })
      .build();
    const store = breakingStore();
    const made = world({ store, log: memoryRunLog() });
    const { runner, port } = made;
    const { id } = paused(await runner().run(f, { n: 1 }, { runId: "r" })).pending;
    for (const name of ["dana", "erin"])
      await port.records.decide({ scope, id, decision: await by(name) });
    store.fail("down");
    await rejection(runner().resume(f, "r"));
    return { ...made, f, done, store, id };
  }

  it("STORE-13 FLOW-77 is finished though a late vote moves the record in between", async () => {
    const { f, done, store, runner, port, id, outcomes } = await announced();
    let late: unknown;
    store.meanwhile(async () => {
      late = await rejection(port.records.decide({ scope, id, decision: await by("fred") }));
    });
    expect(stateOf(await runner().adopt(f, "r")).sum).toBe(10);
    expect(late).toMatchObject(decided);
    expect([done, await outcomes()]).toEqual([["pay(1)"], ["executed"]]);
  });

  it("STORE-13 FLOW-77 is not finished where somebody else spends the record in between", async () => {
    const { f, done, store, runner, port, id } = await announced();
    const { argumentsDigest } = (await port.records.read(scope, id))!;
    store.meanwhile(async () => {
      const plan = await port.records.settle({ scope, id, attemptId: "x", argumentsDigest });
      if (plan.status !== "ready") throw new Error(`it is ${plan.status}`);
      await store.commit("x", plan.writes);
    });
    paused(await runner().adopt(f, "r"));
    expect(await rejection(runner().resume(f, "r"))).toMatchObject(decided);
    expect(done).toEqual([]);
  });

  it("STORE-13 FLOW-77 gives up where the record moves at every try, and is finished once it rests", async () => {
    const { f, done, runner, port, outcomes } = await announced();
    const restless = through(port, {
      async settle(how) {
        const plan = await port.records.settle(how);
        if (plan.status !== "ready") return plan;
        return { ...plan, writes: plan.writes.map((write) => ({ ...write, expect: 7 })) };
      },
    });
    expect(await rejection(runner({ approvals: restless }).adopt(f, "r"))).toMatchObject({
      code: "store-unavailable",
      message: expect.stringContaining("moves without an end") as string,
    });
    expect(done).toEqual([]);
    expect(stateOf(await runner().adopt(f, "r")).sum).toBe(10);
    expect([done, await outcomes()]).toEqual([["pay(1)"], ["executed"]]);
  });

  /** Two payments side by side, of which one announcement tells. */
  async function announcedTwice() {
    const { log: done, gated } = effects();
    const f = flow("f", State)
      .node("start", () => ({}))
      .call("a", gated, { args: { n: 1 }, into: () => ({}) })
      .call("b", gated, { args: { n: 2 }, into: () => ({}) })
      .edge("start", "a")
      .edge("start", "b")
      .build();
    const store = breakingStore();
    const made = world({ store, log: memoryRunLog() });
    const { runner, port } = made;
    const { pendings } = waiting(await runner().run(f, { n: 1 }, { runId: "r" }));
    const ids = pendings.map(({ id }) => id);
    for (const id of ids) await port.records.decide({ scope, id, decision: yes() });
    store.fail("down");
    await rejection(runner().resume(f, "r"));
    return { ...made, f, done, store, ids };
  }

  it("STORE-13 FLOW-77 of several is finished in one commit: who announced it takes one row of it for all", async () => {
    const { f, done, store, runner, port, ids } = await announcedTwice();
    const spent: (readonly string[])[] = [];
    const commit: typeof store.commit = (attemptId, writes) => {
      const records = writes.filter(({ statement }) => statement === "approvals.put");
      spent.push(records.map(({ key }) => key));
      return store.commit(attemptId, writes);
    };
    const heard = through(port, { store: { ...store, commit } });
    stateOf(await runner({ approvals: heard }).adopt(f, "r"));
    expect(spent.filter((keys) => keys.length > 0)[0]).toEqual(ids);
    expect(done.toSorted()).toEqual(["gated(1)", "gated(2)"]);
  });

  it("STORE-13 FLOW-77 of several is not finished in part, where one of them is spent by somebody else", async () => {
    const { f, done, store, runner, port, ids } = await announcedTwice();
    const [first = "", second = ""] = ids;
    const { argumentsDigest } = (await port.records.read(scope, second))!;
    const plan = await port.records.settle({ scope, id: second, attemptId: "x", argumentsDigest });
    if (plan.status !== "ready") throw new Error(`it is ${plan.status}`);
    await store.commit("x", plan.writes);
    waiting(await runner().adopt(f, "r"));
    expect(await port.records.read(scope, first)).toMatchObject({ state: "decided" });
    expect(done).toEqual([]);
  });

  it("STORE-13 FLOW-20 APR-21 of a gate says that it was passed, in the commit that finishes it", async () => {
    const f = flow("f", State)
      .gate("look", { payload: (s) => s.n })
      .build();
    const store = breakingStore();
    const { runner, port, outcomes } = world({ store, log: memoryRunLog() });
    const { id } = paused(await runner().run(f, { n: 1 }, { runId: "r" })).pending;
    await port.records.decide({ scope, id, decision: yes() });
    store.fail("down");
    await rejection(runner().resume(f, "r"));
    expect(await outcomes()).toEqual([]);
    expect(stateOf(await runner().adopt(f, "r")).n).toBe(1);
    expect(await outcomes()).toEqual(["passed"]);
  });

  it("STORE-13 FLOW-56 is looked for in the runner's records, and not where a call brings its own", async () => {
    const own = new DeferredApproval(memoryApprovalStore(), { keyring });
    const executor = new Executor({ approvals: own });
    const { log, gated, other, tool } = effects();
    const loose = tool("loose", { confirm: true });
    const f = flow("f", State)
      .node("start", () => ({}))
      .call("pay", gated, { args: { n: 1 }, into: () => ({}) })
      .node("own", async (s, ctx) => void (await ctx.call(other, { n: s.n }, { executor })))
      .call("loose", loose, { args: { n: 3 }, into: () => ({}) })
      .edge("start", "pay")
      .edge("start", "own")
      .edge("start", "loose")
      .build();
    const store = breakingStore();
    const { runner, port } = world({ store, log: memoryRunLog() });
    /** As the runner's port, but for one tool of which nothing is filed. */
    const mixed: ApprovalPort = {
      records: port.records,
      async request(request, how) {
        if (request.tool !== "loose") return port.request(request, how);
        await how.prepare();
        return { status: "pending" };
      },
    };
    const by = () => runner({ approvals: mixed });
    const first = paused(await by().run(f, { n: 2 }, { runId: "r" }));
    const { id } = first.pendings.find((one) => one.tool === "gated")!;
    await port.records.decide({ scope, id, decision: yes() });
    store.fail("down");
    await rejection(by().resume(f, "r"));
    const second = paused(await by().adopt(f, "r"));
    const tools = second.pendings.map((one) => one.tool).toSorted();
    expect([tools, log]).toEqual([["loose", "other"], ["gated(1)"]]);
    const all = replies(Object.fromEntries(second.pendings.map((one) => [one.id, yes()])));
    stateOf(await by().resume(f, "r", all));
    expect(log.toSorted()).toEqual(["gated(1)", "loose(3)", "other(2)"]);
  });
});
