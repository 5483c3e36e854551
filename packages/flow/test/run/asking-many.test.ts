import { createSealer } from "@holdpoint/seal";
import { describe, expect, it } from "vitest";
import { z } from "zod";

import { checkSealable, encodeState } from "../../src/checkpoint/seal.ts";
import { graphOf } from "../../src/graph/flow.ts";
import { flow, FlowRunner } from "../../src/index.ts";
import { begin, fold } from "../../src/run/fold.ts";
import type { Parts } from "../../src/run/parts.ts";
import { effects } from "../support/effects.ts";
import { keyring, paused, recordlessPort, rejection } from "../support/world.ts";

const State = z.object({ n: z.number(), odd: z.any().optional() });

/** A map that asks for each of its items, one after the other, and how often its list was made. */
function many(odd: (n: number) => unknown = (n) => n) {
  const { gated, free } = effects();
  let made = 0;
  const f = flow("f", State)
    .map("each", {
      over: (s) => {
        made += 1;
        return Array.from({ length: s.n }, (_, n) => n);
      },
      each: async (n, ctx) => {
        await ctx.call(free, { n });
        const it = await ctx.step("it", () => odd(n));
        await ctx.call(gated, { n });
        return it;
      },
      into: () => ({}),
      concurrency: 1,
    })
    .build();
  return { f, made: () => made };
}

describe("a run that asks for many things", () => {
  it("FLOW-26 encodes each part once before the pause, and compares each list once, however many are asked about", async () => {
    const { f, made } = many();
    paused(await new FlowRunner({ approvals: recordlessPort(), keyring }).run(f, { n: 50 }));
    expect(made()).toBe(3); // at the visit's start, at the first question, and at the pause

    const graph = graphOf(f);
    const sealer = createSealer();
    let chars = 0;
    const counting = {
      ...sealer,
      encode: (value: unknown) => {
        const text = sealer.encode(value);
        chars += text.length;
        return text;
      },
    };
    const parts = { sealer: counting, exact: true } as unknown as Parts;
    const seed = {
      runId: "r",
      scope: "s",
      flow: "f",
      digest: graph.digest,
      manifest: {},
      settings: {},
    };
    const run = begin({
      type: "run-started",
      at: 1,
      seed: seed as never,
      start: "each",
      state: { n: 1_000 },
    });
    const items = { form: "value", value: [] } as const;
    const inputs = { kind: "map", items, count: 1_000 } as const;
    fold(run, { type: "visit-started", at: 1, visit: "each#1", inputs });
    let known = checkSealable(run, graph, parts, undefined);
    const whole = chars;
    for (let index = 0; index < 1_000; index++) {
      const value = { form: "value", value: index } as const;
      fold(run, {
        type: "item-finished",
        at: 1,
        visit: `each#1[${index}]`,
        end: { ok: true, value },
      });
      known = checkSealable(run, graph, parts, known);
    }
    expect(chars - whole).toBeLessThan(encodeState(run, graph, { ...parts, sealer }).length * 2);
  });

  it("FLOW-26 asks for nothing more once a part can't be sealed, and names it", async () => {
    const port = recordlessPort();
    const { f } = many((n) => (n === 3 ? () => n : n));
    const runner = new FlowRunner({ approvals: port, keyring });
    expect(await rejection(runner.run(f, { n: 6 }))).toMatchObject({
      code: "state-not-sealable",
      data: { node: "each#1[3]", call: "it" },
    });
    expect(port.requests).toHaveLength(3);
  });
});
