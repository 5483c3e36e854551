import { defineTool, edited, editsOf, idempotencyKeyOf } from "@holdpoint/tools";
import { approve } from "@holdpoint/approvals";
import { describe, expect, it } from "vitest";
import { z } from "zod";

import { flow } from "../../src/index.ts";
import { effects } from "../support/effects.ts";
import { dana, paused, stateOf, world, yes } from "../support/world.ts";

const State = z.object({ n: z.number(), sum: z.number().optional(), note: z.string().optional() });

describe("a call is found again by its key", () => {
  it("FLOW-31 replays under a random default in a nested object, and tells a value equal to a default from none", async () => {
    const { gated } = effects();
    const ran: unknown[] = [];
    let drawn = 0;
    const order = defineTool({
      name: "order",
      description: "orders",
      input: z.object({
        lines: z.array(
          z.object({ sku: z.string(), id: z.string().default(() => `id-${(drawn += 1)}`) }),
        ),
        count: z.number().default(1),
      }),
      execute: (args) => {
        ran.push(args);
        return args.lines[0]!.id;
      },
    });
    const seen: string[] = [];
    let explicit = false;
    const f = flow("f", State)
      .node("a", async (s, ctx) => {
        const lines = [{ sku: "x" }];
        seen.push(await ctx.call(order, explicit ? { lines, count: 1 } : { lines }));
        await ctx.call(gated, { n: s.n });
      })
      .build();
    const { runner } = world();
    const first = paused(await runner().run(f, { n: 1 }));
    const again = paused(await runner().run(f, { n: 1 }));
    await runner().resume(f, first.checkpoint, yes());
    expect(seen).toEqual(["id-1", "id-2", "id-1"]);
    expect(ran).toHaveLength(2);
    explicit = true; // the code changed: unset and `count: 1` are two calls
    await runner().resume(f, again.checkpoint, yes());
    expect(ran).toHaveLength(3);
  });

  it("FLOW-31 replays by a key given by hand, whatever the input is", async () => {
    const { log, free, gated } = effects();
    let n = 1;
    const f = flow("f", State)
      .node("a", async (s, ctx) => {
        const { got } = await ctx.call(free, { n: (n += 1) }, { key: "the one" });
        await ctx.call(gated, { n: s.n });
        return { sum: got };
      })
      .build();
    const { runner } = world();
    const first = paused(await runner().run(f, { n: 1 }));
    expect(stateOf(await runner().resume(f, first.checkpoint, yes())).sum).toBe(20);
    expect(log).toEqual(["free(2)", "gated(1)"]);
  });

  it("FLOW-31 replays a call by its tool's own key where the input can't be sealed", async () => {
    const { gated } = effects();
    const sizes: number[] = [];
    const upload = defineTool({
      name: "upload",
      description: "takes a stream",
      input: z.object({ name: z.string(), body: z.any() }),
      key: ({ name }) => name,
      execute: ({ body }) => (body as () => number)(),
    });
    const f = flow("f", State)
      .node("a", async (s, ctx) => {
        const once = () => sizes.push(7);
        const sum = await ctx.call(upload, { name: "x", body: once });
        await ctx.call(gated, { n: s.n });
        return { sum };
      })
      .build();
    const { runner } = world();
    const first = paused(await runner().run(f, { n: 1 }));
    expect(stateOf(await runner().resume(f, first.checkpoint, yes())).sum).toBe(1);
    expect(sizes).toEqual([7]);
  });

  it("FLOW-38 FLOW-39 gives each of equal calls a key of its own, which no edit, pause or question changes", async () => {
    const keys: string[] = [];
    const keyed = defineTool({
      name: "keyed",
      description: "keeps its key",
      input: z.object({ n: z.number() }),
      confirm: true,
      execute: (_, { idempotencyKey }) => void keys.push(idempotencyKey),
    });
    const f = flow("f", State)
      .node("a", async (_, ctx) => {
        await ctx.call(keyed, { n: 1 });
        await ctx.call(keyed, { n: 1 });
      })
      .build();
    for (const answer of [yes(), approve({ by: dana, edited: edited(keyed, { n: 9 }) })]) {
      const { runner } = world({ edits: editsOf([keyed]) });
      const first = paused(await runner().run(f, { n: 1 }, { runId: "same" }));
      const second = paused(await runner().resume(f, first.checkpoint, answer));
      stateOf(await runner().resume(f, second.checkpoint, yes()));
      const { argumentKey } = first.pending.request;
      const call = { runId: "same", node: "a#1", tool: "keyed", key: argumentKey };
      expect(keys.splice(0)).toEqual([
        idempotencyKeyOf({ ...call, number: 0 }),
        idempotencyKeyOf({ ...call, number: 1 }),
      ]);
    }
  });
});
