import type { DecisionRecord } from "@holdpoint/approvals";
import { describe, expect, it } from "vitest";

import { defineTool, Executor } from "../src/index.ts";
import { handClock } from "./support/hand-clock.ts";
import { orderOf } from "./support/orders.ts";
import { approved, decision, scriptedPort } from "./support/ports.ts";
import { input, traced } from "./support/traced-call.ts";

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
