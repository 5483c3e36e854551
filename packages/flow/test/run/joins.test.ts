import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { z } from "zod";

import { flow, FlowRunner, replies, type Flow, type RunResult } from "../../src/index.ts";
import { graphOf } from "../../src/graph/flow.ts";
import { plan } from "../../src/run/plan.ts";
import { begin } from "../../src/run/fold.ts";
import { dueOf } from "../../src/run/joins.ts";
import { effects } from "../support/effects.ts";
import { no, paused, stateOf, world, yes } from "../support/world.ts";

const State = z.object({ n: z.number(), ran: z.array(z.string()).default([]) });
type S = z.output<typeof State>;
const join = { join: true } as const;
const note = (name: string) => () => ({ ran: [name] });
const begun = () =>
  flow("f", State)
    .reduce("ran", (all, more) => [...all, ...more])
    .node("start", note("start"));

const ranIn = async (f: Flow<S, { n: number }>, n = 0) =>
  stateOf(await new FlowRunner().run(f, { n })).ran.join(" ");

/** A short and a long way that meet. */
const uneven = (options: { join?: boolean }) =>
  begun()
    .node("short", note("short"))
    .node("long", note("long"))
    .node("longer", note("longer"))
    .node("meet", note("meet"), options)
    .path("start", "short", "meet")
    .path("start", "long", "longer", "meet")
    .build();

