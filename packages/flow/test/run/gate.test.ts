import {
  approve,
  editedArguments,
  identityPort,
  memoryApprovalStore,
  memoryHome,
  type Decision,
  type EditPort,
} from "@holdpoint/approvals";
import { describe, expect, it } from "vitest";
import { z } from "zod";

import { flow, flowEdits } from "../../src/index.ts";
import { handClock } from "../support/clock.ts";
import { effects } from "../support/effects.ts";
import {
  asAnotherProcess,
  dana,
  no,
  paused,
  recordlessPort,
  rejection,
  stateOf,
  world,
  yes,
} from "../support/world.ts";

const State = z.object({ n: z.number(), note: z.string().optional() });
const Payload = z.object({ cents: z.int() });
const anyEdit: EditPort = {
  validate: ({ arguments: args }) => ({ status: "valid", arguments: args }),
};

const editable = flow("f", State)
  .gate("look", {
    payload: (s) => ({ cents: s.n }),
    edits: { schema: Payload, apply: (edited, s) => ({ n: edited.cents, note: `was ${s.n}` }) },
  })
  .build();
const plain = flow("f", State)
  .gate("look", { payload: (s) => ({ cents: s.n }) })
  .build();
const edit = (args: unknown, gate = "node:f.look") =>
  approve({ by: dana, edited: editedArguments(gate, args) });

