import {
  type ApprovalPort,
  type ApprovalRecords,
  type CommitOutcome,
  type DecisionRecord,
  DeferredApproval,
  memoryApprovalStore,
  type SettlePlan,
} from "@holdpoint/approvals";
import { describe, expect, it } from "vitest";
import { z } from "zod";

import {
  type AnyTool,
  type CallOrder,
  defineTool,
  type Dispatch,
  Executor,
  type RecordedCall,
  type ToolEvent,
} from "../src/index.ts";
import { handClock } from "./support/hand-clock.ts";
import { orderOf } from "./support/orders.ts";
import { approved, decision, scriptedPort } from "./support/ports.ts";

const input = z.object({ cents: z.int(), id: z.string().default(() => crypto.randomUUID()) });

/** A tool and ports that note each step as it is taken. */
function traced(more: object = {}) {
  const steps: string[] = [];
  const tool = defineTool({
    name: "pay",
    description: "",
    input: input.refine(() => steps.push("arguments")),
    output: z.string().refine(() => steps.push("output")),
    confirm: () => {
      steps.push("confirm");
      return true;
    },
    revalidate: () => void steps.push("revalidate"),
    execute: () => {
      steps.push("execute");
      return "done";
    },
    ...more,
  });
  const approvals = scriptedPort(() => {
    steps.push("port");
    return approved();
  });
  const executor = new Executor({
    approvals,
    clock: handClock(),
    guards: [
      { name: "g", check: () => void steps.push("guard"), charge: () => void steps.push("charge") },
    ],
    ledger: { record: () => void steps.push("ledger") },
    listeners: [({ kind }) => void steps.push(kind)],
  });
  const order = (recorded?: RecordedCall) =>
    orderOf(
      tool,
      { cents: 1 },
      {
        dispatch: () => void steps.push("dispatch"),
        ...(recorded && { recorded }),
      },
    );
  return { steps, tool, approvals, executor, order };
}

