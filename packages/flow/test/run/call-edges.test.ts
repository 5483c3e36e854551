// Calls and gates whose ports answer in rare ways: at once and on record, without an id, without records, a moment too late.
import {
  DeferredApproval,
  memoryApprovalStore,
  type ApprovalPort,
  type ApprovalRequest,
  type Decision,
  type PortAnswer,
} from "@holdpoint/approvals";
import { defineTool, Executor } from "@holdpoint/tools";
import { describe, expect, it } from "vitest";
import { z } from "zod";

import { answer, appendWrite, flow, FlowRunner, memoryRunLog, replies } from "../../src/index.ts";
import { breakingStore } from "../support/breaking-store.ts";
import { settle } from "../support/clock.ts";
import { die, dying, State as Dying } from "../support/dying.ts";
import { effects } from "../support/effects.ts";
import { decided, one, State } from "../support/one-call.ts";
import { Said, Yes } from "../support/questions.ts";
import {
  dana,
  keyring,
  no,
  paused,
  recordlessPort,
  rejection,
  stateOf,
  waiting,
  world,
  yes,
} from "../support/world.ts";

/** A port whose records are decided the moment that they are filed, and before its answer is read something may happen. */
function promptPort(
  decision: Decision = yes(),
  between: (port: DeferredApproval, id: string) => Promise<unknown> = async () => undefined,
) {
  const port = new DeferredApproval(memoryApprovalStore(), { keyring });
  const prompt: ApprovalPort = {
    records: port.records,
    async request(request, how): Promise<PortAnswer> {
      const filed = await port.request(request, how);
      const id = filed.approvalId!;
      const said = await port.records.decide({ scope: "default", id, decision });
      if (said.status !== "decided") throw new Error(`it is ${said.status}`);
      await between(port, id);
      return { status: "decided", decision: said.decision, approvalId: id };
    },
  };
  const states = async () => {
    const { items } = await port.records.list("default", { limit: 10 });
    return Promise.all(
      items.map(async ({ id }) => {
        const stands = await port.records.read("default", id);
        return stands?.state === "consumed" ? String(stands.outcome) : String(stands?.state);
      }),
    );
  };
  return { port, prompt, states };
}

/** Spends a record under somebody else's attempt. */
async function spendElsewhere(port: DeferredApproval, id: string): Promise<void> {
  const { argumentsDigest } = (await port.records.read("default", id))!;
  const plan = await port.records.settle({ scope: "default", id, attemptId: "x", argumentsDigest });
  if (plan.status !== "ready") throw new Error(`it is ${plan.status}`);
  await port.records.store.commit("x", plan.writes);
}

/** One call of a node's code, by an executor of its own where one is given. */
function calling(executor?: Executor, tool = effects()) {
  const { log, gated } = tool;
  const f = flow("f", State)
    .node("a", async (s, ctx) => {
      const how = executor === undefined ? undefined : { executor };
      return { sum: (await ctx.call(gated, { n: s.n }, how)).got };
    })
    .build();
  return { f, log };
}

