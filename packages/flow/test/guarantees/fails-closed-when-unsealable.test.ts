import { defineTool } from "@holdpoint/tools";
import { describe, expect, it } from "vitest";
import { z } from "zod";

import { flow, FlowRunner, type FlowRunnerOptions } from "../../src/index.ts";
import { breakingStore } from "../support/breaking-store.ts";
import { settle } from "../support/clock.ts";
import { effects } from "../support/effects.ts";
import { recordlessPort, rejection, stateOf, world } from "../support/world.ts";

const State = z.object({ n: z.number(), odd: z.any(), note: z.string().optional() });

class Stranger {
  readonly secret = "canary-4711";
}

/** What can't be sealed, each by another rule. */
const odd: Record<string, () => unknown> = {
  function: () => () => 1,
  symbol: () => Symbol("s"),
  instance: () => new Stranger(),
  cycle: () => {
    const ring: { self?: unknown } = {};
    ring.self = ring;
    return ring;
  },
  accessor: () => ({
    get x() {
      return 1;
    },
  }),
  promise: () => Promise.resolve(),
  error: () => new Error("x"),
  regexp: () => /x/,
  "weak map": () => new WeakMap(),
  "sparse array": () => Object.assign([], { 1: 1 }),
  "array subclass": () => new (class Items extends Array<number> {})(1, 2),
  "invalid date": () => new Date(Number.NaN),
  "date with more": () => Object.assign(new Date(5), { more: 1 }),
};

/** Arguments are read through the tool's schema, which leaves nothing odd of these. */
const readAsPlain = ["accessor", "date with more"];

const answer = () => ({ n: 1, odd: undefined });
const gatedTool = () => effects().gated;