describe("a call", () => {
  it("TOOL-02 takes its steps in one order", async () => {
    const { steps, executor, order } = traced();
    expect(await executor.run(order())).toEqual({ status: "ok", value: "done" });
    expect(steps).toEqual([
      "arguments",
      "guard",
      "confirm",
      "requested",
      "port",
      "decided",
      "confirm",
      "revalidate",
      "charge",
      "dispatch",
      "started",
      "execute",
      "output",
      "ledger",
      "finished",
    ]);
  });

  it("TOOL-02 never shows arguments that fail validation to a guard, a person or the tool", async () => {
    const { steps, executor, tool } = traced();
    const outcome = await executor.run(orderOf(tool, { cents: "1" }));
    expect(outcome).toMatchObject({
      status: "failed",
      executed: false,
      error: {
        code: "arguments-invalid",
        message:
          "the arguments of 'pay' are not valid: cents: Invalid input: expected number, received string",
        attributes: { tool: "pay", issues: [{ path: "cents", message: expect.any(String) }] },
      },
    });
    expect(steps).toEqual(["failed"]);
  });

  it("TOOL-02 asks nobody where the rule says so, and hands over to the runner all the same", async () => {
    for (const confirm of [false, () => false]) {
      const { steps, executor, order, approvals } = traced({ confirm });
      expect((await executor.run(order())).status).toBe("ok");
      expect(approvals.requests).toEqual([]);
      expect(steps).toContain("dispatch");
    }
  });

  it("TOOL-09 shows the way to a person that it takes", () => {
    const approvals = scriptedPort();
    expect(new Executor({ approvals }).approvals).toBe(approvals);
    expect(new Executor().approvals).toBeUndefined();
  });

  it("TOOL-02 asks by the rule, with what the runner knows", async () => {
    const rule = { quorum: 2, title: "Refund" };
    const { executor, approvals, tool } = traced({ confirm: () => rule });
    const order = orderOf(
      tool,
      { cents: 1, id: "x" },
      { requestedBy: { id: "sam", assurance: "none" } },
    );
    await executor.run(order);
    expect(approvals.requests[0]).toMatchObject({
      kind: "tool",
      tool: "pay",
      scope: "default",
      runId: "run-1",
      node: "pay#1",
      callId: order.callId(),
      argumentKey: order.argumentKey(),
      requestedBy: { id: "sam" },
      rule,
      requestedAt: 1_000_000,
    });
    expect(approvals.requests[0]?.arguments).toEqual({ cents: 1, id: "x" });
  });

  it("TOOL-02 refuses at once what the rule forbids, and what has no approver", async () => {
    const { steps, executor, order, tool } = traced({ confirm: () => ({ forbid: "embargo" }) });
    expect(await executor.run(order())).toMatchObject({
      executed: false,
      error: {
        code: "rule-forbids",
        message: "the rule of 'pay' forbids this call: embargo",
        attributes: { reason: "embargo" },
      },
    });
    expect(steps).not.toContain("execute");
    const held = traced();
    expect(await new Executor().run(held.order())).toMatchObject({
      executed: false,
      error: { code: "no-approver" },
    });
    expect(tool.name).toBe("pay");
  });

  it("TOOL-02 gives what waits and what was denied as outcomes; nothing runs", async () => {
    const { steps, tool } = traced();
    const waiting = new Executor({
      approvals: scriptedPort({ status: "pending", approvalId: "a1" }),
    });
    const outcome = await waiting.run(orderOf(tool, { cents: 1, id: "x" }));
    expect(outcome).toMatchObject({
      status: "pending",
      approvalId: "a1",
      request: { tool: "pay" },
    });
    const no = decision({ approved: false });
    const denying = new Executor({
      approvals: scriptedPort({ status: "decided", decision: no, approvalId: "a1" }),
    });
    const order = orderOf(tool, { cents: 1 });
    expect(await denying.run(order)).toEqual({ status: "denied", decision: no, approvalId: "a1" });
    expect(order.dispatched).toEqual([]);
    expect(steps).not.toContain("execute");
  });

  it("TOOL-02 gives the arguments of an earlier draw where the port has them on record, waiting or decided", async () => {
    const recorded = { arguments: { cents: 1, id: "first draw" }, argumentsDigest: "d" };
    const ran: unknown[] = [];
    const { tool } = traced({ execute: (args: unknown) => (ran.push(args), "done") });
    const approvals = scriptedPort({ status: "pending", recorded }, { ...approved(), recorded });
    const executor = new Executor({ approvals, clock: handClock() });
    const waits = await executor.run(orderOf(tool, { cents: 1 }));
    expect(waits.status === "pending" && waits.request.arguments).toEqual(recorded.arguments);
    expect((await executor.run(orderOf(tool, { cents: 1 }))).status).toBe("ok");
    expect(ran).toEqual([recorded.arguments]);
  });

  it("TOOL-02 fails a call whose result does not fit, after it ran", async () => {
    const { executor, order } = traced({ execute: () => 5 });
    expect(await executor.run(order())).toMatchObject({
      executed: true,
      error: {
        name: "ToolOutputError",
        code: "output-invalid",
        attributes: { issues: [{ path: "" }] },
      },
    });
  });

  it("TOOL-02 reads asynchronous schemas, on both sides", async () => {
    let checks = 0;
    const slow = z.string().refine(async () => ++checks > 0);
    const tool = defineTool({
      name: "t",
      description: "",
      input: slow,
      output: slow,
      execute: (text) => text,
    });
    const executor = new Executor();
    expect(await executor.call(tool, "a")).toBe("a");
    checks = 0;
    expect(await executor.call(tool, "a")).toBe("a");
    expect(checks).toBe(2);
    await expect(executor.call(tool, 5 as never)).rejects.toMatchObject({
      code: "arguments-invalid",
    });
  });

  it("TOOL-02 makes a failure of what rules, guards, schemas and ports throw", async () => {
    const boom = () => {
      throw new RangeError("boom");
    };
    const failed = {
      status: "failed",
      executed: false,
      error: { name: "RangeError", message: "boom" },
    };
    for (const more of [{ confirm: boom }, { cost: boom }, { input: z.any().transform(boom) }]) {
      const { executor, tool } = traced(more);
      expect(await executor.run(orderOf(tool, { cents: 1 }))).toMatchObject(failed);
    }
    const { order } = traced();
    for (const options of [
      { guards: [{ name: "g", check: boom }] },
      { approvals: scriptedPort(boom) },
      { offers: boom },
    ]) {
      expect(await new Executor(options).run(order())).toMatchObject(failed);
    }
  });

  it("CASE-064 TOOL-12 runs no tool that is not offered, at the start or by its dispatch", async () => {
    const { order, steps } = traced();
    let offered = false;
    const approvals = scriptedPort(() => {
      offered = false;
      return approved();
    });
    const executor = new Executor({ approvals, offers: () => offered, clock: handClock() });
    expect(await executor.run(order())).toMatchObject({
      executed: false,
      error: { code: "tool-withdrawn" },
    });
    offered = true;
    expect(await executor.run(order())).toEqual({
      status: "failed",
      executed: false,
      error: expect.objectContaining({ code: "tool-withdrawn" }),
      unused: { approvalId: undefined, reason: "cancelled" },
    });
    expect(steps).not.toContain("execute");
  });
});