describe("a call whose port answers at once, and on record", () => {
  for (const durable of [false, true]) {
    const kind = durable ? "durable" : "portable";
    const logs = () => (durable ? { log: memoryRunLog() } : {});

    it(`APR-21 FLOW-54 spends that record and says how it ended: ${kind}`, async () => {
      const { prompt, states } = promptPort();
      const { f, log } = calling();
      const { runner } = world({ approvals: prompt, ...logs() });
      expect(stateOf(await runner().run(f, { n: 1 })).sum).toBe(10);
      expect([log, await states()]).toEqual([["gated(1)"], ["executed"]]);
    });

    it(`APR-21 FLOW-56 spends it in the own store of its call: ${kind}`, async () => {
      const { prompt, states } = promptPort();
      const { f, log } = calling(new Executor({ approvals: prompt }));
      const { runner, count } = world(logs());
      expect(stateOf(await runner().run(f, { n: 1 }, { runId: "r" })).sum).toBe(10);
      const history = durable ? await runner().history(f, "r") : [];
      expect(history.map(({ type }) => type)).not.toContain("approval-requested");
      expect([log, await states(), await count("consumed")]).toEqual([
        ["gated(1)"],
        ["executed"],
        0,
      ]);
    });

    it(`APR-21 FLOW-36 spends a denial as well: ${kind}`, async () => {
      for (const own of [false, true]) {
        const { prompt, states } = promptPort(no("too much"));
        const { f, log } = calling(own ? new Executor({ approvals: prompt }) : undefined);
        const { runner } = world({ ...(!own && { approvals: prompt }), ...logs() });
        expect(await rejection(runner().run(f, { n: 1 }))).toMatchObject({
          code: "approval-denied",
          data: { note: "too much", approvalId: expect.any(String) as string },
        });
        expect([log, await states()]).toEqual([[], ["denied"]]);
      }
    });

    it(`APR-20 FLOW-54 runs nothing where somebody else has spent it a moment before: ${kind}`, async () => {
      const { prompt } = promptPort(yes(), spendElsewhere);
      const { f, log } = calling();
      const { runner } = world({ approvals: prompt, ...logs() });
      expect(await rejection(runner().run(f, { n: 1 }))).toMatchObject(decided);
      expect(log).toEqual([]);
    });

    it(`APR-20 FLOW-36 leaves a denial alone that somebody else has spent: ${kind}`, async () => {
      const { prompt, states } = promptPort(no(), spendElsewhere);
      const { f, log } = calling();
      const { runner } = world({ approvals: prompt, ...logs() });
      expect(await rejection(runner().run(f, { n: 1 }))).toMatchObject({ code: "approval-denied" });
      expect([log, await states()]).toEqual([[], ["denied"]]);
    });

    it(`APR-21 withdraws an approval that its tool refuses right before it runs: ${kind}`, async () => {
      const { prompt, states } = promptPort();
      const tool = defineTool({
        name: "gated",
        description: "refuses",
        input: z.object({ n: z.number() }),
        output: z.object({ got: z.number() }),
        confirm: true,
        revalidate: () => ({ code: "sold-out" }),
        execute: () => ({ got: 1 }),
      });
      const { f } = calling(undefined, { ...effects(), gated: tool as never });
      const { runner } = world({ approvals: prompt, ...logs() });
      expect(await rejection(runner().run(f, { n: 1 }))).toMatchObject({ code: "node-failed" });
      expect(await states()).toEqual(["unused"]);
    });
  }

  it("FLOW-54 runs nothing where the record is not decided, whatever the answer says", async () => {
    const port = new DeferredApproval(memoryApprovalStore(), { keyring });
    const hasty: ApprovalPort = {
      records: port.records,
      async request(request, how): Promise<PortAnswer> {
        const { approvalId = "none" } = await port.request(request, how);
        const { approved, by } = yes() as never as { approved: boolean; by: typeof dana };
        return { status: "decided", decision: { approved, by, at: 1 }, approvalId };
      },
    };
    const { f, log } = calling();
    const { runner } = world({ approvals: hasty });
    expect(await rejection(runner().run(f, { n: 1 }))).toMatchObject({
      code: "store-unavailable",
      message: expect.stringContaining("is pending now") as string,
    });
    expect(log).toEqual([]);
  });

  it("FLOW-36 keeps a denial whose id is in no records that anybody could spend", async () => {
    const told = { approved: false, by: dana, at: 1 };
    const port = recordlessPort(() => ({ status: "decided", decision: told, approvalId: "ask-1" }));
    const { f, log } = calling();
    const { runner } = world({ approvals: port });
    expect(await rejection(runner().run(f, { n: 1 }))).toMatchObject({
      code: "approval-denied",
      data: { approvalId: "ask-1" },
    });
    expect(log).toEqual([]);
  });
});

