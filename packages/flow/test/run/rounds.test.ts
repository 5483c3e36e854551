import { describe, expect, it } from "vitest";
import { z } from "zod";

import { flow, FlowRunner, replies } from "../../src/index.ts";
import { settle } from "../support/clock.ts";
import { effects } from "../support/effects.ts";
import { no, paused, recordlessPort, rejection, stateOf, world, yes } from "../support/world.ts";

const State = z.object({
  n: z.number(),
  text: z.string().optional(),
  list: z.array(z.string()).default([]),
});
// oxlint-disable-next-line typescript/no-explicit-any
const loose = (): any => flow("f", State);

/** Three nodes side by side after a start; `a` is the slowest. */
function fan(waits: readonly number[], write: (name: string) => object) {
  const b = flow("f", State).node("start", () => ({}));
  const node = (name: string, turns: number) => async () => {
    await settle(turns);
    return write(name) as { n?: number };
  };
  return b
    .node("a", node("a", waits[0]!))
    .node("b", node("b", waits[1]!))
    .node("c", node("c", waits[2]!))
    .edge("start", "c")
    .edge("start", "a")
    .edge("start", "b");
}

describe("rounds", () => {
  it("FLOW-04 FLOW-13 merges in declaration order, whoever was done first", async () => {
    for (const waits of [
      [3, 2, 1],
      [1, 2, 3],
      [2, 3, 1],
    ]) {
      const f = fan(waits, (name) => ({ list: [name] }))
        .reduce("list", (current, written) => [...current, ...written])
        .build();
      expect(stateOf(await new FlowRunner().run(f, { n: 1 })).list).toEqual(["a", "b", "c"]);
    }
  });

  it("FLOW-04 runs no more visits side by side than the bound", async () => {
    for (const concurrency of [1, 2, 3]) {
      let now = 0;
      let most = 0;
      const b = flow("f", State).node("start", () => ({}));
      const busy = async () => {
        most = Math.max(most, (now += 1));
        await settle(1);
        now -= 1;
      };
      const f = b
        .node("a", busy)
        .node("b", busy)
        .node("c", busy)
        .edge("start", "a")
        .edge("start", "b")
        .edge("start", "c")
        .build();
      stateOf(await new FlowRunner({ concurrency }).run(f, { n: 1 }));
      expect(most).toBe(concurrency);
    }
    expect(() => new FlowRunner({ concurrency: 0 })).toThrow(/whole number/);
  });

  it("FLOW-11 gives each node of a round the same state, and merges only when all have settled", async () => {
    const seen: number[] = [];
    const f = flow("f", State)
      .node("start", () => ({ n: 5 }))
      .node("a", (s) => (seen.push(s.n), { n: 6 }))
      .node("b", async (s) => (await settle(2), seen.push(s.n), { text: "b" }))
      .node("after", (s) => void seen.push(s.n))
      .edge("start", "a")
      .edge("start", "b")
      .edge("a", "after")
      .edge("b", "after")
      .build();
    expect(stateOf(await new FlowRunner().run(f, { n: 1 }))).toMatchObject({ n: 6, text: "b" });
    expect(seen).toEqual([5, 5, 6]);
  });

  it("FLOW-13 leaves a field whose key is absent, removes an optional one by undefined, and no other", async () => {
    const f = flow("f", State)
      .node("a", () => ({ text: "x" }))
      .node("b", () => ({ n: 2 }))
      .node("c", () => ({ text: undefined }) as object)
      .path("a", "b", "c")
      .build();
    const state = stateOf(await new FlowRunner().run(f, { n: 1 }));
    expect(state).toStrictEqual({ n: 2, list: [] });
  });

  it("FLOW-13 removes an optional field also where its reducer says so", async () => {
    const f = flow("f", State)
      .node("a", () => ({ text: "x" }))
      .reduce("text", () => undefined as never)
      .build();
    expect("text" in stateOf(await new FlowRunner().run(f, { n: 1, text: "was" }))).toBe(false);
  });

  it("FLOW-13 refuses two writes of one field in a round, naming both, and merges them by a reducer", async () => {
    const conflict = await rejection(
      new FlowRunner().run(
        fan([1, 1, 1], (name) => ({
          [name === "a" ? "text" : "n"]: name === "a" ? "x" : 1,
        })).build(),
        { n: 1 },
        { runId: "r" },
      ),
    );
    expect(conflict).toMatchObject({
      code: "update-conflict",
      data: { field: "n", nodes: ["b#1", "c#1"], flow: "f", runId: "r" },
    });
    const f = fan([1, 1, 1], () => ({ n: 1 }))
      .reduce("n", (current, written) => current + written)
      .build();
    expect(stateOf(await new FlowRunner().run(f, { n: 1 })).n).toBe(4);
  });

  it("FLOW-13 checks what a reducer gives, and wraps what it throws", async () => {
    const one = loose()
      .node("a", () => ({ n: 1 }))
      .reduce("n", () => "text")
      .build();
    expect(await rejection(new FlowRunner().run(one as never, { n: 1 } as never))).toMatchObject({
      code: "update-invalid",
      data: { flow: "f" },
    });
    const two = loose()
      .node("a", () => ({ n: 1 }))
      .reduce("n", () => {
        throw new TypeError("bad reducer");
      })
      .build();
    expect(
      await rejection(new FlowRunner().run(two as never, { n: 1 } as never, { runId: "r" })),
    ).toMatchObject({
      name: "FlowError",
      code: "node-failed",
      data: { flow: "f", runId: "r" },
      cause: { message: "bad reducer" },
    });
  });

  it("FLOW-05 R134 ends a runaway by its rounds and by its visits, counted over pauses", async () => {
    const loop = flow("f", State)
      .node("a", (s) => ({ n: s.n + 1 }))
      .route("a", ["a", "$end"], () => "a")
      .build();
    expect(await rejection(new FlowRunner({ roundsMax: 7 }).run(loop, { n: 0 }))).toMatchObject({
      code: "round-budget",
      data: { flow: "f" },
    });
    expect(await rejection(new FlowRunner({ visitsMax: 5 }).run(loop, { n: 0 }))).toMatchObject({
      code: "visit-budget",
      data: { node: "a#6" },
    });
    const own = flow("f", State)
      .node("a", () => ({}), { maxVisits: 2 })
      .route("a", ["a", "$end"], () => "a")
      .build();
    expect(await rejection(new FlowRunner().run(own, { n: 0 }))).toMatchObject({
      code: "visit-budget",
      data: { node: "a#3" },
    });
    const { gated } = effects();
    const asks = flow("f", State)
      .call("ask", gated, { args: { n: 1 } })
      .route("ask", ["ask", "$end"], () => "ask")
      .build();
    const { runner } = world({ roundsMax: 3 });
    let result = await runner().run(asks, { n: 0 });
    let resumes = 0;
    const error = await rejection(
      (async () => {
        for (;;) {
          result = await runner({ roundsMax: 99 }).resume(asks, paused(result).checkpoint, yes());
          resumes += 1;
        }
      })(),
    );
    expect(error).toMatchObject({ code: "round-budget" });
    expect(resumes).toBe(2);
  });

  it("FLOW-06 follows one or several declared targets, and refuses any other choice", async () => {
    const ran: string[] = [];
    const note = (name: string) => () => void ran.push(name);
    const f = flow("f", State)
      .node("a", () => ({}))
      .node("b", note("b"))
      .node("c", note("c"))
      .route("a", ["b", "c", "$end"], (s) => (s.n === 1 ? ["c", "b"] : s.n === 2 ? "c" : "$end"))
      .build();
    for (const n of [1, 2, 3]) stateOf(await new FlowRunner().run(f, { n }));
    expect(ran).toEqual(["b", "c", "c"]);
    for (const choice of ["d", "$start", undefined, null, 5, [], ["b", "d"], {}]) {
      const g = loose()
        .node("a", () => ({}))
        .node("b", () => ({}))
        .route("a", ["b"], () => choice)
        .build();
      expect(await rejection(new FlowRunner().run(g as never, { n: 1 } as never))).toMatchObject({
        code: "undeclared-route",
        data: { node: "a", flow: "f" },
      });
    }
  });

  it("FLOW-12 goes on along a failed edge, and keeps what siblings wrote", async () => {
    const f = flow("f", State)
      .node("start", () => ({}))
      .node("fails", () => {
        throw new Error("no");
      })
      .node("fine", () => ({ n: 7 }))
      .node("mend", (s) => ({ text: `mended ${s.n}` }))
      .edge("start", "fails")
      .edge("start", "fine")
      .failed("fails", "mend")
      .build();
    expect(stateOf(await new FlowRunner().run(f, { n: 1 }))).toMatchObject({
      n: 7,
      text: "mended 7",
    });
  });

  it("FLOW-12 FLOW-36 keeps the denial's class where several fail, with all of them in errors", async () => {
    const { gated } = effects();
    const f = flow("f", State)
      .node("start", () => ({}))
      .call("asks", gated, { args: { n: 1 } })
      .call("asks2", gated, { args: { n: 2 } })
      .edge("start", "asks")
      .edge("start", "asks2")
      .build();
    const { runner } = world({ approvals: recordlessPort() });
    const first = paused(await runner().run(f, { n: 1 }));
    const all = replies(Object.fromEntries(first.pendings.map(({ id }) => [id, no()])));
    expect(await rejection(runner().resume(f, first.checkpoint, all))).toMatchObject({
      name: "ApprovalDenied",
      data: { node: "asks#1", errors: [{ node: "asks#1" }, { node: "asks2#1" }] },
    });
  });

  it("FLOW-44 CASE-138 refuses at the start a flow that nobody could answer", async () => {
    const { gated, free, tool } = effects();
    const asking = [
      flow("f", State)
        .gate("a", { payload: (s) => s.n })
        .build(),
      flow("f", State)
        .call("a", gated, { args: { n: 1 } })
        .build(),
      flow("f", State)
        .call("a", tool("maybe", { confirm: () => false }), { args: { n: 1 } })
        .build(),
    ];
    for (const f of asking) {
      const error = await rejection(new FlowRunner().run(f, { n: 1 }));
      expect(error).toMatchObject({ code: "no-approver", data: { node: "a" } });
      expect(error.message).toContain("no one can answer");
    }
    stateOf(
      await new FlowRunner().run(
        flow("f", State)
          .call("a", free, { args: { n: 1 } })
          .build(),
        { n: 1 },
      ),
    );
  });
});
