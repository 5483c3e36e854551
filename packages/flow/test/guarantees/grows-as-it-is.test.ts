import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { z } from "zod";

import { flow, memoryRunLog, replies, type RunResult } from "../../src/index.ts";
import { paused, stateOf, world, yes } from "../support/world.ts";

const Item = z.object({
  n: z.number(),
  text: z.string().optional(),
  at: z.date().optional(),
  deep: z.array(z.array(z.number())).optional(),
});
const State = z.object({
  turn: z.number().default(0),
  list: z.array(Item).default([]),
  other: z.array(Item).optional(),
  numbers: z.array(z.number()).default([]),
  mixed: z.array(z.union([z.string(), Item, z.null()])).default([]),
  loose: z.array(z.any()).default([]),
  text: z.string().default(""),
});
type State = z.output<typeof State>;

/** What a turn does to the fields: adds, takes away, changes, moves between fields, and goes back. */
const turns = [
  ({ list }, { n }) => ({ list: [...list, { n }] }),
  ({ list }, { i }) => ({ list: list.slice(i % 3) }),
  ({ list, numbers }, { i, n }) => ({
    list: [...list, list[i % (list.length || 1)] ?? { n }],
    numbers: [...numbers, n],
  }),
  ({ list }, { i, n }) => ({ list: list.map((item, at) => (at === i ? { ...item, n } : item)) }),
  ({ list }, { n }) => ({ other: list, list: [...list, { n, at: new Date(5), text: "q" }] }),
  ({ other }, { i, n }) => ({ other: i > 2 ? undefined : [...(other ?? []), { n, deep: [[i]] }] }),
  ({ numbers, text }, { i }) => ({ numbers: numbers.slice(0, i), text: text + "ab".repeat(700) }),
  ({ numbers, text }, { n }) => ({ text: `${text.slice(0, 1_100)}é😀`, numbers: [n, ...numbers] }),
  ({ mixed }, { j, n }) => ({ mixed: [...mixed, null, "x", { n }, mixed[j] ?? null] }),
  ({ mixed, loose }, { n }) => ({ loose: [...loose, { n: [n] }], mixed: mixed.toReversed() }),
  ({ numbers, text }, { j }) => ({
    numbers: [...numbers, ...numbers.slice(0, j)],
    text: text.slice(1),
  }),
  ({ list, other }) => ({ list: [...list, ...(other ?? [])], other: list }),
  ({ numbers }, { n }) => ({ numbers: [0, ...numbers.slice(1).map((each) => -each), n] }),
] satisfies readonly ((state: State, how: Turn) => Partial<State>)[];

interface Turn {
  readonly what: number;
  readonly i: number;
  readonly j: number;
  readonly n: number;
  readonly pauses: boolean;
}

const turn = fc.record({
  what: fc.nat(turns.length - 1),
  i: fc.nat(5),
  j: fc.nat(5),
  n: fc.oneof(fc.integer(), fc.constantFrom(0, -0)),
  pauses: fc.boolean(),
});

function looping(of: readonly Turn[], isGated: boolean) {
  const at = ({ turn: number }: State): Turn => of[number]!;
  return flow("f", State)
    .node("a", (s) => ({ turn: s.turn + 1, ...turns[at(s).what]!(s, at(s)) }))
    .gate("g", {
      payload: (s) => ({ turn: s.turn }),
      when: (s) => isGated && of[s.turn - 1]!.pauses,
    })
    .node("end", () => ({}))
    .edge("a", "g")
    .route("g", ["a", "end"], (s) => (s.turn < of.length ? "a" : "end"))
    .start("a")
    .build();
}

describe("a state that is logged by what was added", () => {
  it("FLOW-73 FLOW-62 is the same from its log at every pause as one that was never logged", async () => {
    let runs = 0;
    const property = fc.asyncProperty(
      fc.array(turn, { minLength: 1, maxLength: 25 }),
      async (of) => {
        const runId = `r${(runs += 1)}`;
        const plain = stateOf(await world().runner().run(looping(of, false), {}));
        const { runner } = world({ log: memoryRunLog() });
        const f = looping(of, true);
        let result: RunResult<typeof f> = await runner().run(f, {}, { runId });
        while (result.status === "paused") {
          const { checkpoint, pending } = paused(result);
          const read = paused(await runner().adopt(f, runId));
          expect(read.checkpoint.state).toEqual(checkpoint.state);
          result = await runner().resume(f, runId, replies({ [pending.id]: yes() }));
        }
        expect(result.state).toEqual(plain);
      },
    );
    await fc.assert(property, { numRuns: 60 });
  });
});