describe("a call on record", () => {
  const args = { cents: 7, id: "recorded" };

  it("FLOW-35 runs with what was shown, without being validated, guarded or asked for anew", async () => {
    const { steps, executor, order } = traced({ confirm: () => false });
    const given = order({ arguments: args, gated: true, approvalId: "a1", decision: decision() });
    expect((await executor.run(given)).status).toBe("ok");
    expect(steps).toEqual([
      "revalidate",
      "charge",
      "dispatch",
      "started",
      "execute",
      "output",
      "ledger",
      "finished",
    ]);
  });

  it("FLOW-39 runs with the decided edit", async () => {
    const edited = { arguments: { cents: 9, id: "edited" } };
    const { executor, tool } = traced();
    const recorded = { arguments: args, gated: true, decision: decision({ edited }) };
    const order = orderOf(tool, { cents: 1 }, { recorded });
    expect((await executor.run(order)).status).toBe("ok");
    expect(order.dispatched[0]?.arguments).toEqual(edited.arguments);
  });

  it("FLOW-35 gives the recorded denial", async () => {
    const { executor, order, steps } = traced();
    const no = decision({ approved: false });
    const outcome = await executor.run(
      order({ arguments: args, gated: true, approvalId: "a1", decision: no }),
    );
    expect(outcome).toEqual({ status: "denied", decision: no, approvalId: "a1" });
    expect(steps).toEqual([]);
  });

  it("FLOW-35 FLOW-66 is gated if it was, whatever the rule says now, and asks with the recorded arguments", async () => {
    for (const confirm of [undefined, false, () => false]) {
      const { executor, order, approvals } = traced({ confirm });
      const outcome = await executor.run(
        order({ arguments: args, gated: true, rule: { quorum: 3 } }),
      );
      expect(outcome.status).toBe("ok");
      expect(approvals.requests[0]?.arguments).toEqual(args);
      expect(approvals.requests[0]?.rule).toEqual({ quorum: 3 });
    }
    const free = traced({ confirm: () => false });
    await free.executor.run(free.order({ arguments: args, gated: true }));
    expect(free.approvals.requests[0]?.rule).toEqual({});
    const { executor, order, approvals } = traced({ confirm: () => ({ title: "now" }) });
    await executor.run(order({ arguments: args, gated: true }));
    expect(approvals.requests[0]?.rule).toEqual({ title: "now" });
  });

  it("FLOW-35 is not gated if it was not, and is charged no second time", async () => {
    const { executor, order, steps } = traced();
    expect((await executor.run(order({ arguments: args, gated: false }))).status).toBe("ok");
    expect(steps).toEqual([
      "confirm",
      "revalidate",
      "dispatch",
      "started",
      "execute",
      "output",
      "ledger",
      "finished",
    ]);
  });

  it("R100 TOOL-12 is refused by a rule that forbids it now, gated or not", async () => {
    for (const recorded of [
      { arguments: args, gated: true, approvalId: "a1", decision: decision() },
      { arguments: args, gated: false },
    ]) {
      const { executor, order, steps } = traced({ confirm: () => ({ forbid: "embargo" }) });
      const outcome = await executor.run(order(recorded));
      expect(outcome).toMatchObject({ executed: false, error: { code: "rule-forbids" } });
      expect("unused" in outcome ? outcome.unused : undefined).toEqual(
        recorded.gated ? { approvalId: "a1", reason: "cancelled" } : undefined,
      );
      expect(steps).not.toContain("execute");
    }
  });

  it("CASE-064 TOOL-12 is refused where its arguments change on the way", async () => {
    const { executor, order } = traced({
      confirm: (given: { cents: number }) => {
        given.cents += 1;
        return true;
      },
    });
    expect(
      await executor.run(order({ arguments: { ...args }, gated: true, decision: decision() })),
    ).toMatchObject({
      executed: false,
      error: { code: "arguments-changed" },
      unused: { reason: "superseded" },
    });
    expect(await executor.run(order())).toMatchObject({ error: { code: "arguments-changed" } });
  });

  it("CASE-064 TOOL-12 is refused where what was shown changes between the port's answer and execution", async () => {
    type Change = (given: Record<string, unknown>) => void;
    const changes: readonly [string, Change][] = [
      ["a value", (given) => (given["n"] = 2)],
      ["a property more", (given) => (given["more"] = 1)],
      ["a property less", (given) => delete given["n"]],
      ["another property", (given) => (delete given["n"], (given["m"] = 1))],
      ["deep down", (given) => (given["list"] as unknown[]).push(1)],
      ["a kind", (given) => (given["list"] = { ...(given["list"] as object) })],
      ["a prototype only", (given) => (given["o"] = Object.create(null))],
      ["an object for a value", (given) => (given["n"] = {})],
      ["a value for an object", (given) => (given["o"] = 1)],
      ["nothing", () => undefined],
      ["a date", (given) => (given["at"] as Date).setTime(9)],
    ];
    for (const [what, change] of changes) {
      let shown: unknown;
      const at = what === "a date" ? { at: new Date(5) } : {};
      const tool = defineTool({
        name: "t",
        description: "",
        input: z.any(),
        confirm: (given: Record<string, unknown>) => {
          if (shown === given) change(given);
          shown = given;
          return true;
        },
        execute: () => 1,
      });
      const executor = new Executor({ approvals: scriptedPort(approved()), clock: handClock() });
      const passed = { n: 1, list: [{ a: [] }], o: {}, u: undefined, ...at };
      const outcome = await executor.run(orderOf(tool, passed));
      const same = ["nothing", "a prototype only"].includes(what); // the second seals the same
      const expected = same ? { status: "ok" } : { error: { code: "arguments-changed" } };
      expect([what, outcome]).toMatchObject([what, expected]);
    }
  });

  it("CASE-064 TOOL-12 is refused past the time of its rule, by the runner's word of it or the tool's", async () => {
    const late = decision({ at: 1_000_000 - 5000 });
    for (const [rule, confirm] of [
      [{ useWithinMs: 5000 }, true],
      [undefined, () => ({ useWithinMs: 5000 })],
    ] as const) {
      const { executor, order } = traced({ confirm });
      const recorded = { arguments: args, gated: true, decision: late, ...(rule && { rule }) };
      expect(await executor.run(order(recorded))).toMatchObject({
        error: { code: "approval-stale" },
      });
    }
  });

  it("CASE-068 APR-03 is refused where its edit is not what the schema could have made", async () => {
    const { executor, order } = traced();
    const recorded = (edit: unknown) => ({
      arguments: args,
      gated: true,
      decision: decision({ edited: { arguments: edit } }),
    });
    for (const edit of [{ cents: "9", id: "x" }, { cents: 9 }, 5]) {
      expect(await executor.run(order(recorded(edit)))).toMatchObject({
        executed: false,
        error: { code: "edit-invalid" },
        unused: { reason: "superseded" },
      });
    }
  });

  it("APR-03 is refused where a default would fill in what its edit lacks", async () => {
    const tool = defineTool({
      name: "t",
      description: "",
      input: z.object({
        cents: z.int(),
        to: z.object({ name: z.string() }).default({ name: "a" }),
        at: z.date().optional(),
      }),
      confirm: true,
      execute: () => 1,
    });
    const executor = new Executor({ clock: handClock() });
    const run = (edit: unknown) => {
      const recorded = {
        arguments: {},
        gated: true,
        decision: decision({ edited: { arguments: edit } }),
      };
      return executor.run(orderOf(tool, { cents: 1 }, { recorded }));
    };
    expect(await run({ cents: 1 })).toMatchObject({ error: { code: "edit-invalid" } });
    expect((await run({ cents: 1, to: { name: "b" } })).status).toBe("ok");
    expect((await run({ cents: 1, to: { name: "b" }, at: new Date(1) })).status).toBe("ok");
  });

  it("APR-03 takes an edit by what the schema makes, not by what it takes: it was validated when it was decided", async () => {
    const ran: unknown[] = [];
    const made = defineTool({
      name: "m",
      description: "",
      input: z.object({
        at: z.codec(z.string(), z.date(), {
          decode: (s) => new Date(s),
          encode: (d) => d.toJSON(),
        }),
        n: z.string().transform((text) => text.length),
        name: z.string().overwrite((text) => `${text}!`),
      }),
      confirm: true,
      execute: (given) => void ran.push(given),
    });
    const edit = { at: new Date(5), n: 3, name: "x!" };
    const recorded = {
      arguments: edit,
      gated: true,
      decision: decision({ edited: { arguments: edit } }),
    };
    const executor = new Executor({ clock: handClock() });
    expect(
      (await executor.run(orderOf(made, { at: "", n: "", name: "" }, { recorded }))).status,
    ).toBe("ok");
    expect(ran[0]).toBe(edit);
  });

  it("APR-03 takes an edit of a schema that can't say what it makes as it was decided", async () => {
    const schema = {
      "~standard": { version: 1, vendor: "t", validate: () => ({ issues: [{ message: "no" }] }) },
    } as never;
    const tool: AnyTool = defineTool({
      name: "s",
      description: "",
      input: schema,
      confirm: true,
      execute: () => 1,
    });
    const recorded = {
      arguments: 1,
      gated: true,
      decision: decision({ edited: { arguments: 2 } }),
    };
    const outcome = await new Executor({ clock: handClock() }).run(orderOf(tool, 0, { recorded }));
    expect(outcome.status).toBe("ok");
  });
});

