import { approve, deny } from "@holdpoint/flow";
import { describe, expect, it } from "vitest";

import { dana, rita, world } from "../world.ts";

describe("a run by hand", () => {
  it("WF-05 WF-24 starts, waits, and is resumed by a decision in a new process", async () => {
    const { open, effects } = world();
    const first = open();
    const started = await first.desk.start(
      "refund",
      { orderId: "A-17" },
      { key: "request-1", requestedBy: rita },
    );
    expect(started).toMatchObject({ status: "pending", definition: "refund", version: "1" });
    const waiting = await first.desk.settled(started.runId);
    expect(waiting).toMatchObject({
      status: "interrupted",
      startedBy: { id: "rita", assurance: "none" },
      startKey: "request-1",
      waitsFor: [{ kind: "approval", tool: "node:refund.review", visit: "review#1" }],
    });

    const second = open();
    const taken = await second.desk.decide(waiting.waitsFor[0]!.id, approve({ by: dana }));
    expect(taken).toEqual({ status: "accepted", runId: started.runId });
    const done = await second.desk.settled(started.runId);
    expect(done).toMatchObject({ status: "completed", summary: "paid A-17", waitsFor: [] });
    expect(await second.desk.output(second.refund, started.runId)).toEqual({ refundId: "r-1" });
    expect(effects).toMatchObject({ looked: ["A-17"], paid: [expect.any(String)] });
  });

  it("WF-24 answers already to the same word of the same person, and pays once", async () => {
    const { open, effects } = world();
    const { desk } = open();
    const { runId } = await desk.start("refund", { orderId: "A-17" });
    const { waitsFor } = await desk.settled(runId);
    const id = waitsFor[0]!.id;
    await desk.decide(id, approve({ by: dana }));
    expect(await desk.decide(id, approve({ by: dana }))).toEqual({ status: "already", runId });
    await expect(desk.decide(id, deny({ by: rita }))).rejects.toMatchObject({
      code: "approval-already-decided",
    });
    expect((await desk.settled(runId)).status).toBe("completed");
    expect(effects.paid).toHaveLength(1);
  });

  it("WF-11 keeps how a denied run failed", async () => {
    const { open, effects } = world();
    const { desk } = open();
    const { runId } = await desk.start("refund", { orderId: "A-17" });
    const { waitsFor } = await desk.settled(runId);
    await desk.decide(waitsFor[0]!.id, deny({ by: dana }));
    const view = await desk.settled(runId);
    expect(view).toMatchObject({ status: "failed", failure: { code: "approval-denied" } });
    expect(effects.paid).toEqual([]);
  });
});
