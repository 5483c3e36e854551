import { describe, expect, it } from "vitest";

import { flow, FlowRunner, type Checkpoint, type Flow, type Migration } from "../../src/index.ts";
import { change, Was } from "../support/changed-flow.ts";
import { effects } from "../support/effects.ts";
import { paused, rejection, stateOf, world, yes } from "../support/world.ts";

describe("a migration that does not fit", () => {
  it("FLOW-53 refuses what does not fit the new graph, naming it, with nothing spent", async () => {
    const { was, is, migration } = change();
    const { runner, port, store } = world();
    const first = paused(await runner().run(was, { n: 1 }));
    const moves = await store.lastChange("default");
    const refused = async (change: Partial<Migration>, to: Flow = is) => {
      const migrations = [{ ...migration, to: to.digest, ...change }];
      return rejection(runner({ migrations }).resume(to, first.checkpoint, yes()));
    };
    const failed = { code: "migration-failed", data: { flow: "f", runId: first.runId } };
    const cases: [string, Partial<Migration>][] = [
      ["there is no such node", { nodes: {} }],
      ["two visits of its round are of 'quick'", { nodes: { pay: "quick" } }],
      ["is no object", { state: () => [] as never }],
      ["is no object", { update: () => "note" as never }],
      [
        "no note",
        {
          state: () => {
            throw new Error("no note");
          },
        },
      ],
      ["no field 'extra'", { update: (update) => ({ ...update, extra: 1 }) }],
      ["'note' does not fit", { update: () => ({ note: 5 }) }],
    ];
    for (const [why, change] of cases) {
      const error = await refused(change);
      expect(error).toMatchObject(failed);
      expect(error.message).toContain(why);
      expect(error.cause).toBeInstanceOf(Error);
    }
    expect(await refused({ state: (s) => ({ ...s, n: "1" }) })).toMatchObject({
      code: "state-invalid",
      data: { issues: ["n"] },
    });
    expect(await store.lastChange("default")).toBe(moves);
    expect(await port.records.read("default", first.pending.id)).toMatchObject({
      state: "pending",
    });
    const migrations = [migration];
    paused(await runner({ migrations }).resume(is, first.checkpoint, yes()));
  });

  it("FLOW-53 refuses a held join that is none, and an edge that was taken and is not drawn", async () => {
    const { gated } = effects();
    const build = (join: boolean, failed: boolean, version: string) => {
      const b = flow("f", Was, { version })
        .node("start", () => ({}))
        .node("fails", () => {
          throw new Error("no");
        })
        .call("pay", gated, { args: { n: 1 } })
        .node("meet", () => ({}), { join })
        .edge("start", "fails")
        .edge("start", "pay")
        .edge("start", "meet")
        .edge("pay", "meet")
        .edge("fails", "meet");
      return (failed ? b.failed("fails", "meet") : b).build();
    };
    const was = build(true, true, "1");
    const { runner } = world();
    const first = paused(await runner().run(was, { n: 1 }));
    for (const [is, why] of [
      [build(false, true, "2"), "'meet' is due when its branches have come in, and is no join"],
      [build(true, false, "2"), "the failed edge of 'fails', which is not drawn"],
    ] as const) {
      const migrations = [{ flow: "f", from: was.digest, to: is.digest }];
      const error = await rejection(runner({ migrations }).resume(is, first.checkpoint, yes()));
      expect(error).toMatchObject({ code: "migration-failed" });
      expect(error.message).toContain(why);
    }
  });

  it("FLOW-53 FLOW-63 spends nothing where a waiting visit would show something else on the new graph", async () => {
    const build = (version: string, payload: (n: number) => unknown) =>
      flow("f", Was, { version })
        .gate("look", { payload: (s) => payload(s.n) })
        .build();
    const was = build("1", (n) => n);
    const { runner, count } = world();
    const first = paused(await runner().run(was, { n: 1 }));
    const other = build("2", (n) => ({ n }));
    const migrations = [{ flow: "f", from: was.digest, to: other.digest }];
    expect(
      await rejection(runner({ migrations }).resume(other, first.checkpoint, yes())),
    ).toMatchObject({ code: "graph-version-mismatch", data: { node: "look#1", field: "payload" } });
    expect(await count("pending")).toBe(1);
    // A fork asks with what the gate shows now.
    const fork = paused(await runner({ migrations }).fork(other, first.checkpoint));
    expect(fork.pending.request.arguments).toEqual({ n: 1 });
    stateOf(await runner().resume(other, fork.checkpoint, yes()));
  });

  it("FLOW-53 FLOW-43 keeps a smaller bound on visits with its node, and refuses migrations that can't be told apart", async () => {
    const { gated } = effects();
    const build = (name: string) =>
      flow("f", Was)
        .call(name, gated, { args: (s) => ({ n: s.n }), maxVisits: 1 })
        .route(name, [name, "$end"], () => name)
        .build();
    const [was, is] = [build("pay"), build("payout")];
    const step = { flow: "f", from: was.digest, to: is.digest, nodes: { pay: "payout" } };
    const { runner } = world();
    const first: { checkpoint: Checkpoint } = paused(await runner().run(was, { n: 1 }));
    expect(
      await rejection(runner({ migrations: [step] }).resume(is, first.checkpoint, yes())),
    ).toMatchObject({ code: "visit-budget", data: { node: "payout#2" } });

    for (const migrations of [
      [step, { ...step, to: "x" }],
      [{ ...step, to: step.from }],
      [{ ...step, nodes: { a: "c", b: "c" } }],
    ])
      expect(() => new FlowRunner({ migrations })).toThrow(
        expect.objectContaining({
          code: "flow-invalid",
          data: { flow: "f", option: "migrations" },
        }),
      );
    expect(() => new FlowRunner({ migrations: [step, { ...step, flow: "g" }] })).not.toThrow();
  });
});
