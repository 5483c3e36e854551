import { approve } from "@holdpoint/flow";
import { describe, expect, it } from "vitest";

import { Slots } from "../../src/run/slots.ts";
import { rest } from "../timed-clock.ts";
import { dana, rita } from "../world.ts";
import { desks, homeWith, leaseMs, pollMs, supervisorStore } from "./desks.ts";
import { slowWork } from "./slow-work.ts";

const input = { orderId: "A-17" };
const never = new AbortController().signal;

describe("workers", () => {
  it("WF-25 are as many as was said: the others wait for their turn, first come, first served", async () => {
    const { definition, begun } = slowWork();
    const { openOf } = desks();
    const desk = openOf([definition], { workers: 2 });
    await desk.activate();
    const ids: string[] = [];
    for (const order of ["a", "b", "c", "d"]) {
      ids.push((await desk.start("slow", { order })).runId);
    }
    await rest();
    expect(begun.map(({ order }) => order)).toEqual(["a", "b"]);
    expect((await desk.get(ids[2]!))?.status).toBe("pending");
    begun[1]!.end();
    await rest();
    expect(begun.map(({ order }) => order)).toEqual(["a", "b", "c"]);
    begun[0]!.end();
    begun[2]!.end();
    await rest();
    begun[3]!.end();
    await desk.waitIdle();
    for (const runId of ids) expect((await desk.get(runId))?.status).toBe("completed");
  });

  it("WF-25 are given back by a run that waits for a person", async () => {
    const { activated } = desks();
    const desk = await activated({ workers: 1 });
    const first = await desk.start("refund", { orderId: "A" });
    const second = await desk.start("refund", { orderId: "B" });
    for (const { runId } of [first, second]) {
      expect((await desk.settled(runId)).status).toBe("interrupted");
    }
  });

  it("WF-25 are taken in the order of asking, also past one that gave up waiting", async () => {
    const slots = new Slots(1);
    const order: string[] = [];
    let end: () => void = () => undefined;
    const first = slots.enter("1", never, () => new Promise<void>((resolve) => (end = resolve)));
    const gone = new AbortController();
    const waiting = [
      slots
        .enter("2", gone.signal, async () => void order.push("gone"))
        .catch(() => order.push("left")),
      slots.enter("3", never, async () => void order.push("second")),
      slots.enter("3", never, async () => void order.push("third")),
    ];
    expect(["1", "2", "3"].map((runId) => slots.isWaiting(runId))).toEqual([false, true, true]);
    await rest();
    gone.abort();
    end();
    await Promise.all([first, ...waiting]);
    expect(order).toEqual(["left", "second", "third"]);
    slots.close(new Error("closed"));
    await expect(slots.enter("3", never, async () => undefined)).rejects.toThrow("closed");
  });
});

