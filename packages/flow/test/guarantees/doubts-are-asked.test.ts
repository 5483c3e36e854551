import { memoryApprovalStore, memoryHome, StoreUnavailable } from "@holdpoint/approvals";
import { defineTool } from "@holdpoint/tools";
import { inspect } from "node:util";
import { describe, expect, it } from "vitest";
import { z } from "zod";

import {
  answerJson,
  flow,
  inDoubt,
  memoryRunLog,
  replies,
  type NodeContext,
  type RunLog,
} from "../../src/index.ts";
import { die, died, dying, never, says, State } from "../support/dying.ts";
import { effects } from "../support/effects.ts";
import { dana, rejection, stateOf, waiting, world, yes } from "../support/world.ts";

describe("a call that had begun and has no end", () => {
  it("FLOW-76 asks a person, and runs nothing by itself; what had finished does not run again", async () => {
    const { log, free } = effects();
    const { pay, entered } = dying();
    let visits = 0;
    const f = flow("f", State)
      .node("before", async (s, ctx) => {
        visits += 1;
        await ctx.call(free, { n: s.n });
      })
      .node("pay", async (_, ctx) => {
        await ctx.call(free, { n: 2 });
        return { note: String((await ctx.call(pay, {})).paid) };
      })
      .path("before", "pay")
      .build();
    const { runner, notices } = await died(f);
    const first = waiting(await runner().adopt(f, "r"));
    const { id } = entered[0]!;
    expect(first.pendings).toHaveLength(1);
    expect(first.pending).toMatchObject({
      kind: "in-doubt",
      path: "pay#1",
      tool: "pay",
      asked: true,
    });
    if (first.pending.kind !== "in-doubt") throw new Error("no doubt");
    expect(first.pending.arguments).toEqual({ id });
    const again = waiting(await runner().adopt(f, "r"));
    expect(again.pendings).toEqual(first.pendings);
    expect(waiting(await runner().resume(f, "r")).pendings).toEqual(first.pendings);
    expect(notices.filter(({ type }) => type === "in-doubt")).toHaveLength(1);
    const done = await runner().resume(f, first.checkpoint, says["ran"]!(pay));
    expect(stateOf(done).note).toBe("77");
    expect(entered).toHaveLength(1);
    expect(log).toEqual(["free(1)", "free(2)"]);
    expect(visits).toBe(1);
  });

  for (const what of Object.keys(says)) {
    it(`FLOW-76 goes on as the person says: ${what}`, async () => {
      const { pay, entered } = dying();
      const f = flow("f", State)
        .node("pay", async (_, ctx) => {
          const paid = await ctx.call(pay, {}).then(
            (result) => String(result.paid),
            (error: { code: string; message: string }) => `${error.code}: ${error.message}`,
          );
          return { note: paid };
        })
        .build();
      const { runner } = await died(f);
      const first = waiting(await runner().adopt(f, "r"));
      const reply = replies({ [first.pending.id]: says[what]!(pay) });
      const { note } = stateOf(await runner().resume(f, "r", reply));
      const [one, two] = entered;
      const ends: Record<string, unknown> = {
        ran: ["77", undefined],
        // Not drawn anew, and under the same key.
        "did not run": [String(one!.id), one],
        failed: [
          expect.stringMatching(/^in-doubt: .*pay.*dana had it count as failed$/),
          undefined,
        ],
      };
      expect([note, two]).toEqual(ends[what]);
      const second = await rejection(runner().resume(f, first.checkpoint, says[what]!(pay)));
      expect(second.code).toBe("resume-terminal");
    });
  }

  it("FLOW-76 checks the result by the tool's output schema before anything is spent, and takes no other answer", async () => {
    const { pay, entered } = dying();
    const other = defineTool({
      name: "other",
      description: "another",
      input: z.object({}),
      output: z.object({ paid: z.number() }),
      execute: () => ({ paid: 1 }),
    });
    const f = flow("f", State)
      .node("pay", async (_, ctx) => ({ note: String((await ctx.call(pay, {})).paid) }))
      .build();
    const { runner } = await died(f);
    const { pending } = waiting(await runner().adopt(f, "r"));
    const length = (await runner().history(f, "r")).length;
    const wrong = [
      inDoubt.ran(pay, { paid: "77" } as never, { by: dana }),
      inDoubt.ran(pay, {} as never, { by: dana }),
      inDoubt.ran(pay, undefined as never, { by: dana }),
      inDoubt.ran(other, { paid: 77 }, { by: dana }),
      yes(),
      answerJson({ paid: 77 }, { by: dana }),
      { kind: "in-doubt" } as never,
    ];
    for (const reply of wrong) {
      const refused = await rejection(
        (async () => runner().resume(f, "r", replies({ [pending.id]: reply })))(),
      );
      expect(refused.code).toBe("answer-invalid");
    }
    const bare = await rejection(runner().resume(f, "r", says["ran"]!(pay)));
    expect(bare.code).toBe("answer-ambiguous");
    expect(await runner().history(f, "r")).toHaveLength(length);
    expect(entered).toHaveLength(1);
    const nobody = { by: { id: "dana", assurance: "none" } as never };
    expect(() => inDoubt.didNotRun(nobody)).toThrow(/no identity port made/);
    expect(() => inDoubt.failed({} as never)).toThrow(/no identity port made/);
    expect(() => inDoubt.ran({ name: "pay" } as never, {} as never, { by: dana })).toThrow(
      /defineTool/,
    );
  });

  it("FLOW-76 asks anew, under another id, each time that it is in doubt; a late answer answers none", async () => {
    const { pay, entered } = dying({ deaths: 3 });
    const f = flow("f", State)
      .node("pay", async (_, ctx) => ({ note: String((await ctx.call(pay, {})).paid) }))
      .build();
    const { runner } = await died(f);
    const ids: string[] = [];
    for (let doubts = 1; doubts < 3; doubts++) {
      const { pending } = waiting(await runner().adopt(f, "r"));
      ids.push(pending.id);
      const reply = replies({ [pending.id]: says["did not run"]!(pay) });
      await die((signal) => runner().resume(f, "r", reply, { signal }));
      expect(entered).toHaveLength(doubts + 1);
      const late = await rejection(runner().resume(f, "r", reply));
      expect(late.code).toBe("answer-unknown");
    }
    const third = waiting(await runner().adopt(f, "r"));
    expect(new Set([...ids, third.pending.id]).size).toBe(3);
    for (const id of ids) {
      const late = await rejection(
        runner().resume(f, "r", replies({ [id]: says["did not run"]!(pay) })),
      );
      expect(late.code).toBe("answer-unknown");
    }
    const done = await runner().resume(f, third.checkpoint, says["did not run"]!(pay));
    expect(stateOf(done).note).toBe(String(entered[0]!.id));
    expect(entered).toEqual([entered[0], entered[0], entered[0], entered[0]]);
  });

  it("FLOW-76 runs an idempotent one again with the same key and arguments, unless it was not idempotent then", async () => {
    const { pay, entered } = dying({ idempotent: true });
    const build = (tool: typeof pay) =>
      flow("f", State)
        .node("pay", async (_, ctx) => ({ note: String((await ctx.call(tool, {})).paid) }))
        .build();
    const { runner } = await died(build(pay));
    expect(stateOf(await runner().adopt(build(pay), "r")).note).toBe(String(entered[0]!.id));
    expect(entered).toEqual([entered[0], entered[0]]);
    for (const [was, is] of [
      [false, true],
      [true, false],
    ] as const) {
      const before = dying({ idempotent: was });
      const after = dying({ idempotent: is, deaths: 0 });
      const again = await died(build(before.pay));
      const { pending } = waiting(await again.runner().adopt(build(after.pay), "r"));
      expect(pending.kind).toBe("in-doubt");
      expect(after.entered).toEqual([]);
    }
  });

  for (const what of Object.keys(says)) {
    it(`FLOW-76 APR-21 asks nobody for the approval again, and ends it as the call ended: ${what}`, async () => {
      const { pay, entered } = dying({ confirm: true });
      const f = flow("f", State)
        .node("pay", async (_, ctx) => {
          const paid = ctx.call(pay, {}).then((result) => String(result.paid));
          return { note: await paid.catch((error: { code: string }) => error.code) };
        })
        .build();
      const { runner, outcomes, count } = world({ log: memoryRunLog() });
      const first = waiting(await runner().run(f, { n: 1 }, { runId: "r" }));
      await die((signal) => runner().resume(f, first.checkpoint, yes(), { signal }));
      expect(entered).toHaveLength(1);
      const second = waiting(await runner().adopt(f, "r"));
      expect(second.pendings.map(({ kind }) => kind)).toEqual(["in-doubt"]);
      const done = await runner().resume(f, second.checkpoint, says[what]!(pay));
      expect(stateOf(done).note).toBe(
        { ran: "77", "did not run": String(entered[0]!.id), failed: "in-doubt" }[what],
      );
      expect(await outcomes()).toEqual([what === "failed" ? "failed" : "executed"]);
      expect(await count("pending")).toBe(0);
    });
  }

  it("FLOW-76 APR-21 ends the approval in the commit that takes the answer in, where both are one database", async () => {
    const home = memoryHome();
    const log = memoryRunLog(home);
    const { pay } = dying({ confirm: true });
    const f = flow("f", State)
      .node("pay", async (_, ctx) => ({ note: String((await ctx.call(pay, {})).paid) }))
      .build();
    const { runner, outcomes } = world({ log, store: memoryApprovalStore(home) });
    const first = waiting(await runner().run(f, { n: 1 }, { runId: "r" }));
    await die((signal) => runner().resume(f, first.checkpoint, yes(), { signal }));
    const { checkpoint } = waiting(await runner().adopt(f, "r"));
    let commits = 0;
    const once: RunLog = {
      ...log,
      async commit(attemptId, writes) {
        commits += 1;
        if (commits > 1) throw new StoreUnavailable("the log is away");
        return log.commit(attemptId, writes);
      },
    };
    const said = inDoubt.ran(pay, { paid: 77 }, { by: dana });
    await rejection(runner({ log: once }).resume(f, checkpoint, said));
    expect(await outcomes()).toEqual(["executed"]);
    expect(stateOf(await runner().adopt(f, "r")).note).toBe("77");
  });

  it("FLOW-76 FLOW-30 waits beside approvals and siblings, and all are answered in one resume", async () => {
    const { log, gated, free } = effects();
    const { pay, entered } = dying();
    const f = flow("f", State)
      .node("start", () => ({}))
      .node("pay", async (_, ctx) => {
        const call = ctx.call(gated, { n: 5 });
        const { paid } = await ctx.call(pay, {});
        return { note: `${paid} ${(await call).got}` };
      })
      .node("beside", async (_, ctx) => {
        await ctx.call(gated, { n: 6 });
        return { late: String((await ctx.call(free, { n: 7 })).got) };
      })
      .edge("start", "pay")
      .edge("start", "beside")
      .build();
    const { runner, count } = await died(f);
    const first = waiting(await runner().adopt(f, "r"));
    expect(first.pendings.map(({ kind, path }) => `${kind} ${path}`)).toEqual([
      "approval pay#1",
      "in-doubt pay#1",
      "approval beside#1",
    ]);
    expect(await count("pending")).toBe(2);
    const [one, doubt, two] = first.pendings.map(({ id }) => id) as [string, string, string];
    const all = { [one]: yes(), [doubt]: says["ran"]!(pay), [two]: yes() };
    const { note, late } = stateOf(await runner().resume(f, "r", replies(all)));
    expect([note, late]).toEqual(["77 50", "70"]);
    expect(entered).toHaveLength(1);
    expect(log.toSorted()).toEqual(["free(7)", "gated(5)", "gated(6)"]);
  });

  it("FLOW-76 stays in doubt beside an answer to something else, and under `supersede`", async () => {
    const { gated } = effects();
    const { pay, entered } = dying();
    const f = flow("f", State)
      .node("pay", async (_, ctx) => {
        const call = ctx.call(gated, { n: 5 });
        const { paid } = await ctx.call(pay, {});
        return { note: `${paid} ${(await call).got}` };
      })
      .build();
    const { runner, notices } = await died(f);
    const first = waiting(await runner().adopt(f, "r"));
    const [one, doubt] = first.pendings.map(({ id }) => id) as [string, string];
    const second = waiting(
      await runner().resume(f, "r", replies({ [one]: yes() }), { unanswered: "supersede" }),
    );
    expect(second.pendings.map(({ id }) => id)).toEqual([doubt]);
    expect(notices.filter(({ type }) => type === "in-doubt")).toHaveLength(1);
    const done = await runner().resume(f, second.checkpoint, says["ran"]!(pay));
    expect(stateOf(done).note).toBe("77 50");
    expect(entered).toHaveLength(1);
  });

  it("FLOW-76 is not entered by a retry either, once a person had it count as failed", async () => {
    const { pay, entered } = dying();
    let tries = 0;
    const body = async (_: unknown, ctx: NodeContext) => {
      tries += 1;
      return { note: String((await ctx.call(pay, {})).paid) };
    };
    const f = flow("f", State)
      .node("pay", body, { retry: { attempts: 3, on: () => true } })
      .build();
    const { runner } = await died(f);
    const { checkpoint } = waiting(await runner().adopt(f, "r"));
    const failed = await rejection(runner().resume(f, checkpoint, says["failed"]!(pay)));
    expect(failed).toMatchObject({ code: "node-failed", cause: { code: "in-doubt" } });
    expect(tries).toBe(5); // died, adopted, and three attempts that get the same answer
    expect(entered).toHaveLength(1);
  });

  it("FLOW-76 counts as a call where it ran, and its answer is in the history with who gave it", async () => {
    const { pay } = dying();
    const { gated } = effects();
    const f = flow("f", State)
      .node("pay", async (_, ctx) => void (await ctx.call(pay, {})))
      .call("asks", gated, { args: { n: 1 } })
      .path("pay", "asks")
      .build();
    const { runner, notices } = await died(f);
    const first = waiting(await runner().adopt(f, "r"));
    expect(first.checkpoint.counters.calls).toBe(0);
    const second = waiting(await runner().resume(f, first.checkpoint, says["ran"]!(pay)));
    expect(second.checkpoint.counters.calls).toBe(1);
    const history = await runner().history(f, "r");
    const answered = history.find((event) => event.type === "answered");
    expect(answered).toMatchObject({
      answers: [{ kind: "in-doubt", visit: "pay#1", verdict: { is: "ran" }, by: { id: "dana" } }],
    });
    expect(notices.find(({ type }) => type === "in-doubt")).toMatchObject({
      visit: "pay#1",
      name: "pay",
      ids: [first.pending.id],
    });
  });

  it("FLOW-76 FLOW-29 shows its arguments in no printed form, clone or event", async () => {
    const tool = defineTool({
      name: "secretly",
      description: "has a secret",
      input: z.object({ secret: z.string() }),
      output: z.string(),
      execute: () => never,
    });
    const f = flow("f", State)
      .node("pay", async (_, ctx) => ({ note: await ctx.call(tool, { secret: "s3cret" }) }))
      .build();
    const { runner, notices } = await died(f);
    const result = await runner().adopt(f, "r");
    const { pending, checkpoint } = waiting(result);
    expect(pending.kind === "in-doubt" && pending.arguments).toEqual({ secret: "s3cret" });
    const reply = inDoubt.ran(tool, "s3cret", { by: dana });
    const printed = [
      JSON.stringify([pending, checkpoint, reply]),
      inspect([result, reply], { depth: 9, showHidden: true }),
      JSON.stringify(structuredClone(pending)),
    ].join();
    expect(printed).not.toContain("s3cret");
    stateOf(await runner().resume(f, checkpoint, reply));
    expect(JSON.stringify(notices)).not.toContain("s3cret");
  });

  it("FLOW-76 FLOW-78 can be cancelled instead", async () => {
    const { pay, entered } = dying();
    const f = flow("f", State)
      .node("pay", async (_, ctx) => void (await ctx.call(pay, {})))
      .build();
    const { runner } = await died(f);
    const { checkpoint } = waiting(await runner().adopt(f, "r"));
    await runner().cancel(f, "r", { reason: "enough" });
    const late = await rejection(runner().resume(f, checkpoint, says["ran"]!(pay)));
    expect(late.code).toBe("resume-terminal");
    expect(entered).toHaveLength(1);
  });
});
