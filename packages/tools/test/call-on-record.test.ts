import { describe, expect, it } from "vitest";
import { z } from "zod";

import { type AnyTool, defineTool, Executor } from "../src/index.ts";
import { handClock } from "./support/hand-clock.ts";
import { orderOf } from "./support/orders.ts";
import { approved, decision, scriptedPort } from "./support/ports.ts";
import { traced } from "./support/traced-call.ts";

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
