import type { MemoryHome } from "@holdpoint/approvals";
import { approve } from "@holdpoint/flow";
import { describe, expect, it } from "vitest";

import { Backlog } from "../../src/supervisor/backlog.ts";
import { Turns } from "../../src/supervisor/turns.ts";
import { Workflows } from "../../src/index.ts";
import { rest, timedClock } from "../timed-clock.ts";
import { countingIds, dana, keyring } from "../world.ts";
import { desks, homeWith, leaseMs, pollMs, supervisorStore } from "./desks.ts";
import { slowWork } from "./slow-work.ts";

const input = { orderId: "A-17" };

/** A home that one process alone is cut off from; what it sends meanwhile arrives when it is let in again, or never. */
function cutOff(home: MemoryHome) {
  let held: (() => void)[] | undefined;
  const cut = homeWith(home, async (...how) => {
    if (held !== undefined) await new Promise<void>((resolve) => held!.push(resolve));
    return home.commit(...how);
  });
  return {
    store: supervisorStore(cut),
    away: () => void (held = []),
    back: () => {
      const waiting = held ?? [];
      held = undefined;
      for (const go of waiting) go();
    },
  };
}

describe("an owner that was paused and woken", () => {
  it("R061 R072 STORE-06 changes nothing: what it had sent is refused inside the statement", async () => {
    const { home, open, effects, clock, logged } = desks();
    const { store, away, back } = cutOff(home);
    const zombie = open({ store });
    await zombie.activate();
    const { runId } = await zombie.start("refund", input);
    const { waitsFor } = await zombie.settled(runId);
    const ids = countingIds("inbox");
    const inbox = new Workflows({
      store: supervisorStore(home),
      definitions: [],
      keyring,
      clock,
      ids,
    });
    away();
    await inbox.decide(waitsFor[0]!.id, approve({ by: dana }));
    const stale = zombie.start("refund", { orderId: "B-2" }, { key: "stale" });
    await rest(); // by now a resume, a start and soon a heartbeat of it are on their way
    await clock.advance(2 * leaseMs);
    const adopter = open();
    expect((await adopter.activate()).sessions).toMatchObject([{ status: "held", epoch: 2 }]);
    await rest();
    const done = await adopter.get(runId);
    expect(done?.status).toBe("completed");
    const stands = () =>
      ["runs", "log", "leases", "runKeys"].map((table) => home.rows(table, "default"));
    const before = stands();
    back();
    await expect(stale).rejects.toMatchObject({ code: "session-owned", session: "desk", epoch: 2 });
    await rest();
    expect(stands()).toEqual(before);
    expect(effects.paid).toHaveLength(1);
    expect(logged).toContainEqual(expect.objectContaining({ message: "a session was lost" }));
  });

  it("R061 WF-33 tells its tools to stop and begins no write, before its lease could have lapsed", async () => {
    const { definition, begun } = slowWork();
    const { home, openOf, clock } = desks();
    const { store, away } = cutOff(home);
    const one = openOf([definition], { store });
    await one.activate();
    const { runId } = await one.start("slow", { order: "A" });
    await rest();
    away();
    const { until } = home.row("leases", "default", "desk")!.values;
    await clock.advance((leaseMs * 2) / 3 - 1);
    expect(begun[0]!.signal.aborted).toBe(false);
    expect(one.ready().ready).toBe(true);
    await clock.advance(1);
    expect(begun[0]!.signal.aborted).toBe(true);
    expect(one.ready().ready).toBe(false);
    expect(clock.now()).toBeLessThan(Number(until));
    begun[0]!.end();
    await clock.advance(leaseMs);
    const two = openOf([definition]);
    expect((await two.activate()).adoptions).toEqual([{ runId, did: "begun", how: "adopt" }]);
    await rest();
    begun[1]!.end();
    expect((await two.settled(runId)).status).toBe("completed");
    expect(new Set(begun.map(({ key }) => key)).size).toBe(1);
  });

  it("R064 WF-33 that stood still for twice its lease stops itself, and writes nothing", async () => {
    const { home, open, activated, clock } = desks();
    const one = await activated();
    const { runId } = await one.start("refund", input);
    await one.settled(runId);
    clock.leap(2 * leaseMs);
    await expect(one.start("refund", input)).rejects.toMatchObject({ code: "lease-lost" });
    expect(one.ready().ready).toBe(false);
    expect(home.rows("runs", "default")).toHaveLength(1);
    const two = open();
    expect((await two.activate()).sessions).toMatchObject([{ status: "held", epoch: 2 }]);
    await clock.advance(pollMs);
    expect(one.ready().sessions).toMatchObject([{ status: "standby", epoch: 2 }]);
  });

  it("WF-33 R064 R062 sends nothing of a run at work once its term is over, though nobody has taken over", async () => {
    const { definition, begun } = slowWork();
    const { openOf, store, clock } = desks();
    const one = openOf([definition]);
    await one.activate();
    const { runId } = await one.start("slow", { order: "A" });
    await rest();
    const head = await store.log.head("default", runId);
    clock.leap(leaseMs);
    begun[0]!.end();
    await rest();
    expect(await store.log.head("default", runId)).toBe(head);
    expect((await one.get(runId))?.status).toBe("running");
  });

  it("R067 WF-33 survives a clock that is put on or back: late at most, and never two owners", async () => {
    for (const step of [3_600_000, -3_600_000, 365 * 86_400_000, -365 * 86_400_000]) {
      // The process's own clock; the store has another.
      const { home, open, clock } = desks();
      const own = timedClock();
      const one = open({ clock: own });
      await one.activate();
      own.step(step);
      await own.advance(leaseMs / 3);
      expect(one.ready().ready).toBe(step < 0);
      const standing = home.row("leases", "default", "desk")!.values;
      expect(standing).toMatchObject({ epoch: 1 });
      await clock.advance(pollMs);
      const two = open();
      expect((await two.activate()).sessions).toMatchObject([{ status: "standby" }]);
    }
  });

  it("R066 WF-33 loses its session to a store's clock that is put on, writes nothing then, and keeps it by one that is put back", async () => {
    for (const step of [3_600_000, -3_600_000]) {
      const { open, clock } = desks();
      const own = timedClock();
      const one = open({ clock: own });
      await one.activate();
      clock.step(step); // the store's alone
      const two = open();
      const { sessions } = await two.activate();
      const isOn = step > 0;
      expect(sessions).toMatchObject([isOn ? { status: "held", epoch: 2 } : { status: "standby" }]);
      const [owner, other] = isOn ? [two, one] : [one, two];
      const { runId } = await owner.start("refund", input);
      expect((await owner.settled(runId)).status).toBe("interrupted");
      await expect(other.start("refund", { orderId: "B-2" })).rejects.toMatchObject({
        code: "session-owned",
      });
      expect((await owner.list()).items).toHaveLength(1);
    }
  });

  it("R016 WF-30 is followed by three that die as they take over: each has an epoch of its own, and the run ends", async () => {
    const { home, open, clock, effects } = desks();
    const first = open();
    await first.activate();
    const { runId } = await first.start("refund", input);
    const { waitsFor } = await first.settled(runId);
    for (let epoch = 2; epoch <= 4; epoch += 1) {
      clock.leap(leaseMs);
      let isDead = false;
      const dying = homeWith(home, async (attemptId, writes) => {
        if (isDead) return new Promise(() => undefined);
        const outcome = await home.commit(attemptId, writes);
        isDead = writes.some(({ statement }) => statement === "leases.put");
        return isDead ? new Promise(() => undefined) : outcome;
      });
      void open({ store: supervisorStore(dying) }).activate();
      await rest();
      expect(isDead).toBe(true);
      expect(home.row("leases", "default", "desk")!.values).toMatchObject({ epoch });
    }
    clock.leap(leaseMs);
    const last = open();
    expect((await last.activate()).sessions).toMatchObject([{ status: "held", epoch: 5 }]);
    await rest();
    await last.decide(waitsFor[0]!.id, approve({ by: dana }));
    await rest();
    expect((await last.get(runId))?.status).toBe("completed");
    expect(effects.paid).toHaveLength(1);
  });

  it("R065 WF-33 counts no renewal whose answer came too late", async () => {
    const { home, open, clock } = desks();
    let slow: (() => void) | undefined;
    let isSlow = false;
    const lagging = homeWith(home, async (...how) => {
      const outcome = await home.commit(...how);
      if (isSlow) await new Promise<void>((resolve) => (slow = resolve));
      return outcome;
    });
    const one = open({ store: supervisorStore(lagging) });
    await one.activate();
    isSlow = true;
    await clock.advance((leaseMs * 2) / 3);
    expect(one.ready().ready).toBe(false);
    slow!();
    await rest();
    expect(one.ready().ready).toBe(false);
    isSlow = false;
    await clock.advance(2 * leaseMs);
    expect(one.ready()).toMatchObject({ ready: true, sessions: [{ epoch: 2 }] });
  });

  it("WF-33 that could not reach its store goes on once it can, before its lease ran out", async () => {
    const { home, open, clock } = desks();
    let isAway = false;
    const flaky = homeWith(home, (...how) =>
      isAway ? Promise.reject(new Error("planned: away")) : home.commit(...how),
    );
    const one = open({ store: supervisorStore(flaky) });
    await one.activate();
    isAway = true;
    await clock.advance(leaseMs / 2);
    isAway = false;
    await clock.advance(2 * leaseMs);
    expect(one.ready()).toMatchObject({ ready: true, sessions: [{ epoch: 1 }] });
  });

  it("WF-33 never adopts what it still runs itself", async () => {
    const { definition, begun } = slowWork();
    const { openOf, clock } = desks();
    const one = openOf([definition]);
    await one.activate();
    const { runId } = await one.start("slow", { order: "A" });
    await rest();
    await clock.advance(10 * pollMs);
    expect(begun).toHaveLength(1);
    begun[0]!.end();
    expect((await one.settled(runId)).status).toBe("completed");
  });
});

