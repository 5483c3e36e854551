import { approve, flow } from "@holdpoint/flow";
import { describe, expect, it } from "vitest";
import { z } from "zod";

import { defineWorkflow } from "../../src/index.ts";
import { rest } from "../timed-clock.ts";
import { dana } from "../world.ts";
import { desks, homeWith, leaseMs, pollMs, supervisorStore } from "./desks.ts";
import { slowWork } from "./slow-work.ts";

const input = { orderId: "A-17" };

/** A run that waits twice. */
const gates = defineWorkflow({
  name: "gates",
  version: "1",
  input: z.object({}),
  flow: flow("gates", z.object({}))
    .gate("first", { payload: () => ({}) })
    .gate("second", { payload: () => ({}) })
    .path("first", "second")
    .build(),
});

type Home = ReturnType<typeof desks>["home"];

/** A home over which something happens right before the next commit of one process. */
function crossed(home: Home) {
  let happen: (() => Promise<unknown>) | undefined;
  const over = homeWith(home, async (attemptId, writes) => {
    const now = happen;
    happen = undefined;
    await now?.();
    return home.commit(attemptId, writes);
  });
  return {
    store: supervisorStore(over),
    next: (what: () => Promise<unknown>): void => void (happen = what),
  };
}

describe("a wish to cancel that crosses a move of its run", () => {
  it("WF-26 WF-10 finds the run ended, and says so", async () => {
    const { definition, begun } = slowWork();
    const { home, openOf } = desks();
    const owner = openOf([definition]);
    await owner.activate();
    const { store, next } = crossed(home);
    const other = openOf([definition], { store });
    await other.activate();
    const { runId } = await owner.start("slow", { order: "a" });
    await rest();
    next(async () => {
      begun[0]!.end();
      await owner.settled(runId);
    });
    expect(await other.cancel(runId, { reason: "late" })).toEqual({ status: "final", runId });
    expect((await owner.get(runId))?.status).toBe("completed");
    expect((await owner.get(runId))?.cancelRequested).toBe(false);
  });

  it("WF-26 WF-10 is put on record all the same where the run goes on, and its owner ends it", async () => {
    const { home, openOf, clock } = desks();
    const owner = openOf([gates]);
    await owner.activate();
    const { store, next } = crossed(home);
    const other = openOf([gates], { store });
    await other.activate();
    const { runId } = await owner.start("gates", {});
    const { waitsFor, version } = await owner.settled(runId);
    next(async () => {
      await owner.decide(waitsFor[0]!.id, approve({ by: dana }));
      await rest();
    });
    expect((await other.cancel(runId, { reason: "enough" })).status).toBe("requested");
    expect((await owner.get(runId))?.waitsFor).toMatchObject([{ tool: "node:gates.second" }]);
    await clock.advance(pollMs);
    expect((await owner.settled(runId)).cancelled?.reason).toBe("enough");
    expect((await owner.get(runId))?.version).toBe(version);
  });

  it("WF-26 stands as it was said first, whoever says it again", async () => {
    const { definition } = slowWork();
    const { openOf, clock } = desks();
    const owner = openOf([definition]);
    await owner.activate();
    const other = openOf([definition]);
    await other.activate();
    const { runId } = await owner.start("slow", { order: "a" });
    await rest();
    await other.cancel(runId, { reason: "first" });
    await other.cancel(runId, { reason: "second" });
    await clock.advance(pollMs);
    expect((await owner.settled(runId)).cancelled?.reason).toBe("first");
    expect(await other.cancel(runId, { reason: "third" })).toEqual({ status: "final", runId });
  });
});

describe("a start that crosses a takeover", () => {
  it("WF-20 WF-12 is refused by the fence, with the new owner's epoch, and leaves nothing on record", async () => {
    const { home, activated, clock } = desks();
    const { store, next } = crossed(home);
    const first = await activated({ store });
    let epoch = 0;
    next(async () => {
      clock.leap(2 * leaseMs); // this process stood still
      const second = await activated();
      ({ epoch } = second.ready().sessions[0]!);
    });
    const starting = Promise.allSettled([first.start("refund", input, { key: "k" })]);
    const data = { session: "desk", epoch: 2 };
    expect(await starting).toMatchObject([{ reason: { code: "session-owned", data } }]);
    expect(epoch).toBe(2);
    expect((await first.list()).items).toEqual([]);
  });
});

describe("explaining", () => {
  it("WF-34 says of a run that nobody took up, and of one that is answered, what would move it", async () => {
    const { home, open, activated, clock } = desks();
    const owner = await activated();
    const { runId } = await owner.start("refund", input);
    const { waitsFor } = await owner.settled(runId);
    let isDead = false;
    const dying = homeWith(home, async (attemptId, writes) =>
      isDead ? new Promise<never>(() => undefined) : home.commit(attemptId, writes),
    );
    await owner.shutdown();
    const dies = open({ store: supervisorStore(dying) });
    await dies.activate();
    const { runId: begun } = await dies.start("refund", input);
    isDead = true;
    await clock.advance(2 * leaseMs);
    const elsewhere = open({ session: "night" });
    await elsewhere.activate();
    await elsewhere.decide(waitsFor[0]!.id, approve({ by: dana }));
    const manual = open({ adopt: "manual" });
    await manual.activate();
    expect(await manual.explain(begun)).toMatchObject({
      why: "not-taken-up",
      movedBy: ["its owner's adoption: see `adopt`"],
    });
    expect(await manual.explain(runId)).toMatchObject({
      why: "answered",
      movedBy: ["its owner, who resumes it by itself"],
    });
  });
});