describe("a call that was approved and is not run", () => {
  it("APR-21 FLOW-30 ends unused on its record where its tool refuses it after the resume", async () => {
    for (const durable of [false, true]) {
      let isOut = false;
      const ran: number[] = [];
      const tool = defineTool({
        name: "gated",
        description: "may be sold out",
        input: z.object({ n: z.number() }),
        output: z.object({ got: z.number() }),
        confirm: true,
        revalidate: () => (isOut ? { code: "sold-out" } : undefined),
        execute: ({ n }) => ({ got: ran.push(n) }),
      });
      const { f } = calling(undefined, { ...effects(), gated: tool as never });
      const { runner, outcomes } = world(durable ? { log: memoryRunLog() } : {});
      const first = paused(await runner().run(f, { n: 1 }));
      isOut = true;
      expect(await rejection(runner().resume(f, first.checkpoint, yes()))).toMatchObject({
        code: "node-failed",
        cause: { code: "revalidation-refused" },
      });
      expect([ran, await outcomes()]).toEqual([[], ["unused"]]);
    }
  });
});

describe("a call that brings its own port", () => {
  it("FLOW-56 is answered without records where that port keeps none", async () => {
    const port = recordlessPort();
    const { f, log } = calling(new Executor({ approvals: port }));
    const { runner, count } = world();
    const first = paused(await runner().run(f, { n: 1 }));
    expect(first.pending.id).toBe("ask-1");
    expect(stateOf(await runner().resume(f, first.checkpoint, yes())).sum).toBe(10);
    expect([log, await count("consumed")]).toEqual([["gated(1)"], 0]);
  });

  it("FLOW-54 FLOW-56 is not run where its records have gone out of reach", async () => {
    const own = new DeferredApproval(memoryApprovalStore(), { keyring });
    const executors = [
      new Executor({ approvals: own }),
      new Executor({ approvals: recordlessPort() }),
    ];
    const { log, gated } = effects();
    const f = flow("f", State)
      .node("a", async (s, ctx) => {
        await ctx.call(gated, { n: s.n }, { executor: executors[0]! });
      })
      .build();
    const { runner } = world();
    const first = paused(await runner().run(f, { n: 1 }));
    executors.shift();
    expect(await rejection(runner().resume(f, first.checkpoint, yes()))).toMatchObject({
      code: "no-approver",
      data: { approvalId: first.pending.id },
    });
    expect(log).toEqual([]);
  });

  it("FLOW-54 FLOW-56 is not run where its store is down, and that is no denial", async () => {
    const store = breakingStore();
    const own = new DeferredApproval(store, { keyring });
    const { f, log } = calling(new Executor({ approvals: own }));
    const { runner } = world();
    const first = paused(await runner().run(f, { n: 1 }));
    store.fail("down");
    expect(await rejection(runner().resume(f, first.checkpoint, yes()))).toMatchObject({
      code: "store-unavailable",
    });
    expect(log).toEqual([]);
  });

  it("FLOW-26 FLOW-56 tells an operator of a question of it that could not be withdrawn", async () => {
    const { gated } = effects();
    const executor = new Executor({ approvals: recordlessPort() });
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
    const { runner, logged } = world();
    await rejection(runner().run(f, { n: 1 }));
    expect(logged).toMatchObject([
      {
        message: expect.stringContaining("keeps no records") as string,
        facts: { approvalId: "ask-1" },
      },
    ]);
  });
});

describe("a call that brings its own port and dies with its process", () => {
  it("FLOW-56 FLOW-76 APR-21 says in that port's records how it ended when it runs again", async () => {
    for (const keeps of [true, false]) {
      const own = new DeferredApproval(memoryApprovalStore(), { keyring });
      const executor = new Executor({ approvals: keeps ? own : recordlessPort() });
      const { pay, entered } = dying({ idempotent: true, confirm: true });
      const f = flow("f", Dying)
        .node("a", async (_, ctx) => {
          const { paid } = await ctx.call(pay, { id: 7 }, { executor });
          return { note: `${paid}` };
        })
        .build();
      const { runner } = world({ log: memoryRunLog() });
      const { pending } = paused(await runner().run(f, { n: 1 }, { runId: "r" }));
      const reply = replies({ [pending.id]: yes() });
      await die((signal) => runner().resume(f, "r", reply, { signal }));
      expect(stateOf(await runner().adopt(f, "r")).note).toBe("7");
      expect(new Set(entered.map(({ key }) => key)).size).toBe(1);
      if (!keeps) continue;
      expect(await own.records.read("default", pending.id)).toMatchObject({
        state: "consumed",
        outcome: "executed",
      });
    }
  });
});