describe("an approval by the wrong person", () => {
  const rule = { approvers: ["dana", "role:finance"], excludeRequester: true };
  const ran: number[] = [];
  const tool = defineTool({
    name: "t",
    description: "",
    input,
    confirm: () => rule,
    execute: () => ran.push(1),
  });
  const refused = (by: DecisionRecord["by"], requestedBy?: DecisionRecord["by"]) => {
    const recorded = { arguments: { cents: 1, id: "x" }, gated: true, decision: decision({ by }) };
    const order = orderOf(tool, { cents: 1 }, { recorded, ...(requestedBy && { requestedBy }) });
    return new Executor({ clock: handClock() }).run(order);
  };
  const insufficient = { executed: false, error: { code: "approval-insufficient" } };

  it("CASE-148 TOOL-12 is refused at dispatch: an id on somebody's word, and the one who asked", async () => {
    const asker = { id: "agent-7", assurance: "verified", roles: ["finance"] } as const;
    expect(await refused({ id: "dana", assurance: "none" }, asker)).toMatchObject(insufficient);
    expect(await refused(asker, asker)).toMatchObject(insufficient);
    expect(ran).toEqual([]);
    expect(await refused({ ...asker, id: "max" }, asker)).toEqual({ status: "ok", value: 1 });
  });

  it("CASE-154 TOOL-12 is refused at dispatch where the rule excludes the one who asked, and nobody knows who that was", async () => {
    expect(await refused({ id: "dana", assurance: "verified" })).toMatchObject(insufficient);
  });

  it("CASE-064 TOOL-12 is refused at dispatch where the policy was tightened meanwhile", async () => {
    let policy: object = {};
    const tightened = defineTool({
      name: "p",
      description: "",
      input,
      confirm: () => policy,
      execute: () => 1,
    });
    const approvals = scriptedPort(() => {
      policy = { approvers: ["max"] };
      return approved();
    });
    const executor = new Executor({ approvals, clock: handClock() });
    expect(await executor.run(orderOf(tightened, { cents: 1 }))).toMatchObject(insufficient);
  });
});