describe("an owner whose store answers badly", () => {
  it("WF-33 keeps its lease where the answer to a renewal got lost", async () => {
    const { home, open, clock } = desks();
    let isLost = false;
    const losing = homeWith(home, async (attemptId, writes) => {
      const outcome = await home.commit(attemptId, writes);
      if (isLost) throw new Error("planned: the answer got lost");
      return outcome;
    });
    const one = open({ store: supervisorStore(losing) });
    await one.activate();
    isLost = true;
    await clock.advance(leaseMs / 3);
    expect(home.row("leases", "default", "desk")?.version).toBe(2); // renewed, and nobody here knows
    isLost = false;
    await clock.advance(3 * leaseMs);
    expect(one.ready()).toMatchObject({ ready: true, sessions: [{ epoch: 1 }] });
    await one.shutdown();
    expect(home.row("leases", "default", "desk")?.values["owner"]).toBeNull();
  });

  it("WF-33 takes its session again only when what it had begun has come to rest", async () => {
    const { home, open, clock, effects } = desks();
    let hangs = false;
    let release: () => void = () => undefined;
    const hanging = homeWith(home, async (attemptId, writes) => {
      if (hangs && writes.some(({ statement }) => statement !== "leases.put")) {
        await new Promise<void>((resolve) => (release = resolve));
      }
      return home.commit(attemptId, writes);
    });
    const one = open({ store: supervisorStore(hanging) });
    await one.activate();
    const { runId } = await one.start("refund", input);
    hangs = true;
    await rest();
    clock.leap(2 * leaseMs); // it stands still, its commit on the way
    await clock.advance(5 * pollMs);
    expect(one.ready().ready).toBe(false);
    expect(home.row("leases", "default", "desk")?.values["epoch"]).toBe(1);
    hangs = false;
    release();
    await clock.advance(2 * pollMs);
    expect(one.ready()).toMatchObject({ ready: true, sessions: [{ epoch: 2 }] });
    expect((await one.settled(runId)).status).toBe("interrupted");
    expect(effects.looked).toEqual(["A-17"]);
  });

  it("WF-33 gives the event loop its turn while work goes from promise to promise", async () => {
    const clock = timedClock();
    const turns = new Turns(clock);
    expect(turns.due()).toBeUndefined();
    clock.leap(5);
    const [first, second] = [turns.due(), turns.due()];
    expect(first).toBeInstanceOf(Promise);
    expect(second).toBe(first); // else others go on, and the turn never comes
    let hasTurned = false;
    setImmediate(() => (hasTurned = true));
    await first;
    expect(turns.due()).toBeUndefined();
    await rest();
    expect(hasTurned).toBe(true);
  });
});

