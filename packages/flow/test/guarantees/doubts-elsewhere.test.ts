import { describe, expect, it } from "vitest";
import { z } from "zod";

import { flow, memoryRunLog, replies } from "../../src/index.ts";
import { handClock } from "../support/clock.ts";
import { effects } from "../support/effects.ts";
import { die, died, dying, says, State } from "../support/dying.ts";
import { recordlessPort, rejection, stateOf, waiting, world, yes } from "../support/world.ts";

describe("a call in doubt that nobody asks for, or somewhere else", () => {
  for (const what of Object.keys(says)) {
    for (const idempotent of [false, true]) {
      it(`FLOW-76 asks also about one that the re-run does not ask for any more: ${what}, ${idempotent ? "" : "not "}idempotent`, async () => {
        const { pay, entered } = dying({ idempotent });
        let again = false;
        const f = flow("f", State)
          .node("pay", async (_, ctx) => {
            if (!again) await ctx.call(pay, {});
            return { note: "went on" };
          })
          .build();
        const { runner, notices } = await died(f, { strict: true });
        again = true;
        const first = waiting(await runner().adopt(f, "r"));
        expect(first.pending).toMatchObject({ kind: "in-doubt", tool: "pay", asked: false });
        expect(waiting(await runner().adopt(f, "r")).pendings).toEqual(first.pendings);
        const reply = replies({ [first.pending.id]: says[what]!(pay) });
        const end = await runner()
          .resume(f, "r", reply)
          .then(stateOf)
          .then(
            ({ note }) => note,
            (error: { cause: { code: string } }) => error.cause.code,
          );
        expect(end).toBe(what === "failed" ? "in-doubt" : "went on");
        expect(entered).toHaveLength(1);
        expect(notices.map(({ type }) => type)).not.toContain("replay-diverged");
      });
    }
  }

  it("FLOW-76 asks nothing about one that the code may still ask for, while it waits for something else", async () => {
    const { pay, entered } = dying();
    const { gated } = effects();
    let again = false;
    const f = flow("f", State)
      .node("pay", async (_, ctx) => {
        if (again) await ctx.call(gated, { n: 1 });
        return { note: `paid ${(await ctx.call(pay, {})).paid}` };
      })
      .build();
    const { runner } = await died(f);
    again = true;
    const first = waiting(await runner().adopt(f, "r"));
    expect(first.pendings).toMatchObject([{ kind: "approval", tool: "gated" }]);
    const second = waiting(await runner().resume(f, first.checkpoint, yes()));
    expect(second.pendings).toMatchObject([{ kind: "in-doubt", tool: "pay", asked: true }]);
    const ran = says["ran"]!(pay);
    expect(stateOf(await runner().resume(f, second.checkpoint, ran)).note).toBe("paid 77");
    expect(entered).toHaveLength(1);
  });

  it("FLOW-76 fails by one that a person had count as failed when the code is done, not while it waits", async () => {
    const { pay } = dying();
    const { gated, log } = effects();
    let does: "pays" | "nothing" | "asks" = "pays";
    const f = flow("f", State)
      .node("pay", async (_, ctx) => {
        if (does === "pays") await ctx.call(pay, {});
        if (does === "asks") await ctx.call(gated, { n: 1 });
        return { note: "went on" };
      })
      .build();
    const { runner } = await died(f);
    does = "nothing";
    const first = waiting(await runner().adopt(f, "r"));
    expect(first.pendings).toMatchObject([{ kind: "in-doubt", asked: false }]);
    does = "asks";
    const failed = says["failed"]!(pay);
    const second = waiting(await runner().resume(f, first.checkpoint, failed));
    expect(second.pendings).toMatchObject([{ kind: "approval", tool: "gated" }]);
    expect(await rejection(runner().resume(f, second.checkpoint, yes()))).toMatchObject({
      cause: { code: "in-doubt" },
    });
    expect(log).toEqual(["gated(1)"]);
  });

  it("FLOW-76 waits for each of several that nobody asks for any more", async () => {
    const one = dying();
    const two = dying();
    let again = false;
    const f = flow("f", State)
      .node("pay", async (_, ctx) => {
        if (!again) await Promise.all([ctx.call(one.pay, {}), ctx.call(two.pay, { id: 5 })]);
        return { note: "went on" };
      })
      .build();
    const { runner, notices } = await died(f);
    again = true;
    const first = waiting(await runner().adopt(f, "r"));
    const [a, b] = first.pendings.map(({ id }) => id) as [string, string];
    const half = replies({ [a]: says["ran"]!(one.pay) });
    const second = waiting(await runner().resume(f, "r", half));
    expect(second.pendings.map(({ id }) => id)).toEqual([b]);
    stateOf(await runner().resume(f, second.checkpoint, says["ran"]!(two.pay)));
    expect(notices.filter(({ type }) => type === "in-doubt")).toHaveLength(2);
  });

  it("FLOW-76 TOOL-13 asks anew at each time limit, under another id", async () => {
    const { pay, entered } = dying({ deaths: 2 });
    const clock = handClock();
    const f = flow("f", State)
      .node("pay", async (_, ctx) => ({ note: String((await ctx.call(pay, {})).paid) }), {
        timeoutMs: 1_000,
        retry: { attempts: 5, on: () => true },
      })
      .build();
    const { runner } = world({ clock });
    const ids: string[] = [];
    let work = runner().run(f, { n: 1 });
    for (let limits = 0; limits < 2; limits++) {
      await clock.move(1_000);
      const { pending, checkpoint } = waiting(await work);
      ids.push(pending.id);
      work = runner().resume(f, checkpoint, says["did not run"]!(pay));
    }
    expect(stateOf(await work).note).toBe(String(entered[0]!.id));
    expect(new Set(ids).size).toBe(2);
    expect(entered).toEqual([entered[0], entered[0], entered[0]]);
  });

  it("FLOW-76 FLOW-65 is in doubt in a fork too, and what allowed it allows nothing there", async () => {
    const { pay, entered } = dying({ confirm: true });
    const f = flow("f", State)
      .node("pay", async (_, ctx) => ({ note: String((await ctx.call(pay, {})).paid) }))
      .build();
    const { runner } = world({ log: memoryRunLog() });
    const first = waiting(await runner().run(f, { n: 1 }, { runId: "r" }));
    await die((signal) => runner().resume(f, first.checkpoint, yes(), { signal }));
    waiting(await runner().adopt(f, "r"));
    const forked = waiting(await runner().fork(f, "r", { runId: "s" }));
    expect(forked.pendings.map(({ kind }) => kind)).toEqual(["in-doubt"]);
    const asks = waiting(await runner().resume(f, forked.checkpoint, says["did not run"]!(pay)));
    expect(asks.pendings.map(({ kind }) => kind)).toEqual(["approval"]);
    expect(entered).toHaveLength(1);
    stateOf(await runner().resume(f, asks.checkpoint, yes()));
    expect(entered.map(({ id }) => id)).toEqual([entered[0]!.id, entered[0]!.id]);
    expect(entered[1]!.key).not.toBe(entered[0]!.key);
  });

  it("FLOW-76 FLOW-65 FLOW-66 is asked for in a fork where a port had allowed it at once", async () => {
    const { pay } = dying({ confirm: true });
    const f = flow("f", State)
      .node("pay", async (_, ctx) => ({ note: String((await ctx.call(pay, {})).paid) }))
      .build();
    const decision = { approved: true, by: { id: "rule", assurance: "none" }, at: 1 } as const;
    const approvals = recordlessPort(() => ({ status: "decided", decision }));
    const { runner } = await died(f, { approvals });
    waiting(await runner().adopt(f, "r"));
    expect(approvals.requests).toHaveLength(1);
    const forked = waiting(await runner().fork(f, "r", { runId: "s" }));
    stateOf(await runner().resume(f, forked.checkpoint, says["did not run"]!(pay)));
    expect(approvals.requests).toHaveLength(2);
  });

  it("FLOW-76 FLOW-25 is asked about where it was begun, within nested runs and items", async () => {
    const { pay, entered } = dying();
    const inner = flow("inner", State)
      .node("pay", async (_, ctx) => ({ note: String((await ctx.call(pay, {})).paid) }))
      .build();
    const Outer = z.object({ n: z.number(), note: z.string().optional() });
    const f = flow("f", Outer)
      .map("each", {
        over: () => [1],
        each: (n: number, ctx) => ctx.run(inner, { n }),
        into: ({ values }) => ({ note: String(values[0]?.note) }),
        runs: [inner],
      })
      .build();
    const { runner } = await died(f);
    const first = waiting(await runner().adopt(f, "r"));
    expect(first.pendings).toMatchObject([
      { kind: "in-doubt", path: "each#1[0]/inner.0/pay#1", tool: "pay", asked: true },
    ]);
    const done = await runner().resume(f, first.checkpoint, says["ran"]!(pay));
    expect(stateOf(done).note).toBe("77");
    expect(entered).toHaveLength(1);
  });

  for (const what of Object.keys(says)) {
    for (const asked of [false, true]) {
      it(`FLOW-76 FLOW-34 is asked about in the visit where its nested run is asked for no more, ${asked ? "answered late" : "at once"}: ${what}`, async () => {
        const { pay, entered } = dying();
        let goes: "within" | "alone" = "within";
        const inner = flow("inner", State)
          .node("pay", async (_, ctx) => ({ note: String((await ctx.call(pay, { id: 5 })).paid) }))
          .build();
        const f = flow("f", State)
          .node(
            "outer",
            async (s, ctx) => {
              if (goes === "within") return { note: (await ctx.run(inner, s)).note };
              return { note: `alone ${(await ctx.call(pay, { id: 5 })).paid}` };
            },
            { runs: [inner] },
          )
          .build();
        const { runner } = await died(f);
        if (asked) waiting(await runner().adopt(f, "r")); // the nested run's own visit asks
        goes = "alone";
        // A doubt of a run that goes on waiting is the nested visit's own; one that is re-run is the outer one's.
        const first = waiting(await runner().adopt(f, "r"));
        const { id, path } = first.pending;
        expect(path).toBe(asked ? "outer#1/inner.0/pay#1" : "outer#1");
        const reply = replies({ [id]: says[what]!(pay) });
        const end = await runner()
          .resume(f, "r", reply)
          .then(stateOf)
          .then(
            ({ note }) => note,
            (error: { cause: { code: string } }) => error.cause.code,
          );
        // Its own call is its own: what is said of the other one is never taken for it.
        const failed = what === "failed" && !asked;
        expect([end, entered.length]).toEqual([failed ? "in-doubt" : "alone 5", 2]);
      });
    }
  }

  it("FLOW-76 FLOW-34 is asked about anew in the visit where the run that was asking about it is asked for no more", async () => {
    const { pay, entered } = dying();
    const { gated } = effects();
    let goes: "within" | "alone" = "within";
    const inner = flow("inner", State)
      .node("pay", async (_, ctx) => ({ note: String((await ctx.call(pay, { id: 5 })).paid) }))
      .build();
    const f = flow("f", State)
      .node(
        "outer",
        async (s, ctx) => {
          const asked = ctx.call(gated, { n: 1 });
          if (goes === "within") await ctx.run(inner, s);
          return { note: `got ${(await asked).got}` };
        },
        { runs: [inner] },
      )
      .build();
    const { runner, notices } = await died(f);
    const first = waiting(await runner().adopt(f, "r"));
    const doubt = first.pendings.find(({ kind }) => kind === "in-doubt")!;
    const question = first.pendings.find(({ kind }) => kind === "approval")!;
    expect(doubt.path).toBe("outer#1/inner.0/pay#1");
    goes = "alone";
    const reply = replies({ [question.id]: yes() });
    const second = waiting(await runner().resume(f, "r", reply));
    expect(second.pendings).toMatchObject([{ kind: "in-doubt", path: "outer#1", asked: false }]);
    expect(second.pending.id).not.toBe(doubt.id);
    const told = notices.map(({ type }) => type);
    expect(told).toContain("nested-dropped");
    expect(told).not.toContain("superseded"); // nobody's question was taken back
    const ran = says["ran"]!(pay);
    expect(stateOf(await runner().resume(f, second.checkpoint, ran)).note).toBe("got 10");
    expect(entered).toHaveLength(1);
  });

  it("FLOW-76 TOOL-13 is not tried again with the visit that it is within, whose time is over", async () => {
    const { pay, entered } = dying();
    const clock = handClock();
    const inner = flow("inner", State)
      .node("pay", async (_, ctx) => ({ note: String((await ctx.call(pay, {})).paid) }))
      .build();
    const f = flow("f", State)
      .node("outer", async (s, ctx) => ({ note: (await ctx.run(inner, s)).note }), {
        runs: [inner],
        timeoutMs: 1_000,
        retry: { attempts: 3, on: () => true },
      })
      .build();
    const running = rejection(world({ clock }).runner().run(f, { n: 1 }));
    await clock.move(1_000);
    expect((await running).message).toMatch(/took longer than 1000 ms/);
    expect(entered).toHaveLength(1);
  });
});