describe("a port that gives no id", () => {
  it("FLOW-55 is answered by the call's own id, and in this process once", async () => {
    const asked: ApprovalRequest[] = [];
    const port: ApprovalPort = {
      async request(request, how) {
        await how.prepare();
        asked.push(request);
        return { status: "pending" };
      },
    };
    const { f, log } = one();
    const { runner } = world({ approvals: port });
    const first = paused(await runner().run(f, { n: 1 }));
    expect(first.pending.id).toBe(asked[0]!.callId);
    const reply = replies({ [first.pending.id]: yes() });
    stateOf(await runner().resume(f, first.checkpoint, reply));
    expect(await rejection(runner().resume(f, first.checkpoint, reply))).toMatchObject(decided);
    expect(log).toEqual(["gated(1)"]);
    const durable = world({ approvals: port, log: memoryRunLog() });
    const { id } = paused(await durable.runner().run(f, { n: 1 }, { runId: "r" })).pending;
    stateOf(await durable.runner().resume(f, "r", replies({ [id]: yes() })));
    const history = await durable.runner().history(f, "r");
    expect(history.find(({ type }) => type === "call-finished")).toMatchObject({
      approval: { id },
    });
  });

  it("FLOW-26 leaves nothing to be withdrawn, and says so", async () => {
    const port: ApprovalPort = {
      ...promptPort().prompt,
      request: async (_, how) => (await how.prepare(), { status: "pending" }),
    };
    const { gated } = effects();
    const f = flow("f", State)
      .node("start", () => ({}))
      .call("asks", gated, { args: { n: 1 } })
      .node("fails", () => {
        throw new Error("no");
      })
      .edge("start", "asks")
      .edge("start", "fails")
      .build();
    const { runner, logged } = world({ approvals: port });
    expect(await rejection(runner().run(f, { n: 1 }))).toMatchObject({ code: "node-failed" });
    expect(logged).toMatchObject([{ facts: { reason: "cancelled" } }]);
  });
});