describe("handing over to a runner", () => {
  it("TOOL-02 rejects with what the runner's own dispatch or prepare threw, unchanged", async () => {
    const own = new Error("lost the race");
    const fail = () => {
      throw own;
    };
    const { executor, tool, steps } = traced();
    await expect(executor.run(orderOf(tool, { cents: 1 }, { dispatch: fail }))).rejects.toBe(own);
    await expect(
      executor.run(orderOf(tool, { cents: 1 }, { dispatch: () => Promise.reject(own) })),
    ).rejects.toBe(own);
    const filing = (after: "passes" | "swallows"): ApprovalPort => ({
      async request(_request, how) {
        try {
          await how.prepare();
        } catch (error) {
          if (after === "passes") throw error;
        }
        return { status: "pending" };
      },
    });
    for (const after of ["passes", "swallows"] as const) {
      const asking = new Executor({ approvals: filing(after) });
      await expect(asking.run(orderOf(tool, { cents: 1 }, { prepare: fail }))).rejects.toBe(own);
      await expect(
        asking.run(orderOf(tool, { cents: 1 }, { prepare: () => Promise.reject(own) })),
      ).rejects.toBe(own);
      expect((await asking.run(orderOf(tool, { cents: 1 }))).status).toBe("pending");
    }
    expect(steps).not.toContain("execute");
  });

  it("FLOW-72 says what would run, and whether validation made it differ from what was passed", async () => {
    const rows: readonly [unknown, unknown, boolean][] = [
      [input, { cents: 1, id: "x" }, false],
      [input, { cents: 1 }, true],
      [input, { cents: 1, id: "x", extra: 1 }, false],
      [
        z.object({ at: z.date(), list: z.array(z.number()), n: z.null() }),
        { at: new Date(1), list: [1], n: null },
        false,
      ],
      [z.object({ at: z.date().transform(() => new Date(2)) }), { at: new Date(1) }, true],
      [z.array(z.number().transform((n) => n + 1)), [1], true],
      [z.array(z.number()).transform((list) => [...list, 1]), [1], true],
      [z.object({ a: z.any() }).transform(({ a }) => ({ b: a as unknown })), { a: 1 }, true],
      [z.map(z.string(), z.number()), new Map([["a", 1]]), true],
      [z.string().optional(), undefined, false],
      [z.coerce.number(), "5", true],
      [z.any(), null, false],
      [z.any().transform(() => null), {}, true],
      [z.any().transform(() => []), {}, true],
    ];
    for (const [schema, value, drawn] of rows) {
      const seen: Dispatch[] = [];
      const tool = defineTool({
        name: "t",
        description: "",
        input: schema as z.ZodType,
        execute: () => 1,
      });
      const order = orderOf(tool, value, { dispatch: (what) => void seen.push(what) });
      expect((await new Executor().run(order)).status).toBe("ok");
      expect(seen[0]?.drawn).toBe(drawn);
      expect(seen[0]?.approval).toBeUndefined();
      expect(seen[0]?.cost).toBe(0);
    }
    let deep: unknown = 1;
    for (let level = 0; level < 80; level++) deep = { deep };
    const order = orderOf(
      defineTool({ name: "t", description: "", input: z.any(), execute: () => 1 }),
      deep,
    );
    await new Executor().run(order);
    expect(order.dispatched[0]?.drawn).toBe(false);
    const copying = z.any().transform((value) => structuredClone(value) as unknown);
    const copied = orderOf(
      defineTool({ name: "t", description: "", input: copying, execute: () => 1 }),
      deep,
    );
    await new Executor().run(copied);
    expect(copied.dispatched[0]?.drawn).toBe(true);
  });

  it("TOOL-12 hands the approval over unspent, with its request", async () => {
    const { executor, tool, approvals } = traced();
    const order = orderOf(tool, { cents: 1 });
    await executor.run(order);
    expect(order.dispatched[0]?.approval).toEqual({
      id: undefined,
      decision: decision(),
      request: approvals.requests[0],
    });
  });

  it("TOOL-08 is cancelled by an abort up to the moment of execution", async () => {
    const stop = (at: "port" | "dispatch") => {
      const own = new AbortController();
      const { tool, steps } = traced();
      const approvals = scriptedPort(() => {
        if (at === "port") own.abort();
        return { ...approved(), approvalId: "a1" };
      });
      const dispatch = () => {
        steps.push("dispatch");
        own.abort();
      };
      const executor = new Executor({ approvals, clock: handClock() });
      return {
        steps,
        outcome: executor.run(orderOf(tool, { cents: 1 }, { signal: own.signal, dispatch })),
      };
    };
    for (const at of ["port", "dispatch"] as const) {
      const { steps, outcome } = stop(at);
      const before = at === "port" ? [] : ["dispatch"];
      expect(await outcome).toMatchObject({
        executed: false,
        error: { code: "cancelled" },
        unused: { approvalId: "a1", reason: "cancelled" },
      });
      expect(steps.filter((step) => ["dispatch", "execute"].includes(step))).toEqual(before);
    }
    const own = new AbortController();
    const gone = scriptedPort(() => {
      own.abort();
      return { status: "pending" };
    });
    const { tool } = traced();
    expect(
      await new Executor({ approvals: gone }).run(
        orderOf(tool, { cents: 1 }, { signal: own.signal }),
      ),
    ).toMatchObject({
      status: "failed",
      error: { code: "cancelled" },
    });
  });
});

