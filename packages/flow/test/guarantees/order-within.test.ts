// The order of outcomes, and a run that paused against one that did not, for maps and nested runs.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { z } from "zod";

import { flow, type NodeContext } from "../../src/index.ts";
import { carried } from "../support/carried.ts";
import { perform, program, programTools, type Piece, type Trace } from "../support/program.ts";
import { recordlessPort, stateOf, world } from "../support/world.ts";

const Program = z.object({ piece: z.any(), note: z.string().optional() });
const Programs = z.object({ pieces: z.array(z.any()), notes: z.array(z.string()).default([]) });

describe("outcomes reach each execution's code in one order, and a re-run gets it again", () => {
  it("FLOW-46 shows nested runs, items and the code around them the same values at every re-run (400 programs)", async () => {
    let resumes = 0;
    let compared = 0;
    await fc.assert(
      fc.asyncProperty(
        fc.array(program, { minLength: 3, maxLength: 3 }),
        fc.nat(5),
        async (pieces, luck) => {
          const effects: string[] = [];
          const tools = programTools({ effects, seen: [] }, true);
          /** What each execution of each piece of code saw, in the order of the executions. */
          const seen = new Map<string, string[][]>();
          const watched = async (piece: Piece, ctx: NodeContext): Promise<string> => {
            const trace: Trace = { effects, seen: [] };
            seen.set(ctx.node, [...(seen.get(ctx.node) ?? []), trace.seen]);
            return perform(piece, ctx, tools, trace);
          };
          const one = flow("one", Program)
            .node("code", async (s, ctx) => ({ note: await watched(s.piece as Piece, ctx) }))
            .build();
          const f = flow("f", Programs)
            .node(
              "around",
              async (s, ctx) => {
                const [a, b, c] = s.pieces as [Piece, Piece, Piece];
                const ends = [ctx.run(one, { piece: a }), ctx.run(one, { piece: c })];
                const own = await watched(b, ctx);
                const notes = (await Promise.all(ends)).map((end) => end.note ?? "");
                return { notes: [...notes, own] };
              },
              { runs: [one] },
            )
            .map("each", {
              over: (s) => s.pieces as Piece[],
              each: watched,
              into: ({ values }, s) => ({ notes: [...s.notes, ...values] }),
            })
            .edge("around", "each")
            .build();
          const { runner } = world({ approvals: recordlessPort(), onEvent: [] });
          const { pauses } = await carried(f, await runner().run(f, { pieces }), runner, {
            pick: (waiting, pause) => [pause + luck, ...(waiting > 2 ? [pause + luck + 1] : [])],
          });
          resumes += pauses;
          for (const runs of seen.values()) {
            for (let index = 1; index < runs.length; index++) {
              const before = runs[index - 1]!;
              expect(runs[index]!.slice(0, before.length)).toEqual(before);
              compared += before.length;
            }
          }
        },
      ),
      { numRuns: 400, seed: 46 },
    );
    expect(resumes).toBeGreaterThan(500);
    expect(compared).toBeGreaterThan(500);
  });

  it("FLOW-62 FLOW-33 FLOW-34 ends a map whose items run by themselves or as nested runs, and that paused at every point, as one that never did", async () => {
    const pieces = fc.array(
      fc.record({
        nested: fc.boolean(),
        of: fc.array(
          fc.oneof(
            fc.record({ do: fc.constant("call" as const), n: fc.nat(2), slow: fc.constant(0) }),
            fc.record({ do: fc.constant("gated" as const), n: fc.nat(2), slow: fc.constant(0) }),
            fc.record({ do: fc.constant("fail" as const), n: fc.nat(1) }),
          ),
          { minLength: 1, maxLength: 4 },
        ),
      }),
      { maxLength: 4 },
    );
    let pauses = 0;
    await fc.assert(
      fc.asyncProperty(pieces, fc.nat(3), fc.boolean(), async (list, luck, stopOnPause) => {
        const make = (asks: boolean) => {
          const traces = list.map((): Trace => ({ effects: [], seen: [] }));
          const tools = traces.map((trace) => programTools(trace, asks));
          const code = (index: number, ctx: NodeContext): Promise<string> => {
            const { of } = list[index]!;
            return perform({ do: "sequence", of }, ctx, tools[index]!, traces[index]!);
          };
          const inner = flow("inner", Program)
            .node("code", async (s, ctx) => ({ note: await code(s.piece as number, ctx) }))
            .build();
          const f = flow("f", Programs)
            .map("each", {
              over: (s) => s.pieces as number[],
              each: async (index, ctx) =>
                list[index]!.nested
                  ? ((await ctx.run(inner, { piece: index })).note ?? "")
                  : code(index, ctx),
              into: ({ values }) => ({ notes: [...values] }),
              runs: [inner],
              stopOnPause,
            })
            .build();
          return { f, effects: () => traces.map(({ effects }) => effects) };
        };
        const input = { pieces: list.map((_, index) => index) };
        const here = make(true);
        const { runner } = world({ approvals: recordlessPort(), onEvent: [] });
        const end = await carried(here.f, await runner().run(here.f, input), runner, {
          pick: (_, pause) => [pause + luck],
        });
        pauses += end.pauses;
        const never = make(false);
        const straight = stateOf(await runner().run(never.f, input));
        expect(end.state).toEqual(straight);
        expect(here.effects()).toEqual(never.effects());
      }),
      { numRuns: 150, seed: 62 },
    );
    expect(pauses).toBeGreaterThan(150);
  });
});