describe("a gate", () => {
  it("FLOW-20 FLOW-21 pauses with a request named after it, whose arguments are the payload", async () => {
    const { runner, outcomes } = world();
    const first = paused(
      await runner().run(
        plain,
        { n: 5 },
        { runId: "r", requestedBy: { id: "rita", assurance: "verified" } },
      ),
    );
    expect(first.pendings).toHaveLength(1);
    expect(first.pending).toMatchObject({ kind: "approval", path: "look#1", tool: "node:f.look" });
    const { request } = first.pending;
    expect(request).toMatchObject({
      kind: "gate",
      tool: "node:f.look",
      node: "look#1",
      runId: "r",
      requestedBy: { id: "rita" },
    });
    expect(request.arguments).toEqual({ cents: 5 });
    expect(stateOf(await runner().resume(plain, first.checkpoint, yes()))).toEqual({ n: 5 });
    expect(await outcomes()).toEqual(["passed"]);
  });

  it("FLOW-20 is passed without asking where when says so, and that is on record", async () => {
    const f = flow("f", State)
      .gate("look", { payload: (s) => s.n, when: (s) => s.n > 10 })
      .node("after", (s) => ({ note: `${s.n}` }))
      .path("look", "after")
      .build();
    const { runner, notices, port } = world();
    expect(stateOf(await runner().run(f, { n: 5 })).note).toBe("5");
    expect(notices.map(({ type, visit }) => `${type} ${visit ?? ""}`).slice(1, 4)).toEqual([
      "visit-started look#1",
      "visit-finished look#1",
      "routed ",
    ]);
    expect((await port.records.list("default")).items).toEqual([]);
    paused(await runner().run(f, { n: 11 }));
  });

  it("FLOW-20 takes the denied edge, or ends the run as denied", async () => {
    const f = flow("f", State)
      .gate("look", { payload: (s) => s.n })
      .node("yes", () => ({ note: "yes" }))
      .node("no", () => ({ note: "no" }))
      .edge("look", "yes")
      .denied("look", "no")
      .build();
    const { runner, outcomes } = world();
    const first = paused(await runner().run(f, { n: 5 }));
    expect(stateOf(await runner().resume(f, first.checkpoint, no()))).toEqual({ n: 5, note: "no" });
    const second = paused(await runner().run(plain, { n: 5 }));
    expect(
      await rejection(runner().resume(plain, second.checkpoint, no("not today"))),
    ).toMatchObject({
      name: "ApprovalDenied",
      code: "approval-denied",
      data: {
        flow: "f",
        runId: second.runId,
        node: "look#1",
        tool: "node:f.look",
        note: "not today",
      },
    });
    expect(await outcomes()).toEqual(["denied", "denied"]);
  });

  it("FLOW-20 applies an edit that its schema takes, with the state it was shown on", async () => {
    const { runner, outcomes } = world({ edits: anyEdit });
    const first = paused(await runner().run(editable, { n: 5 }));
    expect(stateOf(await runner().resume(editable, first.checkpoint, edit({ cents: 3 })))).toEqual({
      n: 3,
      note: "was 5",
    });
    expect(await outcomes()).toEqual(["passed"]);
  });

  it("FLOW-20 has its edits, and those of calls, checked where they are decided", async () => {
    const { gated, log } = effects();
    const f = flow("f", State)
      .gate("look", {
        payload: (s) => ({ cents: s.n }),
        edits: { schema: Payload, apply: (changed) => ({ n: changed.cents }) },
      })
      .gate("again", { payload: (s) => s.n })
      .call("pay", gated, { args: (s) => ({ n: s.n }) })
      .path("look", "again", "pay")
      .build();
    const { runner, port } = world({ edits: flowEdits([f]) });
    const decide = (id: string, decision: Decision) =>
      port.records.decide({ scope: "default", id, decision });
    const first = paused(await runner().run(f, { n: 5 }));
    await expect(decide(first.pending.id, edit({ cents: 1.5 }))).rejects.toThrow(/cents/);
    await decide(first.pending.id, edit({ cents: 3 }));
    const second = paused(await runner().resume(f, first.checkpoint));
    expect(second.pending.request.arguments).toBe(3);
    await expect(decide(second.pending.id, edit(4, "node:f.again"))).rejects.toThrow(/no edits/);
    const third = paused(await runner().resume(f, second.checkpoint, yes()));
    await expect(decide(third.pending.id, edit({ n: "x" }, "gated"))).rejects.toThrow(/n/);
    await decide(third.pending.id, edit({ n: 7 }, "gated"));
    stateOf(await runner().resume(f, third.checkpoint));
    expect(log).toEqual(["gated(7)"]);
  });

  it("FLOW-20 refuses edits where it takes none, of another gate, and of another form, before anything is spent", async () => {
    for (const options of [{ edits: anyEdit }, { approvals: recordlessPort() }]) {
      const { runner } = world(options);
      const one = paused(await runner().run(plain, { n: 5 }));
      const two = paused(await runner().run(editable, { n: 5 }));
      const refused = { code: "edits-not-allowed", data: { node: "look#1", flow: "f" } };
      expect(
        await rejection(runner().resume(plain, one.checkpoint, edit({ cents: 3 }))),
      ).toMatchObject(refused);
      expect(
        await rejection(
          runner().resume(editable, two.checkpoint, edit({ cents: 3 }, "node:f.other")),
        ),
      ).toMatchObject(refused);
      expect(
        await rejection(runner().resume(editable, two.checkpoint, edit({ cents: "3" }))),
      ).toMatchObject(refused);
      stateOf(await runner().resume(plain, one.checkpoint, yes()));
      expect(stateOf(await runner().resume(editable, two.checkpoint, edit({ cents: 4 }))).n).toBe(
        4,
      );
    }
  });

  it("FLOW-20 refuses an edit that was decided in the store and that the gate does not take", async () => {
    const { runner, port } = world({ edits: anyEdit });
    const first = paused(await runner().run(plain, { n: 5 }));
    await port.records.decide({
      scope: "default",
      id: first.pending.id,
      decision: edit({ cents: 3 }),
    });
    expect(await rejection(runner().resume(plain, first.checkpoint))).toMatchObject({
      code: "edits-not-allowed",
    });
    expect(await port.records.read("default", first.pending.id)).toMatchObject({
      state: "decided",
    });
  });

  it("FLOW-20 fails its visit where an edit can't be applied, and may go on along a failed edge", async () => {
    const make = (apply: () => { n: number }) =>
      flow("f", State)
        .gate("look", {
          payload: (s) => ({ cents: s.n }),
          edits: { schema: Payload, apply },
        })
        .node("mend", () => ({ note: "mended" }))
        .node("after", () => ({ note: "after" }))
        .edge("look", "after")
        .failed("look", "mend")
        .build();
    const { runner } = world({ edits: anyEdit });
    const wrong = () => ({ n: "x" }) as never;
    const throws = () => {
      throw new Error("no");
    };
    for (const apply of [wrong, throws]) {
      const f = make(apply);
      const first = paused(await runner().run(f, { n: 5 }));
      const done = await runner().resume(f, first.checkpoint, edit({ cents: 3 }));
      expect(stateOf(done)).toEqual({ n: 5, note: "mended" });
    }
    const f = make(() => ({ n: 1 }));
    const denied = paused(await runner().run(f, { n: 5 }));
    expect(stateOf(await runner().resume(f, denied.checkpoint, no())).note).toBe("mended");
  });

  it("FLOW-20 FLOW-12 fails its visit where the payload can't be made, and asks nobody", async () => {
    const f = flow("f", State)
      .gate("look", {
        payload: () => {
          throw new TypeError("no payload");
        },
      })
      .build();
    const { runner, port } = world();
    expect(await rejection(runner().run(f, { n: 5 }))).toMatchObject({
      code: "node-failed",
      data: { node: "look#1" },
      cause: { message: "no payload" },
    });
    expect((await port.records.list("default")).items).toEqual([]);
  });

  it("FLOW-20 lets a quorum of distinct people pass it, the requester excluded", async () => {
    const people = identityPort((credential) => ({ id: String(credential) }));
    const vote = async (who: string) => approve({ by: await people.authenticate(who) });
    const f = flow("f", State)
      .gate("look", {
        payload: (s) => s.n,
        quorum: 2,
        excludeRequester: true,
        approvers: ["erin", "fred", "rita"],
      })
      .build();
    const { runner, count } = world();
    const first = paused(
      await runner().run(f, { n: 5 }, { requestedBy: { id: "rita", assurance: "verified" } }),
    );
    for (const who of ["rita", "zoe"])
      await expect(
        vote(who).then((by) => runner().resume(f, first.checkpoint, by)),
      ).rejects.toThrow(/may not decide|others to decide|asked for/);
    const second = paused(await runner().resume(f, first.checkpoint, await vote("erin")));
    expect(second.pending.id).toBe(first.pending.id);
    expect(await count("pending")).toBe(1);
    asAnotherProcess();
    stateOf(await runner().resume(f, second.checkpoint, await vote("fred")));
  });

  it("FLOW-20 expires, and then counts as denied", async () => {
    const clock = handClock();
    const f = flow("f", State)
      .gate("look", { payload: (s) => s.n, expiresInMs: 1_000 })
      .build();
    const { runner, outcomes } = world({
      store: memoryApprovalStore(memoryHome({ clock })),
      clock,
    });
    const first = paused(await runner().run(f, { n: 5 }));
    await clock.move(999);
    paused(await runner().resume(f, first.checkpoint));
    await clock.move(1);
    expect(await rejection(runner().resume(f, first.checkpoint, yes()))).toMatchObject({
      code: "approval-already-decided",
    });
    expect(await rejection(runner().resume(f, first.checkpoint))).toMatchObject({
      code: "approval-denied",
      data: { reason: "expired" },
    });
    expect(await outcomes()).toEqual(["expired"]);
  });

  it("FLOW-20 passes at once where the port decides at once, and spends the decision that stands", async () => {
    const { runner, port, outcomes } = world();
    const first = paused(await runner().run(plain, { n: 5 }, { runId: "same" }));
    await port.records.decide({ scope: "default", id: first.pending.id, decision: yes() });
    // The same run, begun anew: the port finds its own record, decided.
    expect(stateOf(await runner().run(plain, { n: 5 }, { runId: "same" }))).toEqual({ n: 5 });
    expect(await outcomes()).toEqual(["passed"]);
    expect(await rejection(runner().resume(plain, first.checkpoint, yes()))).toMatchObject({
      code: "approval-already-decided",
    });
  });
});
