import { approve, identityPort, type ApprovalRule } from "@holdpoint/approvals";
import { defineTool } from "@holdpoint/tools";
import { describe, expect, it } from "vitest";
import { z } from "zod";

import { flow, isFlowError, replies } from "../../src/index.ts";
import { effects } from "../support/effects.ts";
import { State } from "../support/one-call.ts";
import {
  dana,
  no,
  paused,
  recordlessPort,
  rejection,
  stateOf,
  world,
  yes,
} from "../support/world.ts";

describe("a question keeps the rules that it was asked under", () => {
  it("FLOW-35 refuses a quorum where the port keeps no records to count by", async () => {
    const { tool, log } = effects();
    const pay = tool("pay", { confirm: () => ({ quorum: 2 }) });
    const f = flow("f", State)
      .call("pay", pay, { args: { n: 1 } })
      .build();
    const { runner } = world({ approvals: recordlessPort() });
    const first = paused(await runner().run(f, { n: 1 }));
    const people = identityPort((credential) => ({ id: String(credential) }));
    const by = await people.authenticate("erin");
    expect(await rejection(runner().resume(f, first.checkpoint, approve({ by })))).toMatchObject({
      code: "rule-invalid",
    });
    expect(log).toEqual([]);
  });

  it("FLOW-66 CASE-074 keeps a waiting call gated though the tool's rule is gone", async () => {
    const { tool, log } = effects();
    let gate = true;
    const pay = tool("pay", { confirm: () => gate });
    const f = flow("f", State)
      .node("a", async (s, ctx) => {
        await Promise.all([ctx.call(pay, { n: s.n }), ctx.call(pay, { n: 2 })]);
      })
      .build();
    const { runner } = world();
    const first = paused(await runner().run(f, { n: 1 }));
    gate = false;
    expect(paused(await runner().resume(f, first.checkpoint)).pendings).toHaveLength(2);
    const [a] = first.pendings.map(({ id }) => id) as [string];
    const second = paused(await runner().resume(f, first.checkpoint, replies({ [a]: yes() })));
    expect(log).toEqual(["pay(1)"]);
    expect(await rejection(runner().resume(f, second.checkpoint, no()))).toMatchObject({
      code: "approval-denied",
    });
    expect(log).toEqual(["pay(1)"]);
  });

  it("FLOW-66 FLOW-38 asks again for a superseded call, with what was shown, though the rule is gone", async () => {
    const { log } = effects();
    let gate = true;
    let drawn = 0;
    const pay = defineTool({
      name: "pay",
      description: "pays",
      input: z.object({ n: z.number(), id: z.string().default(() => `id-${(drawn += 1)}`) }),
      confirm: () => gate,
      execute: ({ n, id }) => void log.push(`pay(${n}) ${id}`),
    });
    const f = flow("f", State)
      .node("a", async (_, ctx) => {
        await Promise.all([ctx.call(pay, { n: 1 }), ctx.call(pay, { n: 2 })]);
      })
      .build();
    const { runner } = world();
    const first = paused(await runner().run(f, { n: 1 }));
    const [a, b] = first.pendings.map(({ id }) => id) as [string, string];
    gate = false;
    const second = paused(
      await runner().resume(f, first.checkpoint, replies({ [a]: yes() }), {
        unanswered: "supersede",
      }),
    );
    expect(log).toEqual(["pay(1) id-1"]);
    expect(second.pendings).toHaveLength(1);
    expect(second.pending.id).not.toBe(b);
    expect(second.pending.request.arguments).toEqual({ n: 2, id: "id-2" });
    stateOf(await runner().resume(f, second.checkpoint, yes()));
    expect(log).toEqual(["pay(1) id-1", "pay(2) id-2"]);
  });

  it("FLOW-35 checks the rule of a question that its port keeps no record of", async () => {
    const { tool, log } = effects();
    const people = identityPort((credential) => ({ id: String(credential) }));
    const rule: ApprovalRule = { approvers: ["erin"], excludeRequester: true };
    const pay = tool("pay", { confirm: () => rule });
    const f = flow("f", State)
      .call("pay", pay, { args: { n: 1 } })
      .build();
    const { runner } = world({ approvals: recordlessPort() });
    const first = paused(
      await runner().run(f, { n: 1 }, { requestedBy: { id: "rita", assurance: "verified" } }),
    );
    for (const by of [dana, await people.authenticate("fred")])
      expect(
        (await rejection(runner().resume(f, first.checkpoint, approve({ by })))).message,
      ).toContain("may not decide");
    stateOf(
      await runner().resume(
        f,
        first.checkpoint,
        approve({ by: await people.authenticate("erin") }),
      ),
    );
    expect(log).toEqual(["pay(1)"]);
  });

  it("FLOW-43 CASE-016 keeps the settings that a run began with, whoever goes on with it", async () => {
    const { gated } = effects();
    const f = flow("f", State)
      .call("ask", gated, { args: { n: 1 } })
      .node("count", (s) => ({ n: s.n + 1 }))
      .edge("ask", "count")
      .route("count", ["ask", "$end"], (s) => (s.n < 9 ? "ask" : "$end"))
      .build();
    const { runner } = world();
    let result = await runner({ visitsMax: 2 }).run(f, { n: 0 });
    result = await runner({ visitsMax: 50 }).resume(f, paused(result).checkpoint, yes());
    const error = await rejection(
      runner({ visitsMax: 50 }).resume(f, paused(result).checkpoint, yes()),
    );
    expect(error).toMatchObject({ code: "visit-budget", data: { node: "ask#3" } });
    expect(isFlowError(error, "visit-budget")).toBe(true);
  });
});
