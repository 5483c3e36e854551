import { ToolError } from "@holdpoint/tools";
import { describe, expect, it } from "vitest";
import { z } from "zod";

import { flow, inDoubt, memoryRunLog, replies, type NodeContext } from "../../src/index.ts";
import { die, dying, State as Dying } from "../support/dying.ts";
import { effects } from "../support/effects.ts";
import { dana, no, paused, rejection, stateOf, waiting, world, yes } from "../support/world.ts";

describe("a retry", () => {
  const again = async (runner: ReturnType<ReturnType<typeof world>["runner"]>, f: never) => {
    const last = (await runner.history(f, "r")).findLast(({ type }) => type === "run-retried");
    return (last as never as { again: { visit: string; name: string }[] }).again.map(
      ({ visit, name }) => `${visit} ${name}`,
    );
  };

  it("WF-29 FLOW-35 asks again for a call that failed with what was shown for it, and not with what was shown beside it", async () => {
    let broken = true;
    const { tool, other, log } = effects();
    const pay = tool("pay", {
      confirm: true,
      run: (n) => {
        if (broken) throw new ToolError("the bank is closed");
        return n;
      },
    });
    const f = flow("f", z.object({ n: z.number(), sum: z.number().optional() }))
      .node("a", async (s, ctx) => {
        const [one, two] = await Promise.all([
          ctx.call(pay, { n: s.n + 1 }),
          ctx.call(other, { n: s.n }),
        ]);
        return { sum: one.got + two.got };
      })
      .build();
    const { runner } = world({ log: memoryRunLog() });
    const first = paused(await runner().run(f, { n: 1 }, { runId: "r" }));
    const id = (tool: string) => first.pendings.find((one) => one.tool === tool)!.id;
    // Its failure is on record while the other one waits still; the code has it when nothing waits any more.
    paused(await runner().resume(f, "r", replies({ [id("pay")]: yes() })));
    const failed = await rejection(runner().resume(f, "r", replies({ [id("other")]: yes() })));
    expect(failed).toMatchObject({ code: "node-failed" });
    broken = false;
    const second = paused(await runner().retry(f, "r"));
    expect(await again(runner(), f as never)).toEqual(["a#1 a", "a#1 pay"]);
    expect(second.pendings.map((one) => [one.tool, one.request.arguments])).toEqual([
      ["pay", { n: 2 }],
    ]);
    expect(second.pendings.map((one) => one.id)).not.toContain(id("pay"));
    const all = replies(Object.fromEntries(second.pendings.map((one) => [one.id, yes()])));
    expect(stateOf(await runner().resume(f, "r", all)).sum).toBe(12);
    expect(log.toSorted()).toEqual(["other(1)", "pay(2)", "pay(2)"]);
  });

  /** A map of two items, the first of which fails as long as it is said and is skipped, and the second asks; and a gate. */
  function beside() {
    let isBroken = true;
    const { gated, log } = effects();
    const f = flow("f", z.object({ n: z.number(), got: z.array(z.number()).optional() }))
      .node("start", () => ({}))
      .map("each", {
        over: () => [1, 2],
        each: async (n, ctx: Pick<NodeContext, "call" | "step">) => {
          await ctx.step("tried", () => void log.push(`item ${n}`));
          if (n === 1 && isBroken) throw new ToolError("broken");
          return n === 1 ? n : (await ctx.call(gated, { n })).got;
        },
        onError: "skip",
        into: ({ values }) => ({ got: [...values] }),
      })
      .gate("look", { payload: (s) => s.n })
      .edge("start", "each")
      .edge("start", "look")
      .build();
    return { f, log, mend: () => void (isBroken = false) };
  }
  const idOf = (
    pendings: readonly { readonly id: string; readonly path: string }[],
    path: string,
  ) => pendings.find((one) => one.path === path)!.id;

  it("WF-29 FLOW-33 asks again for what an item waited for when the run failed beside it", async () => {
    const { f, log, mend } = beside();
    const { runner } = world({ log: memoryRunLog(), concurrency: 1 });
    const first = paused(await runner().run(f, { n: 1 }, { runId: "r" }));
    const denied = replies({ [idOf(first.pendings, "look#1")]: no() });
    await rejection(runner().resume(f, "r", denied));
    mend();
    const second = paused(await runner().retry(f, "r"));
    expect(second.pendings.map(({ path }) => path).toSorted()).toEqual(["each#1[1]", "look#1"]);
    const all = replies(Object.fromEntries(second.pendings.map(({ id }) => [id, yes()])));
    expect(stateOf(await runner().resume(f, "r", all)).got).toEqual([1, 20]);
    expect(log).toEqual(["item 1", "item 2", "gated(2)"]); // its steps are replayed
  });

  it("WF-29 FLOW-65 attempts an item anew that had failed before the run was forked", async () => {
    const { f, log, mend } = beside();
    const { runner } = world({ log: memoryRunLog(), concurrency: 1 });
    paused(await runner().run(f, { n: 1 }, { runId: "before" }));
    const forked = paused(await runner().fork(f, "before", { runId: "r" }));
    await rejection(runner().resume(f, "r", replies({ [idOf(forked.pendings, "look#1")]: no() })));
    mend();
    log.length = 0;
    const second = paused(await runner().retry(f, "r"));
    expect(await again(runner(), f as never)).toContain("each#1[0] failed");
    expect(log).toEqual(["item 1"]);
    const all = replies(Object.fromEntries(second.pendings.map(({ id }) => [id, yes()])));
    expect(stateOf(await runner().resume(f, "r", all)).got).toEqual([1, 20]);
  });

  it("WF-29 FLOW-76 leaves a call in doubt that was in doubt when the run failed", async () => {
    const { pay, entered } = dying();
    const f = flow("f", Dying)
      .node("start", () => ({}))
      .node("pay", async (_, ctx) => ({ note: `${(await ctx.call(pay, { id: 1 })).paid}` }))
      .gate("look", { payload: (s) => s.n })
      .edge("start", "pay")
      .edge("start", "look")
      .build();
    const { runner } = world({ log: memoryRunLog() });
    await die((signal) => runner().run(f, { n: 1 }, { runId: "r", signal }));
    const first = waiting(await runner().adopt(f, "r"));
    await rejection(runner().resume(f, "r", replies({ [idOf(first.pendings, "look#1")]: no() })));
    const second = waiting(await runner().retry(f, "r"));
    expect(second.pendings.map(({ kind, path }) => `${kind} ${path}`)).toEqual([
      "in-doubt pay#1",
      "approval look#1",
    ]);
    const all = replies({
      [idOf(second.pendings, "pay#1")]: inDoubt.ran(pay, { paid: 5 }, { by: dana }),
      [idOf(second.pendings, "look#1")]: yes(),
    });
    expect(stateOf(await runner().resume(f, "r", all)).note).toBe("5");
    expect(entered).toHaveLength(1);
  });
});
