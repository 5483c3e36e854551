import { DeferredApproval, memoryApprovalStore } from "@holdpoint/approvals";
import { createSealer, defineCodec } from "@holdpoint/seal";
import { model } from "@holdpoint/seal/zod";
import { defineTool } from "@holdpoint/tools";
import { describe, expect, it } from "vitest";
import { z } from "zod";

import { flow, FlowRunner, isFlowError, replies } from "../../src/index.ts";
import { effects } from "../support/effects.ts";
import {
  asAnotherProcess,
  keyring,
  paused,
  rejection,
  stateOf,
  world,
  yes,
} from "../support/world.ts";

class Money {
  readonly cents: number;
  constructor(cents: number) {
    this.cents = cents;
  }
  get euros(): number {
    return this.cents / 100;
  }
}
const money = model(Money, { name: "Money", fields: z.object({ cents: z.int() }) });

class Other {
  readonly x = 1;
}
const other = model(Other, { name: "Other", fields: z.object({ x: z.int() }) });

describe("classes come back where a schema reaches them, and else fail the pause", () => {
  const Wallet = z.object({ n: z.number(), purse: money.schema.optional() });
  const earn = defineTool({
    name: "earn",
    description: "earns",
    input: z.object({ by: money.schema }),
    output: z.object({ got: money.schema }),
    execute: ({ by }) => ({ got: new Money(by.cents * 2) }),
  });

  it("FLOW-71 builds the classes that the state and a tool's output reach", async () => {
    const { gated } = effects();
    const seen: unknown[] = [];
    const f = flow("f", Wallet)
      .node("put", () => ({ purse: new Money(150) }))
      .node("a", async (s, ctx) => {
        const { got } = await ctx.call(earn, { by: s.purse! });
        seen.push([s.purse!.euros, got instanceof Money, got.euros]);
        await ctx.call(gated, { n: 1 });
        return { purse: got };
      })
      .path("put", "a")
      .build();
    const { runner } = world({ models: [money, other] });
    const first = paused(await runner().run(f, { n: 1 }));
    const text = runner().dumpCheckpoint(first.checkpoint);
    const later = runner();
    const state = stateOf(await later.resume(f, later.loadCheckpoint(f, text), yes()));
    expect(state.purse).toBeInstanceOf(Money);
    expect(state.purse!.euros).toBe(3);
    expect(seen).toEqual([
      [1.5, true, 3],
      [1.5, true, 3],
    ]);
  });

  it("FLOW-71 FLOW-47 keeps an instance as it was recorded, whatever the node does to it", async () => {
    const { gated } = effects();
    const seen: number[] = [];
    const f = flow("f", Wallet)
      .node("a", async (_, ctx) => {
        const { got } = await ctx.call(earn, { by: new Money(50) });
        seen.push(got.cents);
        (got as { cents: number }).cents = 0;
        await ctx.call(gated, { n: 1 });
      })
      .build();
    const { runner } = world({ models: [money] });
    const first = paused(await runner().run(f, { n: 1 }));
    stateOf(await runner().resume(f, first.checkpoint, yes()));
    expect(seen).toEqual([100, 100]);
  });

  it("FLOW-71 FLOW-26 refuses at the pause what no schema reaches: in a result, a step, a payload or a state", async () => {
    const { gated } = effects();
    const loose = defineTool({
      name: "loose",
      description: "declares no output",
      input: z.object({}),
      execute: () => ({ it: new Other() }),
    });
    const Loose = z.object({ n: z.number(), any: z.any() });
    const flows = {
      result: flow("f", Loose)
        .node("a", async (_, ctx) => {
          await ctx.call(loose, {});
          await ctx.call(gated, { n: 1 });
        })
        .build(),
      step: flow("f", Loose)
        .node("a", async (_, ctx) => {
          await ctx.step("it", () => new Other());
          await ctx.call(gated, { n: 1 });
        })
        .build(),
      payload: flow("f", Loose)
        .gate("a", { payload: () => new Other() })
        .build(),
      state: flow("f", Loose)
        .node("put", () => ({ any: new Other() }))
        .gate("a", { payload: () => 1 })
        .path("put", "a")
        .build(),
    };
    for (const [where, f] of Object.entries(flows)) {
      const { runner, port, count } = world({ models: [money, other] });
      expect(
        await rejection(runner().run(f, { n: 1, any: undefined })),
        `in the ${where}`,
      ).toMatchObject({
        code: "state-not-sealable",
      });
      expect(await count("pending"), `in the ${where}`).toBe(0);
      expect((await port.records.list("default")).items, `in the ${where}`).toEqual([]);
    }
  });

  it("FLOW-71 gives a step's result the classes of the state", async () => {
    const { gated } = effects();
    const seen: unknown[] = [];
    const f = flow("f", Wallet)
      .node("a", async (_, ctx) => {
        seen.push((await ctx.step("earn", () => new Money(5))).euros);
        await ctx.call(gated, { n: 1 });
      })
      .build();
    const { runner } = world({ models: [money] });
    const first = paused(await runner().run(f, { n: 1 }));
    stateOf(await runner().resume(f, first.checkpoint, yes()));
    expect(seen).toEqual([0.05, 0.05]);
  });

  it("FLOW-71 runs with shown arguments of a class that only the tool's input reaches, and shows them no longer once only their text is left", async () => {
    const got: number[] = [];
    const spend = defineTool({
      name: "spend",
      description: "spends",
      input: z.object({ what: money.schema }),
      confirm: true,
      execute: ({ what }) => void got.push(what.euros),
    });
    const Plain = z.object({ n: z.number() });
    const f = flow("f", Plain)
      .node("a", async (_, ctx) => {
        await Promise.all([
          ctx.call(spend, { what: new Money(100) }),
          ctx.call(spend, { what: new Money(200) }),
        ]);
      })
      .node("b", async (_, ctx) => {
        await ctx.call(spend, { what: new Money(300) });
      })
      .node("start", () => ({}))
      .start("start")
      .edge("start", "a")
      .edge("start", "b")
      .build();
    const sealer = { models: [money] };
    const port = new DeferredApproval(memoryApprovalStore(), {
      keyring,
      sealer: createSealer(sealer),
      schema: () => z.object({ what: money.schema }),
    });
    const make = () => new FlowRunner({ ...sealer, keyring, approvals: port });
    const first = paused(await make().run(f, { n: 1 }));
    expect(
      first.pendings.map(({ request }) => (request.arguments as { what: Money }).what.cents),
    ).toEqual([100, 200, 300]);
    const text = make().dumpCheckpoint(first.checkpoint);
    const other = make();
    const second = paused(
      await other.resume(
        f,
        other.loadCheckpoint(f, text),
        replies({ [first.pendings[0]!.id]: yes() }),
      ),
    );
    expect(second.pendings.map(({ request }) => request.redacted)).toEqual([true, true]);
    const rest = replies(Object.fromEntries(second.pendings.map(({ id }) => [id, yes()])));
    stateOf(await make().resume(f, second.checkpoint, rest));
    expect(got.toSorted((a, b) => a - b)).toEqual([1, 2, 3]);
  });

  it("FLOW-71 refuses to build a state whose classes a runner does not have, before anything runs", async () => {
    const { gated, log } = effects();
    const f = flow("f", Wallet)
      .node("put", () => ({ purse: new Money(150) }))
      .call("a", gated, { args: { n: 1 } })
      .path("put", "a")
      .build();
    const { runner, count } = world({ models: [money] });
    const first = paused(await runner().run(f, { n: 1 }));
    asAnotherProcess();
    const error = await rejection(runner({ models: [] }).resume(f, first.checkpoint, yes()));
    expect(error).toMatchObject({ code: "state-invalid" });
    expect(isFlowError(error)).toBe(true);
    expect(await count("pending")).toBe(1);
    expect(log).toEqual([]);
  });

  it("FLOW-71 takes values of a codec, and refuses at the pause one that does not come back as it went in", async () => {
    class Point {
      readonly x: number;
      constructor(x: number) {
        this.x = x;
      }
    }
    const good = defineCodec({
      type: "point",
      is: (value): value is Point => value instanceof Point,
      encode: (point: Point) => point.x,
      decode: (x) => new Point(x as number),
    });
    const lossy = defineCodec({
      type: "point",
      is: (value): value is Point => value instanceof Point,
      encode: (point: Point) => point.x,
      decode: (x) => new Point(Math.round(x as number)),
    });
    const { gated } = effects();
    const Loose = z.object({ n: z.number(), at: z.any() });
    const f = flow("f", Loose)
      .node("put", async (_, ctx) => ({ at: await ctx.step("at", () => new Point(1.5)) }))
      .node("a", async (_, ctx) => {
        const at = await ctx.step("again", () => new Point(2.5));
        await ctx.call(gated, { n: 1 });
        return { n: at.x };
      })
      .path("put", "a")
      .build();
    const fine = world({ codecs: [good as never] });
    const first = paused(await fine.runner().run(f, { n: 1, at: undefined }));
    const state = stateOf(await fine.runner().resume(f, first.checkpoint, yes()));
    expect(state).toEqual({ n: 2.5, at: new Point(1.5) });
    const bad = world({ codecs: [lossy as never] });
    expect(await rejection(bad.runner().run(f, { n: 1, at: undefined }))).toMatchObject({
      code: "state-not-sealable",
      message: expect.stringContaining("does not come back"),
    });
    expect(await bad.count("pending")).toBe(0);
  });
});
