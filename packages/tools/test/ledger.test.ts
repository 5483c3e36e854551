import { describe, expect, it } from "vitest";
import { z } from "zod";

import { defineTool, Executor, type LedgerEntry, memoryLedger } from "../src/index.ts";
import { handClock, settle } from "./support/hand-clock.ts";
import { orderOf } from "./support/orders.ts";
import { scriptedPort } from "./support/ports.ts";

const input = z.object({ cents: z.int() });

describe("the ledger", () => {
  it("TOOL-06 has one entry for each executed call, and none for any other", async () => {
    const clock = handClock();
    const ledger = memoryLedger();
    const tool = defineTool({
      name: "pay",
      description: "",
      input,
      version: "2",
      confirm: ({ cents }) => cents > 100,
      execute: async ({ cents }) => {
        await clock.move(7);
        if (cents === 0) throw new TypeError("nothing");
        return cents;
      },
    });
    const executor = new Executor({
      clock,
      ledger,
      approvals: scriptedPort({ status: "pending" }),
    });
    const order = orderOf(tool, { cents: 1 });
    await executor.run(order);
    await executor.tryCall(tool, { cents: 0 });
    await executor.tryCall(tool, { cents: 101 });
    await executor.tryCall(tool, { cents: 0.5 });
    expect(ledger.entries).toMatchObject([
      {
        runId: "run-1",
        node: "pay#1",
        tool: "pay",
        version: "2",
        callId: order.callId(),
        idempotencyKey: order.idempotencyKey(),
        startedAt: 1_000_000,
        durationMs: 7,
        attempts: 1,
        outcome: "ok",
      },
      { outcome: "failed" },
    ] satisfies Partial<LedgerEntry>[]);
    expect(ledger.entries.length).toBe(2);
    expect(ledger.entries[0]?.argumentsDigest).toMatch(/^[\w-]{43}$/);
  });

  it("TOOL-06 has entries for calls whose input has no key, without what needs one", async () => {
    const ledger = memoryLedger(1);
    const misfit = defineTool({
      name: "m",
      description: "",
      input,
      output: z.string(),
      execute: () => 5 as unknown as string,
    });
    await new Executor({ ledger }).tryCall(misfit, { cents: 1 });
    expect(ledger.entries[0]).toMatchObject({ outcome: "output-invalid" });
    const tool = defineTool({ name: "t", description: "", input: z.any(), execute: () => 1 });
    const executor = new Executor({ ledger });
    await executor.call(tool, 1);
    await executor.call(tool, () => 1);
    expect(ledger.entries.length).toBe(1);
    expect(ledger.entries[0]).toMatchObject({
      callId: undefined,
      argumentsDigest: undefined,
      outcome: "ok",
    });
  });

  it("TOOL-06 is written before the result is handed out, and its failure fails no call", async () => {
    const seen: string[] = [];
    const kinds: string[] = [];
    const tool = defineTool({ name: "t", description: "", input, execute: () => 1 });
    const slow = {
      record: async () => {
        await settle();
        seen.push("written");
        throw new Error("disk full");
      },
    };
    const executor = new Executor({
      ledger: slow,
      listeners: [({ kind }) => void kinds.push(kind)],
    });
    expect(await executor.call(tool, { cents: 1 })).toBe(1);
    expect(seen).toEqual(["written"]);
    expect(kinds).toEqual(["started", "dropped", "finished"]);
  });
});
