import { describe, expect, it } from "vitest";
import { z } from "zod";

import { defineTool, Executor, type ToolEvent } from "../src/index.ts";
import { handClock } from "./support/hand-clock.ts";
import { orderOf } from "./support/orders.ts";
import { approved, scriptedPort } from "./support/ports.ts";

const input = z.object({ cents: z.int() });

describe("events", () => {
  it("TOOL-07 tell each step with its ids, and no arguments", async () => {
    const events: ToolEvent[] = [];
    const clock = handClock();
    const tool = defineTool({
      name: "pay",
      description: "",
      input: z.object({ cents: z.int(), note: z.string() }),
      confirm: true,
      execute: () => "result-canary",
    });
    const approvals = scriptedPort(
      { status: "pending", approvalId: "a1" },
      { ...approved(), approvalId: "a1" },
    );
    const executor = new Executor({ approvals, clock });
    const stop = executor.listen((event) => void events.push(event));
    const arg = { cents: 1, note: "argument-canary" };
    const order = orderOf(tool, arg);
    await executor.run(order);
    await executor.run(orderOf(tool, arg));
    stop();
    await executor.run(orderOf(tool, arg));
    expect(events.map(({ kind }) => kind)).toEqual([
      "requested",
      "pending",
      "requested",
      "decided",
      "started",
      "finished",
    ]);
    for (const event of events) {
      expect(event).toMatchObject({
        tool: "pay",
        runId: "run-1",
        node: "pay#1",
        callId: order.callId(),
      });
    }
    expect(events[3]).toMatchObject({ approvalId: "a1", approved: true, edited: false });
    expect(JSON.stringify(events)).not.toMatch(/canary/);
  });

  it("TOOL-07 are disturbed by no listener, and disturb no call", async () => {
    const seen: string[] = [];
    const tool = defineTool({ name: "t", description: "", input, execute: () => 1 });
    const executor = new Executor({
      listeners: [
        () => {
          throw new Error("listener");
        },
        () => Promise.reject(new Error("later")),
        ({ kind }) => void seen.push(kind),
      ],
    });
    expect(await executor.call(tool, { cents: 1 })).toBe(1);
    expect(seen).toEqual(["started", "finished"]);
  });
});
