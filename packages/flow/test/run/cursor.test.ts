import { describe, expect, it } from "vitest";
import { z } from "zod";

import { answer, defineInterrupt, flow, memoryRunLog, replies } from "../../src/index.ts";
import { effects } from "../support/effects.ts";
import { asking, Evidence, Said, text, Yes } from "../support/questions.ts";
import { asAnotherProcess, rejection, stateOf, waiting, world, yes } from "../support/world.ts";

describe("a cursor", () => {
  for (const strict of [false, true]) {
    for (const durable of [false, true]) {
      it(`FLOW-22 FLOW-41 lets the code skip what it did, which is no divergence: ${strict ? "strict" : "telling"}, ${durable ? "durable" : "portable"}`, async () => {
        const { log, free } = effects();
        const restored: unknown[] = [];
        const f = asking(async (ctx) => {
          const left = ctx.cursor(Evidence);
          restored.push(left.restored ? left.value.round : "none");
          const from = left.restored ? left.value : { round: 0, said: [] };
          const said = [...from.said];
          for (let { round } = from; round < 3; round++) {
            await ctx.call(free, { n: round });
            const cursor = { round, said: [...said] };
            said.push((await ctx.ask(Evidence, { round }, { cursor })).text);
          }
          return said;
        });
        const { runner, notices } = world({ strict, ...(durable && { log: memoryRunLog() }) });
        let result = await runner().run(f, { n: 1 });
        for (let round = 0; round < 3; round++) {
          const { checkpoint } = waiting(result);
          const kept = runner().loadCheckpoint(f, runner().dumpCheckpoint(checkpoint));
          asAnotherProcess();
          result = await runner().resume(f, kept, text(`answer ${round}`));
        }
        expect(stateOf(result).said).toEqual(["answer 0", "answer 1", "answer 2"]);
        expect(restored).toEqual(["none", 0, 1, 2]);
        expect(log).toEqual(["free(0)", "free(1)", "free(2)"]);
        expect(notices.map(({ type }) => type)).not.toContain("replay-diverged");
      });
    }
  }

  it("FLOW-22 is the same to code that looks at it and skips nothing", async () => {
    for (const value of [(round: number) => round, () => 0]) {
      const seen: unknown[] = [];
      const f = asking(async (ctx) => {
        const left = ctx.cursor(Evidence);
        seen.push(left.restored ? left.value.round : "none");
        const said: string[] = [];
        for (let round = 0; round < 3; round++) {
          const cursor = { round: value(round), said: [] };
          said.push((await ctx.ask(Evidence, { round }, { cursor })).text);
        }
        return said;
      });
      const { runner } = world();
      let result = await runner().run(f, { n: 1 });
      for (let round = 0; round < 3; round++)
        result = await runner().resume(f, waiting(result).checkpoint, text(`answer ${round}`));
      expect(stateOf(result).said).toEqual(["answer 0", "answer 1", "answer 2"]);
      expect(seen).toEqual(["none", value(0), value(1), value(2)]);
    }
  });

  it("FLOW-22 is that of the last question of its name that brought one, waiting or answered", async () => {
    const { gated } = effects();
    const seen: unknown[] = [];
    const f = asking(async (ctx) => {
      const left = ctx.cursor(Evidence);
      seen.push(left.restored ? left.value.round : "none");
      const call = ctx.call(gated, { n: 1 });
      const cursor = { round: 7, said: [] };
      const first = await ctx.ask(Evidence, { round: 1 }, { cursor });
      const second = ctx.ask(Evidence, { round: 2 });
      await call;
      return [first.text, (await second).text];
    });
    const { runner } = world();
    const first = waiting(await runner().run(f, { n: 1 }));
    const [call, one] = first.pendings.map(({ id }) => id) as [string, string];
    const second = waiting(await runner().resume(f, first.checkpoint, replies({ [call]: yes() })));
    expect(second.pendings.map(({ id }) => id)).toEqual([one]);
    const third = waiting(await runner().resume(f, second.checkpoint, text("first")));
    const done = await runner().resume(f, third.checkpoint, text("second"));
    expect(stateOf(done).said).toEqual(["first", "second"]);
    expect(seen).toEqual(["none", 7, 7, 7]);
  });

  it("FLOW-41 excuses only what lies behind it: what the code leaves out otherwise is divergence", async () => {
    const { log, free, gated } = effects();
    let again = 0;
    const f = asking(async (ctx) => {
      again += 1;
      const left = ctx.cursor(Evidence);
      if (!left.restored) await ctx.call(free, { n: 1 });
      const { text } = await ctx.ask(Evidence, { round: 1 }, { cursor: { round: 1, said: [] } });
      if (again === 2) await ctx.call(free, { n: 2 });
      await ctx.call(gated, { n: 3 });
      return [text];
    });
    const { runner, notices } = world({ strict: true });
    const first = waiting(await runner().run(f, { n: 1 }));
    const second = waiting(await runner().resume(f, first.checkpoint, text("x")));
    expect(notices.map(({ type }) => type)).not.toContain("replay-diverged");
    const failed = await rejection(runner().resume(f, second.checkpoint, yes()));
    expect(failed).toMatchObject({ code: "node-failed", cause: { code: "replay-diverged" } });
    expect(failed.message).toMatch(/instead of free\/0/);
    expect(log).toEqual(["free(1)", "free(2)"]);
  });

  it("FLOW-41 excuses nothing where the code does not look at it", async () => {
    const { free } = effects();
    let again = 0;
    const f = asking(async (ctx) => {
      if ((again += 1) === 1) await ctx.call(free, { n: 1 });
      await ctx.ask(Evidence, { round: 1 }, { cursor: { round: 1, said: [] } });
    });
    const { runner } = world({ strict: true });
    const first = waiting(await runner().run(f, { n: 1 }));
    const failed = await rejection(runner().resume(f, first.checkpoint, text("x")));
    expect(failed).toMatchObject({ cause: { code: "replay-diverged" } });
  });

  it("FLOW-22 is kept apart by names and by visits, and gone with the visit", async () => {
    const Other = defineInterrupt({ name: "Other", answer: z.string(), cursor: z.string() });
    const seen: unknown[] = [];
    const f = flow("f", Said)
      .node(
        "ask",
        async (_, ctx) => {
          seen.push([ctx.node, ctx.cursor(Other), ctx.cursor(Yes)]);
          await ctx.ask(Other, undefined, { cursor: ctx.node });
        },
        { asks: [Other, Yes] },
      )
      .route("ask", ["ask", "$end"], () => (seen.length < 4 ? "ask" : "$end"))
      .build();
    const { runner } = world();
    const first = waiting(await runner().run(f, { n: 1 }));
    const second = waiting(await runner().resume(f, first.checkpoint, answer(Other, "a")));
    stateOf(await runner().resume(f, second.checkpoint, answer(Other, "b")));
    const none = { restored: false };
    expect(seen).toEqual([
      ["ask#1", none, none],
      ["ask#1", { restored: true, value: "ask#1" }, none],
      ["ask#2", none, none],
      ["ask#2", { restored: true, value: "ask#2" }, none],
    ]);
  });

  it("FLOW-22 is a value of its own at each look: what the code does to one changes no other", async () => {
    const f = asking(async (ctx) => {
      const left = ctx.cursor(Evidence);
      if (left.restored) left.value.said.push("changed");
      const again = ctx.cursor(Evidence);
      await ctx.ask(Evidence, { round: 1 }, { cursor: { round: 1, said: ["kept"] } });
      return again.restored ? again.value.said : [];
    });
    const { runner } = world();
    const first = waiting(await runner().run(f, { n: 1 }));
    expect(stateOf(await runner().resume(f, first.checkpoint, text("x"))).said).toEqual(["kept"]);
  });
});
