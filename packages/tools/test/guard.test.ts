import { describe, expect, it } from "vitest";
import { z } from "zod";

import {
  allowedTools,
  budget,
  defineTool,
  Executor,
  type Guard,
  type GuardedCall,
  tally,
  ToolDefinitionError,
} from "../src/index.ts";
import { settle } from "./support/hand-clock.ts";
import { orderOf } from "./support/orders.ts";
import { approved, decision, scriptedPort } from "./support/ports.ts";

const input = z.object({ cents: z.int() });
const pay = defineTool({
  name: "pay",
  description: "",
  input,
  cost: ({ cents }) => cents,
  execute: ({ cents }) => cents,
});
const look = defineTool({ name: "look", description: "", input, cost: 1, execute: () => "seen" });

describe("guards", () => {
  it("TOOL-05 refuse by name, before anybody is asked and anything runs", async () => {
    let ran = 0;
    const held = defineTool({
      name: "held",
      description: "",
      input,
      confirm: true,
      execute: () => (ran += 1),
    });
    const approvals = scriptedPort(approved());
    const guard: Guard = { name: "office-hours", check: async () => ({ refuse: "closed" }) };
    const executor = new Executor({ approvals, guards: [guard] });
    await expect(executor.call(held, { cents: 1 })).rejects.toMatchObject({
      name: "ToolGuardError",
      code: "guard-refused",
      attributes: { tool: "held", guard: "office-hours", reason: "closed" },
    });
    expect([ran, approvals.requests.length]).toEqual([0, 0]);
  });

  it("TOOL-05 are asked in order, with arguments, cost and what the run has spent; the first refusal stands", async () => {
    const seen: string[] = [];
    const calls: GuardedCall[] = [];
    const note = (name: string, refuse: boolean): Guard => ({
      name,
      check: (call) => {
        seen.push(name);
        calls.push(call);
        return refuse ? { refuse: name } : undefined;
      },
    });
    const executor = new Executor({
      guards: [note("a", false), note("b", true), note("c", false)],
    });
    const order = orderOf(pay, { cents: 7 }, { spent: { calls: 2, cost: 3 }, flow: "refunds" });
    expect(await executor.run(order)).toMatchObject({ status: "failed", executed: false });
    expect(seen).toEqual(["a", "b"]);
    expect(calls[0]).toMatchObject({
      tool: pay,
      flow: "refunds",
      arguments: { cents: 7 },
      cost: 7,
      spent: { calls: 2, cost: 3 },
    });
    expect(calls[0]?.context.runId).toBe("run-1");
  });

  it("TOOL-05 get nothing spent where nobody counts", async () => {
    const spent: unknown[] = [];
    const guard: Guard = { name: "g", check: (call) => void spent.push(call.spent) };
    await new Executor({ guards: [guard] }).run(orderOf(pay, { cents: 1 }));
    await new Executor({ guards: [guard] }).call(pay, { cents: 1 });
    expect(spent).toEqual([
      { calls: 0, cost: 0 },
      { calls: 0, cost: 0 },
    ]);
  });

  it("TOOL-05 budget bounds the calls and the cost of one run, each by itself", async () => {
    const executor = new Executor({ guards: [budget({ calls: 3, cost: 10 })] });
    const run = { runId: "r", spent: tally() };
    expect(await executor.call(pay, { cents: 9 }, run)).toBe(9);
    await expect(executor.call(pay, { cents: 2 }, run)).rejects.toMatchObject({
      message: expect.stringContaining("cost 10"),
    });
    expect(await executor.call(look, { cents: 5 }, run)).toBe("seen");
    expect(run.spent).toMatchObject({ calls: 2, cost: 10 });
    expect(await executor.call(pay, { cents: 0 }, run)).toBe(0);
    await expect(executor.call(pay, { cents: 0 }, run)).rejects.toMatchObject({
      message: expect.stringContaining("3 calls"),
    });
    expect(await executor.call(pay, { cents: 9 }, { spent: tally() })).toBe(9);
  });

  it("TOOL-05 budget of nothing lets no call pass, and one of no cost those that are free", async () => {
    const none = new Executor({ guards: [budget({ calls: 0 })] });
    await expect(none.call(pay, { cents: 0 })).rejects.toMatchObject({ code: "guard-refused" });
    const free = new Executor({ guards: [budget({ cost: 0 })] });
    expect(await free.call(pay, { cents: 0 })).toBe(0);
    await expect(free.call(pay, { cents: 1 })).rejects.toMatchObject({ code: "guard-refused" });
  });

  it("TOOL-05 charge once, at dispatch: calls side by side don't pass a budget together", async () => {
    const executor = new Executor({ guards: [budget({ calls: 2 })] });
    const spent = tally();
    const results = await Promise.all(
      Array.from({ length: 10 }, () => executor.tryCall(pay, { cents: 1 }, { spent })),
    );
    expect(results.filter(({ ok }) => ok).length).toBe(2);
    expect(spent.calls).toBe(2);
  });

  it("TOOL-05 charge a waiting call when it is dispatched, and not when it is asked for", async () => {
    const charged: number[] = [];
    const held = defineTool({
      name: "held",
      description: "",
      input,
      cost: 4,
      confirm: true,
      execute: () => 1,
    });
    const approvals = scriptedPort({ status: "pending" }, approved());
    const executor = new Executor({ approvals });
    const charge = (cost: number) => void charged.push(cost);
    await executor.run(orderOf(held, { cents: 1 }, { charge }));
    expect(charged).toEqual([]);
    const order = orderOf(held, { cents: 1 }, { charge });
    await executor.run(order);
    expect(charged).toEqual([4]);
    expect(order.dispatched[0]?.cost).toBe(4);
  });

  it("TOOL-05 leave calls on record alone but for the charge, and charge no call twice that had started", async () => {
    const seen: string[] = [];
    const guard: Guard = {
      name: "g",
      check: () => void seen.push("check"),
      charge: () => void seen.push("charge"),
    };
    const executor = new Executor({ guards: [guard], approvals: scriptedPort(approved()) });
    const run = (recorded: object) =>
      executor.run(
        orderOf(
          pay,
          { cents: 1 },
          {
            recorded: { arguments: { cents: 1 }, ...recorded } as never,
            charge: () => void seen.push("spent"),
          },
        ),
      );
    await run({ gated: true, decision: decision() });
    expect(seen.splice(0)).toEqual(["charge", "spent"]);
    await run({ gated: false });
    const late = decision({ at: 0 });
    const again = { gated: true, started: true, decision: late, rule: { useWithinMs: 1 } };
    expect((await run(again)).status).toBe("ok");
    expect(seen).toEqual([]);
  });

  it("TOOL-05 allowed tools bind all calls, or those of one flow", async () => {
    const anywhere = new Executor({ guards: [allowedTools([look, "other"])] });
    expect(await anywhere.call(look, { cents: 1 })).toBe("seen");
    await expect(anywhere.call(pay, { cents: 1 })).rejects.toMatchObject({
      attributes: { guard: "allowed-tools", reason: "'pay' is not on the list" },
    });
    const inFlow = new Executor({ guards: [allowedTools([look], { flow: "reading" })] });
    expect(await inFlow.run(orderOf(pay, { cents: 1 }, { flow: "reading" }))).toMatchObject({
      status: "failed",
    });
    expect(await inFlow.run(orderOf(pay, { cents: 1 }, { flow: "paying" }))).toMatchObject({
      status: "ok",
    });
    expect(await inFlow.call(pay, { cents: 1 })).toBe(1);
  });

  it("TOOL-05 refuses bounds and costs that are none", async () => {
    expect(() => budget({ calls: -1 })).toThrow(ToolDefinitionError);
    expect(() => budget({ cost: Number.NaN })).toThrow(ToolDefinitionError);
    for (const cost of [-1, Number.NaN, Infinity]) {
      const wrong = defineTool({
        name: "w",
        description: "",
        input,
        cost: () => cost,
        execute: () => 1,
      });
      await expect(new Executor().call(wrong, { cents: 1 })).rejects.toMatchObject({
        code: "definition-invalid",
      });
    }
    await settle();
  });
});
