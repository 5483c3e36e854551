import type { Write } from "@holdpoint/approvals";
import { approve } from "@holdpoint/flow";
import { describe, expect, it } from "vitest";

import { rest } from "../timed-clock.ts";
import { dana } from "../world.ts";
import { desks, homeWith, leaseMs, pollMs, supervisorStore } from "./desks.ts";

const input = { orderId: "A-17" };

describe("sessions", () => {
  it("WF-20 are held by one live owner each, and the others stand by", async () => {
    const { open } = desks();
    const [one, two] = [open(), open()];
    const held = { session: "desk", status: "held", epoch: 1 };
    expect((await one.activate()).sessions).toEqual([held]);
    const [standby] = (await two.activate()).sessions;
    expect(standby).toMatchObject({ session: "desk", status: "standby", epoch: 1 });
    expect([one.ready().ready, two.ready().ready]).toEqual([true, false]);
    await expect(two.start("refund", input)).rejects.toMatchObject({
      code: "session-owned",
      session: "desk",
      epoch: 1,
    });
    expect((await one.start("refund", input)).session).toBe("desk");
    await one.waitIdle();
  });

  it("WF-20 held elsewhere are an error where the owner has to be alone, and nothing is kept", async () => {
    const { open, activated, clock } = desks();
    const one = await activated();
    const timers = clock.timers;
    const two = open({ exclusive: true });
    await expect(two.activate()).rejects.toMatchObject({ code: "session-owned", epoch: 1 });
    expect(clock.timers).toBe(timers);
    await one.shutdown();
    const three = open({ exclusive: true });
    expect((await three.activate()).sessions).toMatchObject([{ status: "held", epoch: 2 }]);
  });

  it("WF-20 go to whoever stands by at its next look, once given back", async () => {
    const { open, activated, clock } = desks();
    const one = await activated();
    const two = open();
    await two.activate();
    await one.shutdown();
    expect(two.ready().ready).toBe(false);
    await clock.advance(pollMs);
    expect(two.ready()).toMatchObject({ ready: true, sessions: [{ epoch: 2 }] });
  });

  it("WF-30 of an owner that died are taken within one lease and one look", async () => {
    const { home, open, clock } = desks();
    let dead = false;
    const dying = homeWith(home, (...how) =>
      dead ? new Promise(() => undefined) : home.commit(...how),
    );
    await open({ store: supervisorStore(dying) }).activate();
    const two = open();
    await two.activate();
    dead = true;
    await clock.advance(leaseMs - pollMs);
    expect(two.ready().ready).toBe(false);
    await clock.advance(2 * pollMs);
    expect(two.ready()).toMatchObject({ ready: true, sessions: [{ status: "held", epoch: 2 }] });
  });

  it("WF-30 of an owner that died are taken when their lease lapses, not a look later", async () => {
    const { home, open, clock } = desks();
    let dead = false;
    const dying = homeWith(home, (...how) =>
      dead ? new Promise(() => undefined) : home.commit(...how),
    );
    await open({ store: supervisorStore(dying) }).activate();
    dead = true;
    await clock.advance(1_700);
    const two = open();
    await two.activate(); // it looks each five seconds from here on
    await clock.advance(leaseMs - 1_701);
    expect(two.ready().ready).toBe(false);
    await clock.advance(2);
    expect(two.ready()).toMatchObject({ ready: true, sessions: [{ status: "held", epoch: 2 }] });
  });

  it("WF-20 WF-30 cost whoever stands by nothing each: one list says who has them", async () => {
    const { store, open, clock } = desks();
    const one = open({ sessions: { match: () => true, max: 5 } });
    await one.activate();
    for (const session of ["a", "b", "c"]) await one.start("refund", input, { session });
    let reads = 0;
    const leases = Object.assign(Object.create(store.leases) as typeof store.leases, {
      get: (scope: string, name: string) => {
        reads += 1;
        return store.leases.get(scope, name);
      },
    });
    const two = open({ store: { ...store, leases }, sessions: { match: () => true, max: 5 } });
    await two.activate();
    await clock.advance(5 * pollMs);
    expect(two.ready().sessions).toMatchObject([
      { session: "a", status: "standby", epoch: 1 },
      { session: "b", status: "standby", epoch: 1 },
      { session: "c", status: "standby", epoch: 1 },
    ]);
    expect(reads).toBe(0);
    await one.shutdown();
    await clock.advance(pollMs);
    expect(two.ready().sessions.map(({ status }) => status)).toEqual(["held", "held", "held"]);
  });

  it("WF-20 stay with an owner that renews, however long", async () => {
    const { open, activated, clock } = desks();
    const one = await activated();
    const two = open();
    await two.activate();
    await clock.advance(20 * leaseMs);
    expect(one.ready()).toMatchObject({ ready: true, sessions: [{ epoch: 1 }] });
    expect(two.ready().ready).toBe(false);
  });

  it("WF-20 are shared: each supervisor takes up to its number of those that match", async () => {
    const { activated, clock } = desks();
    const match = (session: string) => session.startsWith("desk-");
    const one = await activated({ sessions: { match, max: 5 } });
    for (const session of ["desk-1", "desk-2", "desk-3"]) {
      await one.start("refund", input, { session });
    }
    await expect(one.start("refund", input, { session: "night" })).rejects.toMatchObject({
      code: "session-owned",
    });
    await expect(one.start("refund", input)).rejects.toMatchObject({ code: "option-invalid" });
    await one.waitIdle();
    await one.shutdown();
    const two = await activated({ sessions: { match, max: 2 } });
    const three = await activated({ sessions: { match, max: 2 } });
    await clock.advance(pollMs);
    const held = (desk: typeof two) =>
      desk.ready().sessions.filter(({ status }) => status === "held");
    expect(held(two).map(({ session }) => session)).toEqual(["desk-1", "desk-2"]);
    expect(held(three).map(({ session }) => session)).toEqual(["desk-3"]);
  });

  it("STORE-06 put their fence on every write of their owner: log, registry, approvals, leases", async () => {
    const { home, open, clock } = desks();
    const unfenced = new Set<string>();
    const fenced = new Map<string, unknown>();
    const look = (writes: readonly Write[]): void => {
      for (const { statement, fence } of writes) {
        if (fence === undefined) unfenced.add(statement);
        else fenced.set(statement, fence);
      }
    };
    const watched = homeWith(home, (attemptId, writes) => {
      look(writes);
      return home.commit(attemptId, writes);
    });
    const desk = open({ store: supervisorStore(watched) });
    await desk.activate();
    expect([...unfenced]).toEqual(["leases.put"]); // taking it: there is no epoch yet
    unfenced.clear();
    const { runId } = await desk.start("refund", input, { key: "k" });
    const { waitsFor } = await desk.settled(runId);
    await clock.advance(leaseMs / 2);
    expect([...unfenced]).toEqual([]);
    await desk.decide(waitsFor[0]!.id, approve({ by: dana }));
    await rest();
    expect(new Set(unfenced)).toEqual(new Set(["approvals.put", "approvalAudit.append"])); // a person's word
    expect((await desk.settled(runId)).status).toBe("completed");
    await desk.shutdown();
    const all = ["approvals.put", "approvalKeys.put", "approvalAudit.append", "log.append"];
    expect(new Set(fenced.keys())).toEqual(
      new Set([...all, "runs.put", "runKeys.put", "leases.put"]),
    );
    expect(new Set([...fenced.values()].map((fence) => JSON.stringify(fence)))).toEqual(
      new Set(['{"name":"desk","epoch":1}']),
    );
  });
});