describe("what can't be sealed fails the run closed", () => {
  for (const [kind, make] of Object.entries(odd)) {
    it(`FLOW-26 CASE-096 asks nobody at a gate or a tool over a state with a ${kind}, and names the path`, async () => {
      const gate = flow("f", State)
        .node("put", () => ({ odd: { deep: [make()] } }))
        .gate("look", { payload: (s) => s.n })
        .path("put", "look")
        .build();
      const call = flow("f", State)
        .node("put", () => ({ odd: { deep: [make()] } }))
        .call("pay", gatedTool(), { args: { n: 1 } })
        .path("put", "pay")
        .build();
      for (const f of [gate, call]) {
        const port = recordlessPort();
        const bare = world({ approvals: port });
        const error = await rejection(bare.runner().run(f, answer()));
        expect(error).toMatchObject({ code: "state-not-sealable", data: { flow: "f" } });
        expect(String(error.data!["path"])).toMatch(/odd\.deep/);
        expect(error.message).not.toContain("canary");
        expect(port.requests).toEqual([]);
        const kept = world();
        expect(await rejection(kept.runner().run(f, answer()))).toMatchObject({
          code: "state-not-sealable",
        });
        expect(await kept.port.records.list("default")).toMatchObject({ items: [] });
      }
    });

    it(`FLOW-26 FLOW-27 leaves no pending record where a ${kind} comes as a payload, an argument, a result or a sibling's update`, async () => {
      const { gated } = effects();
      const odds = defineTool({
        name: "odds",
        description: "gives what it should not",
        input: z.object({}),
        execute: () => ({ it: make() }),
      });
      const takes = defineTool({
        name: "takes",
        description: "takes anything",
        input: z.object({ it: z.any() }),
        confirm: true,
        execute: () => "took",
      });
      const late = defineTool({
        name: "late",
        description: "gives it later",
        input: z.object({}),
        execute: async () => (await settle(2), { it: make() }),
      });
      const flows = {
        payload: flow("f", State)
          .gate("look", { payload: () => ({ it: make() }) })
          .build(),
        argument: flow("f", State)
          .node("a", async (_, ctx) => {
            await ctx.call(takes, { it: make() }).catch(() => undefined);
          })
          .build(),
        "a call's result": flow("f", State)
          .node("a", async (_, ctx) => {
            await ctx.call(odds, {});
            await ctx.call(gated, { n: 1 });
          })
          .build(),
        "a step's result": flow("f", State)
          .node("a", async (_, ctx) => {
            await ctx.step("odd", () => ({ it: make() }));
            await ctx.call(gated, { n: 1 });
          })
          .build(),
        "the result of a call under way": flow("f", State)
          .node("a", async (_, ctx) => {
            await Promise.all([ctx.call(late, {}), ctx.call(gated, { n: 1 })]);
          })
          .build(),
        "a sibling's update": flow("f", State)
          .node("start", () => ({}))
          .call("asks", gated, { args: { n: 1 } })
          .node("other", async () => (await settle(2), { odd: make() }))
          .edge("start", "asks")
          .edge("start", "other")
          .build(),
      };
      for (const [where, f] of Object.entries(flows)) {
        if (where === "argument" && readAsPlain.includes(kind)) continue;
        const { runner, count, outcomes } = world();
        const error = await rejection(runner().run(f, answer()));
        expect(error, `in the ${where}`).toMatchObject({
          code: "state-not-sealable",
          data: { flow: "f" },
        });
        expect(await count("pending"), `in the ${where}`).toBe(0);
        for (const outcome of await outcomes())
          expect(outcome, `in the ${where}`).toBe("state-not-sealable");
      }
    });
  }

  it("FLOW-26 withdraws what was asked before a later part turned out unsealable", async () => {
    const { gated } = effects();
    const f = flow("f", State)
      .node("start", () => ({}))
      .call("asks", gated, { args: { n: 1 } })
      .node("other", async () => (await settle(3), { odd: () => 1 }))
      .edge("start", "asks")
      .edge("start", "other")
      .build();
    const { runner, outcomes } = world();
    const error = await rejection(runner().run(f, answer()));
    expect(error).toMatchObject({
      code: "state-not-sealable",
      data: { path: expect.stringContaining("odd") },
    });
    expect(await outcomes()).toEqual(["state-not-sealable"]);
  });

  it("FLOW-26 FLOW-45 tells the operator and the watchers where the port keeps no records to withdraw", async () => {
    const { gated } = effects();
    const f = flow("f", State)
      .node("start", () => ({}))
      .call("asks", gated, { args: { n: 1 } })
      .node("other", async () => (await settle(3), { odd: new Stranger() }))
      .edge("start", "asks")
      .edge("start", "other")
      .build();
    const { runner, logged, notices } = world({ approvals: recordlessPort() });
    await rejection(runner().run(f, answer(), { runId: "r" }));
    expect(logged).toEqual([
      {
        message: expect.stringContaining("could not be withdrawn"),
        facts: { approvalId: "ask-1", runId: "r", reason: "state-not-sealable" },
      },
    ]);
    expect(notices.filter(({ type }) => type === "approval.decided")).toMatchObject([
      { ids: ["ask-1"], withdrawn: false },
    ]);
    expect(JSON.stringify([logged, notices])).not.toContain("canary");
    expect(notices.at(-1)).toMatchObject({ type: "failed", code: "state-not-sealable" });
  });

  it("FLOW-26 seals nothing where the port answers at once", async () => {
    const { gated } = effects();
    const f = flow("f", State)
      .node("a", async (s, ctx) => {
        const { got } = await ctx.call(gated, { n: s.n });
        return { odd: () => got };
      })
      .call("b", gated, { args: { n: 2 } })
      .path("a", "b")
      .build();
    const approvals: FlowRunnerOptions["approvals"] = {
      request: async () => ({
        status: "decided",
        decision: { approved: true, by: { id: "rule", assurance: "none" }, at: 1 },
      }),
    };
    const state = stateOf(await world({ approvals }).runner().run(f, answer()));
    expect((state.odd as () => number)()).toBe(10);
  });

  it("FLOW-26 fails the run though the code would have caught it", async () => {
    const { gated } = effects();
    const f = flow("f", State)
      .node("a", async (_, ctx) => {
        await ctx.step("odd", () => new Stranger());
        try {
          await ctx.call(gated, { n: 1 });
        } catch {
          return { note: "swallowed" };
        }
        return {};
      })
      .build();
    const { runner, count } = world();
    expect(await rejection(runner().run(f, answer()))).toMatchObject({
      code: "state-not-sealable",
    });
    expect(await count("pending")).toBe(0);
  });

  it("FLOW-27 R144 leaves a marker that the call ran, fails the pause naming it, and runs it no second time", async () => {
    let ran = 0;
    const odds = defineTool({
      name: "odds",
      description: "gives what it should not",
      input: z.object({}),
      execute: () => {
        ran += 1;
        return { it: () => 1 };
      },
    });
    const { gated, log } = effects();
    const f = flow("f", State)
      .node("a", async (_, ctx) => {
        await ctx.call(odds, {});
        await ctx.call(gated, { n: 1 });
      })
      .build();
    const { runner, notices, count } = world();
    const error = await rejection(runner().run(f, answer()));
    expect(error.message).toContain("the result of 'odds' in a#1");
    expect(error).toMatchObject({
      code: "state-not-sealable",
      data: { call: "odds", node: "a#1", path: "it" },
    });
    expect(notices.filter(({ type }) => type === "call-unjournaled")).toMatchObject([
      { visit: "a#1", name: "odds" },
    ]);
    expect(await count("pending")).toBe(0);
    expect(ran).toBe(1);
    expect(log).toEqual([]);
  });

  it("FLOW-28 lets a run that never pauses hold anything", async () => {
    const { free } = effects();
    const f = flow("f", State)
      .node("a", async (_, ctx) => {
        const it = await ctx.step("odd", () => new Stranger());
        await ctx.call(free, { n: 1 });
        return { odd: { it, run: () => 5, at: Symbol.iterator } };
      })
      .node("b", (s) => ({ note: String((s.odd as { run: () => number }).run()) }))
      .path("a", "b")
      .build();
    const state = stateOf(await new FlowRunner().run(f, answer()));
    expect(state.note).toBe("5");
    expect((state.odd as { it: unknown }).it).toBeInstanceOf(Stranger);
  });

  it("FLOW-26 gives a withdrawal that the store does not take to the operator, and keeps the reason of the failure", async () => {
    const { gated } = effects();
    const store = breakingStore();
    const f = flow("f", State)
      .node("start", () => ({}))
      .call("asks", gated, { args: { n: 1 } })
      .node("other", async () => {
        await settle(3);
        store.fail("down", "down");
        return { odd: () => 1 };
      })
      .edge("start", "asks")
      .edge("start", "other")
      .build();
    const { runner, logged } = world({ store });
    expect(await rejection(runner().run(f, answer()))).toMatchObject({
      code: "state-not-sealable",
    });
    expect(logged).toMatchObject([{ facts: { reason: "state-not-sealable" } }]);
  });
});