describe("cancelling", () => {
  it("WF-26 ends a waiting run at once, and withdraws what waits in the same commit", async () => {
    const { activated, home, effects } = desks();
    const desk = await activated();
    const { runId } = await desk.start("refund", input);
    const { waitsFor } = await desk.settled(runId);
    const commits: string[][] = [];
    home.watch((applied) => commits.push(applied.map(({ table }) => table)));
    const taken = await desk.cancel(runId, { reason: "duplicate", by: rita });
    expect(taken).toEqual({ status: "final", runId });
    expect(commits).toHaveLength(1);
    expect(new Set(commits[0])).toEqual(new Set(["approvals", "approvalAudit", "log", "runs"]));
    expect(await desk.get(runId)).toMatchObject({
      status: "cancelled",
      cancelled: { reason: "duplicate", by: { id: "rita" } },
    });
    await expect(desk.decide(waitsFor[0]!.id, approve({ by: dana }))).rejects.toMatchObject({
      code: "approval-already-decided",
    });
    expect(await desk.cancel(runId, { reason: "again" })).toEqual({ status: "final", runId });
    expect(effects.paid).toEqual([]);
  });

  it("WF-26 CASE-146 asks a run at work, whose tools are told, and it ends cancelled", async () => {
    const { definition, begun } = slowWork();
    const { openOf } = desks();
    const desk = openOf([definition]);
    await desk.activate();
    const { runId } = await desk.start("slow", { order: "a" });
    await rest();
    const taken = await desk.cancel(runId, { reason: "enough", by: rita });
    expect(taken).toEqual({ status: "requested", runId });
    expect(await desk.get(runId)).toMatchObject({ cancelRequested: true });
    expect(begun[0]!.signal.aborted).toBe(true);
    expect(await desk.settled(runId)).toMatchObject({
      status: "cancelled",
      cancelRequested: false,
      cancelled: { reason: "enough", by: { id: "rita" } },
    });
  });

  it("WF-26 keeps the wish and its reason over a crash, and whoever takes the run up ends it", async () => {
    const { definition } = slowWork();
    const { home, openOf, clock } = desks();
    let isDead = false;
    const dying = homeWith(home, (attemptId, writes) => {
      if (isDead) return new Promise(() => undefined);
      isDead = writes.some(
        ({ statement, fence }) => statement === "runs.put" && fence === undefined,
      );
      return home.commit(attemptId, writes); // the wish is its last
    });
    const first = openOf([definition], { store: supervisorStore(dying) });
    await first.activate();
    const { runId } = await first.start("slow", { order: "a" });
    await rest();
    expect((await first.cancel(runId, { reason: "enough" })).status).toBe("requested");
    await clock.advance(2 * leaseMs);
    const second = openOf([definition]);
    const { adoptions } = await second.activate();
    expect(adoptions).toEqual([{ runId, did: "ended", status: "cancelled" }]);
    expect((await second.get(runId))?.cancelled?.reason).toBe("enough");
  });

  it("WF-26 is asked for where another process has the session, and its owner does it", async () => {
    const { definition, begun } = slowWork();
    const { openOf, clock } = desks();
    const [owner, other] = [openOf([definition]), openOf([definition])];
    await owner.activate();
    await other.activate();
    const { runId } = await owner.start("slow", { order: "a" });
    await rest();
    expect((await other.cancel(runId, { reason: "enough" })).status).toBe("requested");
    await clock.advance(pollMs);
    expect(begun[0]!.signal.aborted).toBe(true);
    expect((await owner.settled(runId)).cancelled?.reason).toBe("enough");
  });

  it("WF-26 that is asked for elsewhere takes nothing from what the run just did", async () => {
    const { definition, begun } = slowWork();
    const { openOf, store } = desks();
    const [owner, other] = [openOf([definition]), openOf([definition])];
    await owner.activate();
    await other.activate();
    const { runId } = await owner.start("slow", { order: "a" });
    await rest();
    await other.cancel(runId, { reason: "too late" });
    begun[0]!.end(); // its next commit meets the row with the wish on it
    const view = await owner.settled(runId);
    expect(["cancelled", "completed"]).toContain(view.status);
    const history = await owner.history(runId);
    expect(history.map(({ type }) => type)).toContain("call-finished");
    expect(await store.log.head("default", runId)).toBe(view.revision);
  });

  it("R032 and deciding at once leave one of both standing, and no run resumes cancelled", async () => {
    for (let round = 0; round < 20; round += 1) {
      const { activated, effects } = desks();
      const desk = await activated();
      const { runId } = await desk.start("refund", input);
      const { waitsFor } = await desk.settled(runId);
      const decide = () => desk.decide(waitsFor[0]!.id, approve({ by: dana }));
      const cancel = () => desk.cancel(runId, { reason: "no" });
      const [one, two] = round % 2 === 0 ? [decide, cancel] : [cancel, decide];
      await Promise.allSettled([one(), two()]);
      await desk.waitIdle();
      const { status } = (await desk.get(runId))!;
      expect(["cancelled", "completed"]).toContain(status);
      expect(effects.paid).toHaveLength(status === "completed" ? 1 : 0);
    }
  });
});

