import { createSealer } from "@holdpoint/seal";
import { describe, expect, it } from "vitest";
import { z } from "zod";

import { openCheckpoint, phaseHolds } from "../../src/checkpoint/open.ts";
import { encodeState, sealRun } from "../../src/checkpoint/seal.ts";
import { graphOf } from "../../src/graph/flow.ts";
import { flow, FlowRunner, type Checkpoint } from "../../src/index.ts";
import { newExecution } from "../../src/run/journal.ts";
import { resolveOptions } from "../../src/run/options.ts";
import type { RunState, VisitState } from "../../src/run/state.ts";
import { effects } from "../support/effects.ts";
import { keyring, paused, rejection, stateOf, world, yes } from "../support/world.ts";

const State = z.object({
  n: z.number(),
  sum: z.number().optional(),
  filled: z.string().default("x"),
});

const sealedAs = (text: string): Checkpoint =>
  ({ sealed: new TextEncoder().encode(text) }) as unknown as Checkpoint;

describe("what a resume may open", () => {
  it("FLOW-60 lets exactly the combinations of phase and visits stand that the table names", () => {
    const open = (
      answered: boolean,
    ): Pick<Extract<VisitState, { status: "waiting" }>, "inputs" | "execution"> => {
      const execution = newExecution();
      execution.waits.push({ kind: "approval", ...(answered && { answer: {} as never }) } as never);
      return { inputs: undefined, execution };
    };
    const visit = (status: VisitState["status"], answered = false): VisitState => {
      const base = { node: "a", number: 1, path: "a#1" };
      return status === "finished"
        ? { ...base, status, end: { ok: true, update: {} } }
        : { ...base, status, ...open(answered) };
    };
    const phases = [
      { is: "routed" },
      { is: "running" },
      { is: "paused" },
      { is: "ended", how: "completed" },
    ] as const;
    const rounds = {
      none: [],
      ready: [visit("ready")],
      waiting: [visit("waiting")],
      finished: [visit("finished")],
      "ready and waiting": [visit("ready"), visit("waiting")],
      "waiting and finished": [visit("waiting"), visit("finished")],
      "waiting for nobody": [visit("waiting", true)],
    };
    const holds = Object.fromEntries(
      phases.map((phase) => [
        phase.is,
        Object.entries(rounds)
          .filter(([, visits]) =>
            phaseHolds({ phase, visits, frames: new Map() } as unknown as RunState),
          )
          .map(([name]) => name),
      ]),
    );
    expect(holds).toEqual({
      routed: ["none", "ready"],
      running: [
        "none",
        "ready",
        "waiting",
        "finished",
        "ready and waiting",
        "waiting and finished",
      ],
      paused: ["waiting", "waiting and finished"],
      ended: ["none", "ready", "waiting", "finished", "ready and waiting", "waiting and finished"],
    });
  });

  it("FLOW-60 refuses a sealed state whose phase, node names or fields do not fit", async () => {
    const { log, gated } = effects();
    const f = flow("f", State)
      .call("a", gated, { args: { n: 1 } })
      .build();
    const { runner, count } = world();
    const first = paused(await runner().run(f, { n: 1 }));
    const text = runner().dumpCheckpoint(first.checkpoint);
    const { parts } = resolveOptions({ keyring });
    const graph = graphOf(f);
    const changes: Record<string, [(state: RunState) => void, string]> = {
      "a join that is not there": [(state) => (state.held = ["a"]), "holds a join 'a'"],
      "a node that is not there": [
        (state) => (state.visits[0] = { ...state.visits[0]!, node: "z" }),
        "names a node 'z'",
      ],
      "a round that waits for nothing": [
        (state) => void (state.visits = []),
        "does not go with its visits",
      ],
      "a visit that is ready": [
        (state) => (state.visits[0]!.status = "ready"),
        "does not go with its visits",
      ],
      "a field of another kind": [
        (state) => (state.state = { n: "one" }),
        "does not fit its schema",
      ],
      "a default that is missing": [
        (state) => (state.state = { n: 1 }),
        "does not fit its schema: filled",
      ],
      "a field that is missing": [(state) => (state.state = {}), "does not fit its schema"],
    };
    for (const [, [change, says]] of Object.entries(changes)) {
      const { state } = openCheckpoint(graph, parts, text, { scope: "default" });
      change(state);
      const forged = sealRun(encodeState(state, graph, parts), state, parts);
      expect(() => runner().loadCheckpoint(f, forged)).toThrow(says);
      expect((await rejection(runner().resume(f, sealedAs(forged), yes()))).message).toContain(
        says,
      );
    }
    expect(await count("pending")).toBe(1);
    expect(log).toEqual([]);
  });

  it("FLOW-60 refuses a sealed state whose nested runs do not fit their visits, or the flows that these declare", async () => {
    const { log, gated } = effects();
    const inner = flow("inner", State)
      .call("a", gated, { args: { n: 1 } })
      .build();
    const f = flow("f", State)
      .map("each", {
        over: () => [1],
        each: (_, ctx) => ctx.run(inner, { n: 1 }).then(() => 1),
        into: () => ({}),
        runs: [inner],
      })
      .node("after", () => ({}))
      .edge("each", "after")
      .build();
    const { runner } = world();
    const first = paused(await runner().run(f, { n: 1 }));
    const text = runner().dumpCheckpoint(first.checkpoint);
    const { parts } = resolveOptions({ keyring });
    const graph = graphOf(f);
    const path = "each#1[0]/inner.0";
    const frame = ({ frames }: RunState) => frames.get(path)!;
    const changes: Record<string, [(state: RunState) => void, string]> = {
      "a nested run that is gone": [({ frames }) => frames.clear(), "its nested runs"],
      "one that nothing began": [
        (state) => void state.frames.set("each#1[0]/inner.1", frame(state)),
        "its nested runs",
      ],
      "a node within that is not there": [
        (state) => (frame(state).visits[0] = { ...frame(state).visits[0]!, node: "z" }),
        "names a node 'z'",
      ],
      "a visit within that is ready": [
        (state) => (frame(state).visits[0]!.status = "ready"),
        "does not go with its visits",
      ],
      "a field within of another kind": [
        (state) => (frame(state).state = { n: "one" }),
        "does not fit its schema",
      ],
      "a node around it that declares nothing": [
        (state) => (state.visits[0] = { ...state.visits[0]!, node: "after" }),
        "a nested run 'each#1[0]/inner.0' that the graph lacks",
      ],
    };
    for (const [change, says] of Object.values(changes)) {
      const { state } = openCheckpoint(graph, parts, text, { scope: "default" });
      change(state);
      const forged = sealRun(encodeState(state, graph, parts), state, parts);
      expect(() => runner().loadCheckpoint(f, forged)).toThrow(says);
    }
    expect(log).toEqual([]);
    stateOf(await runner().resume(f, runner().loadCheckpoint(f, text), yes()));
    expect(log).toEqual(["gated(1)"]);
  });

  it("FLOW-60 refuses to resume what has ended, and a checkpoint that was cancelled", async () => {
    const { log, gated } = effects();
    const f = flow("f", State)
      .call("a", gated, { args: { n: 1 } })
      .build();
    const { runner, outcomes } = world();
    const first = paused(await runner().run(f, { n: 1 }));
    await runner().cancel(f, first.checkpoint, { reason: "not needed" });
    await runner().cancel(f, first.checkpoint, { reason: "said twice" });
    expect(await outcomes()).toEqual(["cancelled"]);
    expect(await rejection(runner().resume(f, first.checkpoint, yes()))).toMatchObject({
      name: "ResumeTerminalError",
      code: "resume-terminal",
      data: { status: "cancelled" },
    });
    const second = paused(await runner().run(f, { n: 1 }));
    stateOf(await runner().resume(f, second.checkpoint, yes()));
    expect(
      await rejection(runner().cancel(f, second.checkpoint, { reason: "late" })),
    ).toMatchObject({ code: "resume-terminal" });
    expect(log).toEqual(["gated(1)"]);
  });

  it("FLOW-61 decodes nothing under a graph or a run that does not fit", async () => {
    const { gated } = effects();
    const f = flow("f", State)
      .call("a", gated, { args: { n: 1 } })
      .build();
    const { runner } = world();
    const first = paused(await runner().run(f, { n: 1 }));
    const text = runner().dumpCheckpoint(first.checkpoint);
    const { parts } = resolveOptions({ keyring });
    const sealer = createSealer();
    let decoded = 0;
    const watched = {
      ...parts,
      sealer: {
        ...sealer,
        decode: (...how: Parameters<typeof sealer.decode>) => (decoded++, sealer.decode(...how)),
      },
    };
    const changed = graphOf(
      flow("f", State)
        .call("b", gated, { args: { n: 1 } })
        .build(),
    );
    expect(() => openCheckpoint(changed, watched, text, { scope: "default" })).toThrow(
      /the graph of 'f' changed/,
    );
    expect(() =>
      openCheckpoint(graphOf(f), watched, text, { scope: "default", runId: "x" }),
    ).toThrow(/asked for/);
    expect(decoded).toBe(0);
    openCheckpoint(graphOf(f), watched, text, { scope: "default" });
    expect(decoded).toBe(1);
  });

  it("FLOW-03 gives a resumed node a state that is frozen as a fresh one is", async () => {
    const { gated } = effects();
    const Deep = z.object({ items: z.array(z.object({ n: z.number() })), own: z.any() });
    const tried: string[] = [];
    const f = flow("f", Deep)
      .node("a", async (s, ctx) => {
        for (const change of [
          () => void ((s as { items: unknown }).items = []),
          () => void (s.items as unknown[]).push(1),
          () => void (s.items[0]!.n = 2),
          () => void ((s.own as { x: number }).x = 2),
        ]) {
          try {
            change();
            tried.push("changed");
          } catch (error) {
            tried.push((error as Error).name);
          }
        }
        await ctx.call(gated, { n: 1 });
      })
      .build();
    const { runner } = world();
    const first = paused(await runner().run(f, { items: [{ n: 1 }], own: { x: 1 } }));
    const fresh = tried.splice(0);
    expect(fresh).toEqual(["TypeError", "TypeError", "TypeError", "changed"]);
    const text = runner().dumpCheckpoint(first.checkpoint);
    const other: FlowRunner = runner();
    await other.resume(f, other.loadCheckpoint(f, text), yes());
    expect(tried).toEqual(fresh);
  });
});
