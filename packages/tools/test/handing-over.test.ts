import type { ApprovalPort } from "@holdpoint/approvals";
import { describe, expect, it } from "vitest";
import { z } from "zod";

import { defineTool, type Dispatch, Executor } from "../src/index.ts";
import { handClock } from "./support/hand-clock.ts";
import { orderOf } from "./support/orders.ts";
import { approved, decision, scriptedPort } from "./support/ports.ts";
import { input, traced } from "./support/traced-call.ts";

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
