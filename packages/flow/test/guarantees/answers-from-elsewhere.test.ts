import { isApprovalError } from "@holdpoint/approvals";
import { describe, expect, it } from "vitest";
import { z } from "zod";

import { flow, isFlowError, memoryRunLog, replies, type RunResult } from "../../src/index.ts";
import { effects } from "../support/effects.ts";
import { paused, rejection, stateOf, world, yes } from "../support/world.ts";

const State = z.object({ n: z.number(), sum: z.number().optional() });

describe("whoever answers", () => {
  it("CASE-026 FLOW-25 answers at the outermost run for a tool that only a flow two levels within knows", async () => {
    const { log, gated } = effects();
    const sub = flow("sub", State)
      .node("a", async (s, ctx) => ({ sum: (await ctx.call(gated, { n: s.n })).got }))
      .build();
    const middle = flow("middle", State)
      .subflow("sub", sub, { input: ({ n }) => ({ n }), into: ({ sum }) => ({ sum }) })
      .build();
    const root = flow("root", State)
      .node("runs", async (s, ctx) => ({ sum: (await ctx.run(middle, { n: s.n })).sum }), {
        runs: [middle],
      })
      .build();
    const { runner, outcomes } = world();
    const first = paused(await runner().run(root, { n: 5 }));
    expect(first.pendings).toMatchObject([
      { tool: "gated", path: "runs#1/middle.0/sub#1/sub.0/a#1" },
    ]);
    const fresh = runner(); // which has met neither the flows within nor their tool
    const text = runner().dumpCheckpoint(first.checkpoint);
    expect(stateOf(await fresh.resume(root, fresh.loadCheckpoint(root, text), yes())).sum).toBe(50);
    expect(log).toEqual(["gated(5)"]);
    expect(await outcomes()).toEqual(["executed"]);
  });

  /** Three calls of one node that wait together. */
  const three = () => {
    const { log, gated } = effects();
    const f = flow("f", State)
      .node("a", async (_, ctx) => {
        const all = [1, 2, 3].map((n) => ctx.call(gated, { n }));
        return { sum: (await Promise.all(all)).reduce((sum, { got }) => sum + got, 0) };
      })
      .build();
    return { f, log };
  };

  it("CASE-034 FLOW-30 takes three answers that a screen has collected in one resume", async () => {
    const { f, log } = three();
    const { runner } = world();
    const first = paused(await runner().run(f, { n: 1 }));
    const all = replies(Object.fromEntries(first.pendings.map(({ id }) => [id, yes()])));
    expect(stateOf(await runner().resume(f, first.checkpoint, all)).sum).toBe(60);
    expect(log.toSorted()).toEqual(["gated(1)", "gated(2)", "gated(3)"]);
  });

  for (const kind of ["portable", "durable"] as const) {
    it(`CASE-034 FLOW-54 takes or cleanly refuses each of three answers that a screen sends at once (${kind})`, async () => {
      const { f, log } = three();
      const { runner } = world(kind === "durable" ? { log: memoryRunLog() } : {});
      let now: RunResult<typeof f> = await runner().run(f, { n: 1 }, { runId: "r" });
      for (let round = 0; now.status === "paused"; round++) {
        expect(round).toBeLessThan(3); // at least one of those that come at once is taken
        const { checkpoint, pendings } = paused(now);
        const sent = await Promise.allSettled(
          pendings.map(({ id }) =>
            runner().resume(f, kind === "durable" ? "r" : checkpoint, replies({ [id]: yes() })),
          ),
        );
        const taken = sent.flatMap((one) => (one.status === "fulfilled" ? [one.value] : []));
        const refused = sent.flatMap((one) => (one.status === "rejected" ? [one.reason] : []));
        expect(taken.length).toBeGreaterThan(0);
        expect(refused.filter((reason) => !isCleanRefusal(reason))).toEqual([]);
        // The one that went furthest: what was taken of the others is in it.
        now = taken.toSorted((a, b) => open(a) - open(b))[0]!;
      }
      expect(now.state.sum).toBe(60);
      expect(log.toSorted()).toEqual(["gated(1)", "gated(2)", "gated(3)"]);
    });
  }
});

/** Somebody else answered it, or went on with the run, a moment before. */
function isCleanRefusal(reason: unknown): boolean {
  return (
    isApprovalError(reason, "approval-already-decided") ||
    isFlowError(reason, "revision-conflict") ||
    isFlowError(reason, "answer-unknown") ||
    isFlowError(reason, "not-paused")
  );
}

function open(result: RunResult): number {
  return result.status === "paused" ? result.pendings.length : 0;
}

describe("whoever goes on from another run", () => {
  it("CASE-152 FLOW-65 gets nothing of a run of another flow or of another owner, by its checkpoint or by its id", async () => {
    const { log, free, gated } = effects();
    const make = (name: string) =>
      flow(name, State)
        .node("a", async (s, ctx) => {
          const { got } = await ctx.call(free, { n: s.n });
          return { sum: got + (await ctx.call(gated, { n: s.n })).got };
        })
        .build();
    const [f, g] = [make("f"), make("g")];
    const { runner, count } = world({ log: memoryRunLog() });
    const first = paused(await runner().run(f, { n: 4711 }, { runId: "r" }));
    const text = runner().dumpCheckpoint(first.checkpoint);
    const stranger = runner({ scope: "elsewhere" });
    const tries: readonly (readonly [() => Promise<unknown>, string])[] = [
      [() => runner().fork(g, first.checkpoint), "graph-mismatch"],
      [() => runner().fork(g, "r"), "graph-mismatch"],
      [() => runner().resume(g, first.checkpoint, yes()), "graph-mismatch"],
      [() => runner().adopt(g, "r"), "graph-mismatch"],
      [async () => runner().loadCheckpoint(g, text), "graph-mismatch"],
      [() => stranger.fork(f, first.checkpoint), "checkpoint-tampered"],
      [() => stranger.resume(f, first.checkpoint, yes()), "checkpoint-tampered"],
      [() => stranger.fork(f, "r"), "run-not-found"],
      [() => stranger.adopt(f, "r"), "run-not-found"],
      [() => stranger.history(f, "r"), "run-not-found"],
      [async () => stranger.loadCheckpoint(f, text), "checkpoint-tampered"],
    ];
    for (const [attempt, code] of tries) {
      const error = await rejection(attempt());
      expect(error).toMatchObject({ code });
      expect(`${error.message} ${JSON.stringify(error)}`).not.toContain("4711");
    }
    expect(await count("pending")).toBe(1);
    expect(log).toEqual(["free(4711)"]);
    // A run of the other flow with the same input has nothing on record, and neither has one of the other owner.
    log.length = 0;
    paused(await runner().run(g, { n: 4711 }, { runId: "g" }));
    paused(await stranger.run(f, { n: 4711 }, { runId: "r" }));
    expect(log).toEqual(["free(4711)", "free(4711)"]);
  });
});
