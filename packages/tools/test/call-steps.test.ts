import { describe, expect, it } from "vitest";
import { z } from "zod";

import { defineTool, Executor } from "../src/index.ts";
import { handClock } from "./support/hand-clock.ts";
import { orderOf } from "./support/orders.ts";
import { approved, decision, scriptedPort } from "./support/ports.ts";
import { traced } from "./support/traced-call.ts";

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
    expect(await denying.run(order)).toEqual({
      status: "denied",
      decision: no,
      approvalId: "a1",
      request: expect.objectContaining({ tool: "pay", callId: order.callId() }),
    });
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
