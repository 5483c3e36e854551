import { approve, deny } from "@holdpoint/flow";
import { describe, expect, it } from "vitest";

import { dana, rita, world } from "../world.ts";

describe("what the registry holds of a run", () => {
  it("WF-11 is who, what, where it stands, what it waits for, when, and by which version", async () => {
    const { open, clock, store } = world();
    const { desk } = open();
    const first = await desk.start("refund", { orderId: "A-1" });
    await desk.settled(first.runId);
    const createdAt = clock.now();
    const { runId } = await desk.start(
      "refund",
      { orderId: "A-2" },
      { key: "request-2", requestedBy: rita, parent: first.runId },
    );
    clock.move(5);
    const waiting = await desk.settled(runId);
    expect(waiting).toEqual({
      runId,
      definition: "refund",
      version: "1",
      status: "interrupted",
      session: undefined,
      parent: first.runId,
      startedBy: { id: "rita", assurance: "none" },
      startKey: "request-2",
      createdAt,
      updatedAt: expect.any(Number),
      revision: await store.log.head("default", runId),
      waitsFor: [expect.objectContaining({ kind: "approval", tool: "node:refund.review" })],
      summary: undefined,
      failure: undefined,
      retries: 0,
      retryAt: undefined,
      rowVersion: (await store.runs.get("default", runId))?.version,
      cancelRequested: false,
      cancelled: undefined,
    });
    await desk.decide(waiting.waitsFor[0]!.id, approve({ by: dana }));
    const done = await desk.settled(runId);
    expect(done).toMatchObject({ status: "completed", summary: "paid A-2", waitsFor: [] });
    expect(done.rowVersion).toBeGreaterThan(waiting.rowVersion);
    expect((await desk.list()).items.find((view) => view.runId === runId)).toEqual(done);
    const [ask] = (await desk.get(first.runId))!.waitsFor;
    await desk.decide(ask!.id, deny({ by: dana }));
    expect((await desk.settled(first.runId)).failure).toEqual({
      code: "approval-denied",
      message: expect.any(String),
    });
  });

  it("WF-11 has a parent that is on record, or none, and no run moves for it", async () => {
    const { open, effects } = world();
    const { desk } = open();
    const orphan = desk.start("refund", { orderId: "A-1" }, { parent: "run-nobody" });
    await expect(orphan).rejects.toMatchObject({
      code: "run-not-found",
      data: { runId: "run-nobody" },
    });
    expect([(await desk.list()).items, effects.looked]).toEqual([[], []]);
    const parent = await desk.start("refund", { orderId: "A-1" });
    await desk.settled(parent.runId);
    const how = { key: "k", parent: parent.runId };
    const child = await desk.start("refund", { orderId: "A-2" }, how);
    await desk.settled(child.runId);
    await desk.cancel(parent.runId, { reason: "enough" });
    expect((await desk.get(child.runId))?.status).toBe("interrupted");
    // The same key is the same run, whatever it is said to be begun for.
    const again = await desk.start("refund", { orderId: "A-2" }, { key: "k" });
    expect([again.runId, again.parent]).toEqual([child.runId, parent.runId]);
  });

  it("WF-11 WF-26 shows a wish to cancel until the run has ended, and then why", async () => {
    const { open } = world();
    const { desk } = open();
    const { runId } = await desk.start("refund", { orderId: "A-1" });
    await desk.settled(runId);
    const ended = await desk.cancel(runId, { reason: "enough", by: dana });
    expect([ended.cancelRequested, ended.cancelled]).toEqual([
      false,
      { reason: "enough", by: expect.objectContaining({ id: "dana" }) },
    ]);
  });
});