describe("runs that their store keeps from going on", () => {
  it("WF-23 are tried again after a pause that doubles, and go on", async () => {
    const { home, open, effects, clock, logged } = desks();
    let away = 0;
    const flaky = homeWith(home, (attemptId, writes) => {
      const isLog = writes.some(({ statement }) => statement === "log.append");
      if (isLog && away > 0) {
        away -= 1;
        return Promise.reject(new Error("planned: away"));
      }
      return home.commit(attemptId, writes);
    });
    const desk = open({ store: supervisorStore(flaky) });
    await desk.activate();
    away = 3;
    const { runId } = await desk.start("refund", input);
    await clock.advance(60 * pollMs);
    expect((await desk.get(runId))?.status).toBe("interrupted");
    expect(logged.filter(({ message }) => message.includes("was left"))).toHaveLength(3);
    expect(effects.looked).toEqual(["A-17"]);
  });

  it("WF-23 wait twice as long each time, a minute at most, and are forgotten once they went on", () => {
    const clock = timedClock();
    const backlog = new Backlog(clock, pollMs);
    const pauses: number[] = [];
    for (let tries = 0; tries < 6; tries += 1) {
      backlog.note("run-1");
      pauses.push(backlog.of("run-1")!.dueAt! - clock.monotonic());
      expect(backlog.take(() => false)).toEqual([]);
      clock.leap(pauses.at(-1)!);
      expect(backlog.take(() => false)).toEqual(["run-1"]);
    }
    expect(pauses).toEqual([5_000, 10_000, 20_000, 40_000, 60_000, 60_000]);
    expect(backlog.take(() => true)).toEqual([]);
    expect(backlog.of("run-1")).toBeDefined();
    backlog.take(() => false);
    expect(backlog.of("run-1")).toBeUndefined();
  });

  it("WF-23 wait as shortly as the first time where they had gone on for long: that was another outage", async () => {
    const clock = timedClock();
    const backlog = new Backlog(clock, pollMs);
    for (let tries = 0; tries < 5; tries += 1) {
      backlog.note("run-1");
      clock.leap(60_000);
      expect(backlog.take(() => true)).toEqual(["run-1"]);
    }
    clock.leap(60_000);
    backlog.note("run-1");
    expect(backlog.of("run-1")).toMatchObject({ tries: 6 });
    clock.leap(60_000);
    backlog.take(() => true);
    clock.leap(60_001); // at work all the time
    backlog.note("run-1");
    expect(backlog.of("run-1")).toEqual({ tries: 1, dueAt: clock.monotonic() + pollMs });
  });
});