describe("a gate", () => {
  const gate = () =>
    flow("f", State)
      .gate("look", { payload: (s) => s.n })
      .build();

  it("FLOW-20 that takes no edits fails where its port answers at once with one", async () => {
    const edit = { approved: true, by: dana, at: 1, edited: { arguments: 5 } };
    const port = recordlessPort(() => ({ status: "decided", decision: edit }));
    const { runner } = world({ approvals: port });
    expect(await rejection(runner().run(gate(), { n: 1 }))).toMatchObject({
      code: "node-failed",
      cause: { code: "edits-not-allowed" },
    });
  });

  it("FLOW-20 APR-21 is passed once under a decision on record", async () => {
    for (const durable of [false, true]) {
      const { prompt, states } = promptPort();
      const { runner } = world({ approvals: prompt, ...(durable && { log: memoryRunLog() }) });
      expect(stateOf(await runner().run(gate(), { n: 1 })).n).toBe(1);
      expect(await states()).toEqual(["passed"]);
    }
  });

  it("FLOW-44 that is met by a resume whose runner has no port says who could not be asked", async () => {
    const f = flow("f", Said)
      .node("ask", async (_, ctx) => void (await ctx.ask(Yes)), { asks: [Yes] })
      .gate("look", { payload: (s) => s.n })
      .path("ask", "look")
      .build();
    const { runner } = world({ log: memoryRunLog() });
    const first = waiting(await runner().run(f, { n: 1 }, { runId: "r" }));
    const bare = new FlowRunner({ keyring });
    const text = runner().dumpCheckpoint(first.checkpoint);
    expect(
      await rejection(bare.resume(f, bare.loadCheckpoint(f, text), answer(Yes, true))),
    ).toMatchObject({ code: "no-approver", data: { flow: "f" } });
  });

  it("FLOW-72 whose question is on record, and not yet that it waits, asks nobody a second time", async () => {
    const log = memoryRunLog();
    const { runner, count } = world({ log });
    paused(await runner().run(gate(), { n: 1 }, { runId: "r" }));
    const history = await runner().history(gate(), "r");
    const asked = history.findIndex(({ type }) => type === "approval-requested");
    const rows = (await log.read("default", "r", 0, 100)).slice(0, asked + 1);
    const cut = memoryRunLog();
    await cut.commit(
      "copy",
      rows.map(({ revision, text }) => appendWrite("default", "r", revision, text)),
    );
    const { pendings } = paused(await runner({ log: cut }).adopt(gate(), "r"));
    expect([pendings.length, await count("pending")]).toEqual([1, 1]);
  });

  it("FLOW-07 is not waited for where the run is aborted while its port is asked", async () => {
    for (const when of ["at once", "later"] as const) {
      const stop = new AbortController();
      const filed: string[] = [];
      const { port, runner, outcomes, count } = world();
      const aborting: ApprovalPort = {
        records: port.records,
        async request(request, how) {
          if (when === "at once") stop.abort();
          const answer = await port.request(request, how);
          filed.push(answer.status);
          stop.abort();
          return answer;
        },
      };
      const running = runner({ approvals: aborting }).run(
        gate(),
        { n: 1 },
        { signal: stop.signal },
      );
      expect(await rejection(running)).toMatchObject({ code: "aborted" });
      await settle();
      // One that hears of the abort before it files anything has asked nobody.
      const left = when === "at once" ? [] : ["cancelled"];
      expect([filed, await count("pending"), await outcomes()]).toEqual([["pending"], 0, left]);
    }
  });

  it("FLOW-07 is not waited for either where its port never answers, whenever the run is aborted", async () => {
    for (const when of ["at once", "later"] as const) {
      const stop = new AbortController();
      const silent: ApprovalPort = {
        request: () => {
          if (when === "at once") stop.abort();
          else queueMicrotask(() => stop.abort());
          return new Promise<never>(() => {});
        },
      };
      const { runner } = world({ approvals: silent });
      const running = runner().run(gate(), { n: 1 }, { signal: stop.signal });
      expect(await rejection(running)).toMatchObject({ code: "aborted" });
    }
  });

  it("FLOW-07 FLOW-72 of a durable run that is aborted so keeps its question, and of a port without an id nothing is withdrawn", async () => {
    const stop = new AbortController();
    const { port, runner, count } = world({ log: memoryRunLog() });
    const aborting: ApprovalPort = {
      records: port.records,
      async request(request, how) {
        const answer = await port.request(request, how);
        stop.abort();
        return answer;
      },
    };
    const running = runner({ approvals: aborting }).run(
      gate(),
      { n: 1 },
      { runId: "r", signal: stop.signal },
    );
    expect(await rejection(running)).toMatchObject({ code: "aborted" });
    await settle();
    expect(await count("pending")).toBe(1);
    paused(await runner().adopt(gate(), "r"));
    expect(await count("pending")).toBe(1);

    for (const answer of [
      { status: "pending" },
      { status: "pending", approvalId: "ask-1" },
      { status: "decided", decision: { approved: true, by: dana, at: 1 } },
    ] as const) {
      const later = new AbortController();
      const bare: ApprovalPort = { request: async () => (later.abort(), answer) };
      const { runner: other, logged } = world({ approvals: bare });
      expect(
        await rejection(other().run(gate(), { n: 1 }, { signal: later.signal })),
      ).toMatchObject({ code: "aborted" });
      await settle();
      expect(logged).toEqual([]);
    }
  });
});