describe("asking the tool once more", () => {
  it.each([
    ["a code", () => ({ code: "locked" }), "locked", "locked"],
    [
      "a code and words",
      async () => ({ code: "locked", message: "locked since noon" }),
      "locked",
      "locked since noon",
    ],
    [
      "a throw",
      () => {
        throw new Error("no answer");
      },
      "failed",
      "no answer",
    ],
  ])("CASE-064 TOOL-12 is refused by revalidate with %s", async (_, revalidate, reason, words) => {
    const { executor, order, steps } = traced({ revalidate });
    expect(await executor.run(order())).toMatchObject({
      executed: false,
      error: {
        code: "revalidation-refused",
        message: `the call of 'pay' was refused right before it ran: ${words}`,
        attributes: { tool: "pay", reason },
      },
    });
    expect(steps).not.toContain("charge");
  });
});

const withoutDispatch = { dispatch: undefined } as object;

describe("using up an approval by itself", () => {
  it("CASE-056 runs nothing on an approval that was never asked for, and tells that it failed", async () => {
    const ran: number[] = [];
    const events: ToolEvent[] = [];
    const tool = defineTool({
      name: "pay",
      description: "",
      input,
      confirm: true,
      execute: () => ran.push(1),
    });
    const approvals = new DeferredApproval(memoryApprovalStore());
    const executor = new Executor({ approvals, listeners: [(event) => void events.push(event)] });
    const recorded = {
      arguments: { cents: 1, id: "x" },
      gated: true,
      approvalId: "made-up",
      decision: decision({ at: Date.now() }),
    };
    const order: CallOrder = Object.assign(
      orderOf(tool, { cents: 1 }, { recorded }),
      withoutDispatch,
    );
    expect(await executor.run(order)).toMatchObject({ error: { code: "approval-not-found" } });
    expect(ran).toEqual([]);
    expect(events).toMatchObject([{ kind: "failed", code: "approval-not-found" }]);
  });

  const done: CommitOutcome = { status: "done", repeated: false };
  const unknown: CommitOutcome = { status: "unknown", cause: 1 };
  const refused: CommitOutcome = {
    status: "refused",
    write: 0,
    refusal: { because: "late", now: 1 },
  };
  const ready: SettlePlan = { status: "ready", decision: decision(), writes: [] };

  function scripted(
    plans: readonly SettlePlan[],
    commits: readonly (CommitOutcome | Error)[],
    then?: "abort",
  ) {
    const own = new AbortController();
    const log: string[] = [];
    const attempts: string[] = [];
    let plan = 0;
    let commit = 0;
    const records: ApprovalRecords = {
      store: {
        home: {},
        now: async () => 1_000_000,
        async commit(attemptId) {
          attempts.push(attemptId);
          if (then === "abort") own.abort();
          const answer = commits[Math.min(commit++, commits.length - 1)]!;
          log.push(answer instanceof Error ? "throws" : answer.status);
          if (answer instanceof Error) throw answer;
          return answer;
        },
      },
      read: async () => undefined,
      async settle({ argumentsDigest }) {
        log.push(`settle ${argumentsDigest.length}`);
        return plans[Math.min(plan++, plans.length - 1)]!;
      },
      async withdraw({ reason }) {
        log.push(`withdraw ${reason}`);
        return [];
      },
      async conclude({ outcome }) {
        log.push(`conclude ${outcome}`);
        return [];
      },
    };
    const port = { ...scriptedPort({ ...approved(), approvalId: "a1" }), records };
    const events: ToolEvent[] = [];
    const ran: number[] = [];
    const tool = defineTool({
      name: "pay",
      description: "",
      input,
      confirm: true,
      execute: () => ran.push(1),
    });
    const executor = new Executor({
      approvals: port,
      clock: handClock(),
      listeners: [(event) => void events.push(event)],
    });
    const call = () => executor.tryCall(tool, { cents: 1, id: "x" }, { signal: own.signal });
    return {
      log,
      attempts,
      signal: own.signal,
      call,
      ran,
      dropped: () => events.filter(({ kind }) => kind === "dropped"),
    };
  }

  it("TOOL-12 settles before it runs, and concludes afterwards", async () => {
    const { call, log, attempts, ran } = scripted([ready], [done]);
    expect((await call()).ok).toBe(true);
    expect(log).toEqual(["settle 43", "done", "conclude executed", "done"]);
    expect(new Set(attempts).size).toBe(2);
    expect(ran).toEqual([1]);
  });

  it("APR-21 concludes an approval that was used up and not run, after all, as unused", async () => {
    const { log, signal, call, ran } = scripted([ready], [done], "abort");
    expect(await call()).toMatchObject({ ok: false, error: { code: "cancelled" } });
    expect(signal.aborted).toBe(true);
    expect(log).toEqual(["settle 43", "done", "conclude unused", "done"]);
    expect(ran).toEqual([]);
  });

  it("APR-26 asks again under the same attempt where an answer was lost, and runs only when it knows", async () => {
    const { call, attempts, ran } = scripted([ready], [unknown, unknown, done]);
    expect((await call()).ok).toBe(true);
    expect(new Set(attempts.slice(0, 3)).size).toBe(1);
    expect(ran).toEqual([1]);
    const lost = scripted([ready], [unknown]);
    expect(await lost.call()).toMatchObject({ ok: false, error: { code: "approval-unknown" } });
    expect(lost.attempts.length).toBe(5);
    expect(lost.ran).toEqual([]);
  });

  it("APR-20 plans anew where something else stood, up to a bound", async () => {
    const { call, log } = scripted([ready], [refused, done]);
    expect((await call()).ok).toBe(true);
    expect(log.slice(0, 4)).toEqual(["settle 43", "refused", "settle 43", "done"]);
    const endless = scripted([ready], [refused]);
    expect(await endless.call()).toMatchObject({ error: { code: "approval-unknown" } });
    expect(endless.log.length).toBe(10);
    expect(endless.ran).toEqual([]);
  });

  it("APR-20 runs nothing on an approval that another attempt has used, or that is not there", async () => {
    const mine = scripted([{ status: "stands", decision: decision(), mine: true }], [done]);
    expect((await mine.call()).ok).toBe(true);
    for (const [code, plan] of [
      ["approval-spent", { status: "stands", decision: decision(), mine: false }],
      ["approval-undecided", { status: "pending" }],
      ["approval-not-found", { status: "missing" }],
      ["approval-undecided", { status: "open", missing: 1, writes: [] }],
    ] as const) {
      const { call, ran } = scripted([plan], [done]);
      expect(await call()).toMatchObject({
        ok: false,
        error: { code, attributes: { approvalId: "a1" } },
      });
      expect(ran).toEqual([]);
    }
  });

  it("APR-21 keeps a result whose outcome no store took, and says so", async () => {
    for (const end of [unknown, refused, new Error("away")]) {
      const { call, dropped } = scripted([ready], [done, end]);
      expect((await call()).ok).toBe(true);
      expect(dropped()).toMatchObject([{ what: "approval-outcome" }]);
    }
  });

  it("TOOL-12 fails a call whose store is away before it ran", async () => {
    const { call, ran } = scripted([ready], [new Error("away")]);
    expect(await call()).toMatchObject({ ok: false, error: { message: "away" } });
    expect(ran).toEqual([]);
  });
});