describe("shutting down", () => {
  it("WF-27 lets runs come to their next stop, takes no work, and gives the sessions back", async () => {
    const { definition, begun } = slowWork();
    const { openOf, home, clock } = desks();
    const desk = openOf([definition], { workers: 1 });
    await desk.activate();
    const timers = clock.timers;
    const { runId } = await desk.start("slow", { order: "a" });
    const queued = await desk.start("slow", { order: "b" });
    await rest();
    const ending = desk.shutdown();
    await rest();
    begun[0]!.end();
    expect(await ending).toEqual({ released: ["desk"], lapsing: [], cutOff: [] });
    expect((await desk.get(runId))?.status).toBe("completed");
    expect((await desk.get(queued.runId))?.status).toBe("pending");
    expect(home.row("leases", "default", "desk")?.values).toMatchObject({ owner: null, until: 0 });
    expect([timers, clock.timers]).toEqual([3, 0]);
    for (const ask of [
      () => desk.start("slow", { order: "c" }),
      () => desk.cancel(runId, { reason: "x" }),
      () => desk.activate(),
    ]) {
      await expect(ask()).rejects.toMatchObject({ code: "not-active" });
    }
    expect(desk.ready().ready).toBe(false);
  });

  it("WF-27 R075 aborts what goes on for too long, and it is adopted later", async () => {
    const { definition, begun } = slowWork();
    const { openOf, clock } = desks();
    const desk = openOf([definition]);
    await desk.activate();
    const { runId } = await desk.start("slow", { order: "a" });
    await rest();
    const ending = desk.shutdown({ timeoutMs: 4_000 });
    await clock.advance(2_999);
    expect(begun[0]!.signal.aborted).toBe(false);
    await clock.advance(1_001);
    expect(begun[0]!.signal.aborted).toBe(true);
    expect(await ending).toEqual({ released: ["desk"], lapsing: [], cutOff: [runId] });
    const next = openOf([definition]);
    expect((await next.activate()).adoptions).toEqual([{ runId, did: "begun", how: "adopt" }]);
    await rest();
    begun[1]!.end();
    expect((await next.settled(runId)).status).toBe("completed");
  });

  it("WF-27 R075 returns in time, and gives no session back of which something still writes", async () => {
    const { home, open, clock } = desks();
    let hangs = false;
    let release: () => void = () => undefined;
    const hanging = homeWith(home, async (attemptId, writes) => {
      if (hangs && writes.some(({ statement }) => statement === "log.append")) {
        await new Promise<void>((resolve) => (release = resolve));
      }
      return home.commit(attemptId, writes);
    });
    const desk = open({ store: supervisorStore(hanging) });
    await desk.activate();
    hangs = true;
    const { runId } = await desk.start("refund", input);
    await rest();
    const ending = desk.shutdown({ timeoutMs: 2_000 });
    await clock.advance(2_000);
    expect(await ending).toEqual({ released: [], lapsing: ["desk"], cutOff: [runId] });
    expect(home.row("leases", "default", "desk")?.values["owner"]).not.toBeNull();
    hangs = false;
    release();
    await clock.advance(2 * leaseMs);
    const next = open();
    expect((await next.activate()).adoptions).toMatchObject([{ runId, did: "begun" }]);
    expect((await next.settled(runId)).status).toBe("interrupted");
  });

  it("R069 WF-20 is no ping-pong: a new process stands by until the old one gives back, and epochs rise", async () => {
    const { activated, clock, effects } = desks();
    let old = await activated();
    const { runId } = await old.start("refund", input);
    await old.settled(runId);
    for (let epoch = 2; epoch <= 4; epoch += 1) {
      const next = await activated();
      await clock.advance(3 * pollMs);
      expect([old.ready().ready, next.ready().ready]).toEqual([true, false]);
      await old.shutdown();
      await clock.advance(pollMs);
      expect(next.ready()).toMatchObject({ ready: true, sessions: [{ epoch }] });
      old = next;
    }
    const { waitsFor } = (await old.get(runId))!;
    await old.decide(waitsFor[0]!.id, approve({ by: dana }));
    await rest();
    expect((await old.settled(runId)).status).toBe("completed");
    expect(effects.looked).toHaveLength(1);
  });
});

describe("a start whose answer was lost", () => {
  it("WF-12 WF-31 is on record, and the same start by its key has it executed, once", async () => {
    const { home, effects, open } = desks();
    let lost = true;
    const losing = homeWith(home, async (attemptId, writes) => {
      const outcome = await home.commit(attemptId, writes);
      const seeds = writes.some(({ statement }) => statement === "runKeys.put");
      return seeds && lost
        ? { status: "unknown", cause: new Error("the answer was lost") }
        : outcome;
    });
    const desk = open({ store: supervisorStore(losing) });
    await desk.activate();
    const how = { key: "request-1" };
    await expect(desk.start("refund", input, how)).rejects.toThrow("gave no answer");
    await desk.waitIdle();
    const seeded = (await desk.list()).items.map(({ status }) => status);
    expect(seeded).toEqual(["pending"]);
    lost = false;
    const [one, two] = await Promise.all([
      desk.start("refund", input, how),
      desk.start("refund", input, how),
    ]);
    expect(two.runId).toBe(one.runId);
    expect((await desk.settled(one.runId)).status).toBe("interrupted");
    expect(effects.looked).toEqual(["A-17"]);
    await desk.shutdown({ timeoutMs: 0 });
  });
});
