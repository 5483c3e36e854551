import { approve } from "@holdpoint/flow";
import { describe, expect, it } from "vitest";

import { rest } from "../timed-clock.ts";
import { dana } from "../world.ts";
import { desks, homeWith, pollMs, supervisorStore } from "./desks.ts";
import { slowWork } from "./slow-work.ts";

const input = { orderId: "A-17" };

describe("waiting for a run's next stop", () => {
  it("WF-22 ends with a round, where another process has the run", async () => {
    const { definition, begun } = slowWork();
    const { openOf, clock } = desks();
    const owner = openOf([definition]);
    await owner.activate();
    const other = openOf([definition]);
    await other.activate();
    const { runId } = await owner.start("slow", { order: "a" });
    await rest();
    let status: string | undefined;
    void other.settled(runId).then((view) => (status = view.status));
    begun[0]!.end();
    await rest();
    expect((await other.get(runId))?.status).toBe("completed");
    expect(status).toBeUndefined(); // nobody told it
    await clock.advance(pollMs);
    expect(status).toBe("completed");
  });

  it("WF-22 is given up by its signal, with the signal's reason, and the run goes on", async () => {
    const { definition, begun } = slowWork();
    const { openOf } = desks();
    const desk = openOf([definition]);
    await desk.activate();
    const { runId } = await desk.start("slow", { order: "a" });
    await rest();
    const gone = new AbortController();
    const waiting = desk.settled(runId, { signal: gone.signal });
    gone.abort("the caller went away");
    await expect(waiting).rejects.toBe("the caller went away");
    await expect(desk.settled(runId, { signal: gone.signal })).rejects.toBe("the caller went away");
    expect(begun[0]!.signal.aborted).toBe(false);
    begun[0]!.end();
    const { signal } = new AbortController();
    expect((await desk.settled(runId, { signal })).status).toBe("completed");
  });

  it("WF-22 is given up by a signal that fires while the run is being read", async () => {
    const { definition, begun } = slowWork();
    const { home, openOf } = desks();
    const owner = openOf([definition]);
    await owner.activate();
    const gone = new AbortController();
    let isRead = false;
    const watched = homeWith(home, (attemptId, writes) => home.commit(attemptId, writes));
    Object.assign(watched, {
      row: (...args: Parameters<typeof home.row>) => {
        if (isRead) gone.abort("while it was read");
        return home.row(...args);
      },
    });
    const other = openOf([definition], { store: supervisorStore(watched) });
    await other.activate();
    const { runId } = await owner.start("slow", { order: "a" });
    await rest();
    isRead = true;
    const view = other.settled(runId, { signal: gone.signal });
    await expect(view).rejects.toBe("while it was read");
    expect(begun[0]!.signal.aborted).toBe(false);
  });

  it("WF-22 WF-27 is over with its supervisor, unless the run has stopped", async () => {
    const { definition, begun } = slowWork();
    const { openOf, activated } = desks();
    const owner = openOf([definition]);
    await owner.activate();
    const other = openOf([definition]);
    await other.activate();
    const { runId } = await owner.start("slow", { order: "a" });
    await rest();
    const waiting = Promise.allSettled([other.settled(runId)]);
    await other.shutdown();
    expect(await waiting).toMatchObject([{ status: "rejected", reason: { code: "not-active" } }]);
    begun[0]!.end();
    expect((await owner.settled(runId)).status).toBe("completed");

    const desk = await activated({ session: "day" });
    const waits = await desk.start("refund", input, { session: "day" });
    const { waitsFor } = await desk.settled(waits.runId);
    await desk.decide(waitsFor[0]!.id, approve({ by: dana }));
    expect((await desk.settled(waits.runId)).status).toBe("completed");
    await desk.shutdown();
    expect((await desk.settled(waits.runId)).status).toBe("completed");
  });

  it("WF-22 answers run-not-found for a run that nobody began", async () => {
    const desk = await desks().activated();
    await expect(desk.settled("run-0")).rejects.toMatchObject({ code: "run-not-found" });
  });
});