describe("a join", () => {
  it("FLOW-10 runs once, when the longest way to it has come in; any other node runs with each round that names it", async () => {
    expect(await ranIn(uneven(join))).toBe("start short long longer meet");
    expect(await ranIn(uneven({}))).toBe("start short long longer meet meet");
  });

  it("FLOW-10 waits for a way that a route may still take, and no longer than that", async () => {
    const f = begun()
      .node("a", note("a"))
      .node("b", note("b"))
      .node("c", note("c"))
      .node("meet", note("meet"), join)
      .edge("start", "a")
      .edge("start", "meet")
      .edge("a", "b")
      .route("b", ["meet", "c"], (s) => (s.n === 0 ? "meet" : "c"))
      .edge("c", "$end")
      .build();
    expect(await ranIn(f)).toBe("start a b meet");
    // The route went elsewhere: nothing can reach it any more, so it runs beside.
    expect(await ranIn(f, 1)).toBe("start a b c meet");
  });

  it("FLOW-10 waits for what a failed or a denied edge would bring", async () => {
    const f = begun()
      .node("a", note("a"))
      .node("fine", note("fine"))
      .node("mend", note("mend"))
      .gate("look", { payload: (s) => s.n })
      .node("other", note("other"))
      .node("meet", note("meet"), join)
      .edge("start", "a")
      .edge("start", "look")
      .edge("start", "meet")
      .edge("a", "fine")
      .edge("fine", "$end")
      .failed("fine", "mend")
      .edge("mend", "meet")
      .edge("look", "$end")
      .denied("look", "other")
      .edge("other", "meet")
      .build();
    const { runner } = world();
    const first = paused(await runner().run(f, { n: 1 }));
    expect(stateOf(await runner().resume(f, first.checkpoint, no())).ran.join(" ")).toBe(
      "start a fine other meet",
    );
    const again = paused(await runner().run(f, { n: 1 }));
    expect(stateOf(await runner().resume(f, again.checkpoint, yes())).ran.join(" ")).toBe(
      "start a fine meet",
    );
  });

  it("FLOW-10 brings the branches of a loop's body together in each turn, and is not held back by itself", async () => {
    const f = begun()
      .node("turn", (s) => ({ n: s.n + 1, ran: ["turn"] }), join)
      .node("a", note("a"))
      .node("b", note("b"))
      .node("c", note("c"))
      .node("aside", note("aside"))
      .edge("start", "turn")
      .edge("start", "aside")
      .route("turn", ["a", "b", "$end"], (s) => (s.n > 2 ? "$end" : ["a", "b"]))
      .edge("a", "turn")
      .path("b", "c", "turn")
      .build();
    expect(await ranIn(f)).toBe("start turn aside a b c turn a b c turn");
  });

  it("FLOW-10 lets two joins run in the order in which one leads to the other, whoever is declared first", async () => {
    const late = () => begun().node("late", note("late"), join).node("early", note("early"), join);
    const early = () => begun().node("early", note("early"), join).node("late", note("late"), join);
    for (const declared of [early, late]) {
      const f = declared()
        .node("a", note("a"))
        .edge("start", "early")
        .edge("start", "late")
        .path("start", "a", "early", "late")
        .build();
      expect(await ranIn(f)).toBe("start a early late");
    }
  });

  it("FLOW-10 lets the first declared go first where joins wait for nothing but each other", async () => {
    const f = begun()
      .node("after", note("after"), join)
      .node("one", (s) => ({ n: s.n + 1, ran: ["one"] }), join)
      .node("two", note("two"), join)
      .edge("start", "after")
      .edge("start", "two")
      .edge("start", "one")
      .edge("one", "two")
      .route("two", ["one", "after"], (s) => (s.n < 2 ? "one" : "after"))
      .build();
    expect(await ranIn(f)).toBe("start one two one two after");
  });

  it("FLOW-10 waits for a branch that is paused, through its checkpoint's text", async () => {
    const { log, gated } = effects();
    const f = begun()
      .node("short", note("short"))
      .node("long", note("long"))
      .call("ask", gated, { args: (s) => ({ n: s.n }) })
      .gate("look", { payload: (s) => s.ran })
      .node("meet", note("meet"), join)
      .path("start", "short", "meet")
      .path("start", "long", "ask", "look", "meet")
      .build();
    const { runner } = world();
    const through = (result: RunResult<typeof f>) => {
      const { checkpoint } = paused(result);
      where.push(checkpoint.frontier.join());
      const text = runner().dumpCheckpoint(checkpoint);
      return runner().resume(f, runner().loadCheckpoint(f, text), yes());
    };
    const where: string[] = [];
    const end = await through(await through(await runner().run(f, { n: 4 })));
    expect(stateOf(end).ran.join(" ")).toBe("start short long meet");
    expect(where).toEqual(["ask#1", "look#1"]);
    expect(log).toEqual(["gated(4)"]);
  });

  it("FLOW-10 ends no run while a join waits, though an end was reached, and completes when nothing is due", async () => {
    const f = begun()
      .node("out", note("out"))
      .node("a", note("a"))
      .node("b", note("b"))
      .node("meet", note("meet"), join)
      .edge("start", "out")
      .edge("out", "$end")
      .edge("start", "meet")
      .path("start", "a", "b", "meet")
      .build();
    expect(await ranIn(f)).toBe("start out a b meet");
  });

  it("FLOW-10 calls it a dead end where nothing is due and no end was reached", () => {
    const graph = graphOf(uneven(join));
    const seed = { runId: "r" } as Parameters<typeof begin>[0]["seed"];
    const run = begin({ type: "run-started", at: 1, seed, start: graph.start, state: {} });
    expect(plan({ ...run, visits: [] })).toEqual({ do: "dead-end" });
    expect(plan({ ...run, visits: [], endReached: true })).toEqual({ do: "complete" });
  });

  it("FLOW-10 runs each join of a graph without loops at most once, and always goes on, over generated graphs", () => {
    const edges = fc.uniqueArray(fc.tuple(fc.nat(7), fc.nat(7)), { maxLength: 20 });
    let held = 0;
    fc.assert(
      fc.property(
        edges,
        fc.boolean(),
        fc.array(fc.boolean(), { maxLength: 8 }),
        (pairs, loops, plain) => {
          const drawn = new Set(
            pairs.filter(([a, b]) => a !== b && (loops || a < b)).map(([a, b]) => `n${a} n${b}`),
          );
          const f = graphFrom(
            [...drawn].map((pair) => pair.split(" ")),
            plain,
          );
          const { joins, nodes, start } = graphOf(f);
          const counts = new Map<string, number>();
          let due = dueOf(graphOf(f), [start], []);
          for (let round = 0; round < 40 && due.next.length + due.held.length > 0; round++) {
            held += due.held.length;
            expect(due.next.length).toBeGreaterThan(0);
            expect(new Set([...due.next, ...due.held]).size).toBe(
              due.next.length + due.held.length,
            );
            for (const name of due.next) counts.set(name, (counts.get(name) ?? 0) + 1);
            const named = due.next.flatMap((name) => nodes.get(name)!.edges);
            due = dueOf(graphOf(f), named, due.held);
          }
          const most = loops
            ? 0
            : Math.max(0, ...[...joins.keys()].map((name) => counts.get(name) ?? 0));
          expect(most).toBeLessThan(2);
        },
      ),
      { numRuns: 500, seed: 10 },
    );
    expect(held).toBeGreaterThan(200);
  });

  it("FLOW-10 answers several branches in any order before they meet", async () => {
    const { log, gated } = effects();
    const f = begun()
      .call("a", gated, { args: { n: 1 } })
      .call("b", gated, { args: { n: 2 } })
      .node("more", note("more"))
      .node("meet", note("meet"), join)
      .edge("start", "a")
      .edge("start", "b")
      .edge("a", "meet")
      .path("b", "more", "meet")
      .build();
    for (const order of [
      [0, 1],
      [1, 0],
    ]) {
      const { runner } = world();
      const first = paused(await runner().run(f, { n: 0 }));
      const ids = first.pendings.map(({ id }) => id);
      const one = replies({ [ids[order[0]!]!]: yes() });
      const second = paused(await runner().resume(f, first.checkpoint, one));
      const end = await runner().resume(f, second.checkpoint, yes());
      expect(stateOf(end).ran.join(" ")).toBe("start more meet");
    }
    expect(log).toEqual(["gated(1)", "gated(2)", "gated(2)", "gated(1)"]);
  });
});

/** Nodes `n0` to `n7`, joins but for those said to be plain; `start` leads to all, so that each is reached. */
function graphFrom(drawn: readonly (readonly string[])[], plain: readonly boolean[]): Flow {
  // oxlint-disable-next-line typescript/no-explicit-any
  let b: any = flow("f", State).node("start", () => ({}));
  for (let index = 0; index < 8; index++)
    b = b.node(`n${index}`, () => ({}), { join: plain[index] !== true }).edge("start", `n${index}`);
  for (const [from, to] of drawn) b = b.edge(from, to);
  for (let index = 0; index < 8; index++) b = b.route(`n${index}`, ["$end"], () => "$end");
  return b.build() as Flow;
}
