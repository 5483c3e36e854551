// A wish to cancel of a run that waits, from whoever has not its session (WF-26).
import { DeferredApproval, memoryApprovalStore, memoryHome } from "@holdpoint/approvals";
import { describe, expect, it } from "vitest";

import { rest } from "../timed-clock.ts";
import { keyring, refunds, rita } from "../world.ts";
import { desks, homeWith, leaseMs, pollMs, supervisorStore } from "./desks.ts";

const input = { orderId: "A-17" };
const wish = { reason: "duplicate", by: rita };
const cancelled = {
  status: "cancelled",
  cancelled: { reason: "duplicate", by: { id: "rita" } },
  cancelRequested: false,
  waitsFor: [],
};

describe("a wish to cancel a run that waits", () => {
  it("WF-26 WF-34 is honoured at the owner's next look, in one commit with its approval", async () => {
    const { activated, clock, home, store } = desks();
    const owner = await activated();
    const { runId } = await owner.start("refund", input);
    const { waitsFor } = await owner.settled(runId);
    const other = await activated();
    expect(await other.cancel(runId, wish)).toEqual({ status: "requested", runId });
    expect(await other.cancel(runId, { reason: "again" })).toEqual({ status: "requested", runId });
    const found = { why: "cancel-requested", movedBy: ["the next round of its owner"] };
    expect(await other.explain(runId)).toMatchObject(found);
    expect(await owner.explain(runId)).toMatchObject(found);
    const commits: string[][] = [];
    home.watch((applied) => commits.push(applied.map(({ table }) => table)));
    await clock.advance(pollMs);
    expect(await owner.get(runId)).toMatchObject(cancelled);
    const ending = commits.filter((tables) => tables.includes("log"));
    expect(ending.map((tables) => new Set(tables))).toEqual([
      new Set(["approvals", "approvalAudit", "log", "runs"]),
    ]);
    const record = await store.approvals.get("default", waitsFor[0]!.id);
    expect(record?.values["state"]).toBe("consumed");
  });

  it("WF-26 is honoured when somebody takes a session that nobody had, whatever else is adopted", async () => {
    const { activated, clock, open } = desks();
    const first = await activated();
    const { runId } = await first.start("refund", input);
    await first.settled(runId);
    await first.shutdown();
    const elsewhere = await activated({ session: "night" });
    expect((await elsewhere.cancel(runId, wish)).status).toBe("requested");
    await clock.advance(2 * pollMs);
    expect((await elsewhere.get(runId))?.status).toBe("interrupted");
    const next = open({ adopt: "manual" });
    const { adoptions } = await next.activate();
    expect(adoptions).toEqual([{ runId, did: "ended", status: "cancelled" }]);
    expect(await next.get(runId)).toMatchObject(cancelled);
  });

  it("WF-26 WF-31 is on record before an approval in a database of its own is taken back", async () => {
    const { activated, clock, home } = desks();
    const apart = memoryHome({ clock });
    let isDead = false;
    const dying = homeWith(apart, async (attemptId, writes) => {
      const outcome = await apart.commit(attemptId, writes);
      isDead = writes.some(({ statement }) => statement === "approvals.put");
      return isDead ? new Promise(() => undefined) : outcome;
    });
    const storeOver = (approvals: typeof apart) => ({
      ...supervisorStore(home),
      approvals: memoryApprovalStore(approvals),
    });
    const first = await activated({ store: storeOver(apart) });
    const { runId } = await first.start("refund", input);
    await first.settled(runId);
    await first.shutdown();
    const second = await activated({ store: storeOver(dying) });
    void second.cancel(runId, wish);
    await rest();
    expect(isDead).toBe(true); // taken back, and nothing was written behind it
    expect((await second.get(runId))?.status).toBe("interrupted");
    clock.leap(leaseMs);
    const third = await activated({ store: storeOver(apart) });
    expect(await third.get(runId)).toMatchObject(cancelled);
  });

  it("WF-26 WF-33 waits for what was being filed when its session was lost, by the process that takes it again", async () => {
    const { activated, clock, home } = desks();
    const apart = memoryHome({ clock });
    const held: { asked: () => void; take: () => void } = {
      asked: () => undefined,
      take: () => undefined,
    };
    const asked = new Promise<void>((resolve) => (held.asked = resolve));
    const taken = new Promise<void>((resolve) => (held.take = resolve));
    let isFirst = true;
    const slow = homeWith(apart, async (attemptId, writes) => {
      if (isFirst) {
        isFirst = false;
        held.asked();
        await taken;
      }
      return apart.commit(attemptId, writes);
    });
    const approvals = memoryApprovalStore(slow);
    const desk = await activated({ store: { ...supervisorStore(home), approvals } });
    const { runId } = await desk.start("refund", input);
    await asked;
    clock.leap(leaseMs);
    await clock.advance(1);
    expect(desk.ready().ready).toBe(false);
    expect((await desk.cancel(runId, wish)).status).toBe("requested");
    await clock.advance(pollMs);
    expect(desk.ready().ready).toBe(true);
    expect((await desk.get(runId))?.status).toBe("running");
    held.take();
    await rest();
    expect(await desk.get(runId)).toMatchObject(cancelled);
    const { records } = new DeferredApproval(approvals, { keyring });
    const { items } = await records.list("default", {});
    expect(items.map(({ state }) => state)).toEqual(["consumed"]);
  });

  it("WF-21 WF-26 is looked at once where the run's definition is not here", async () => {
    const { activated, clock, effects, home, openOf } = desks();
    const first = await activated();
    const { runId } = await first.start("refund", input);
    await first.settled(runId);
    await first.shutdown();
    let looks = 0;
    const spied = homeWith(home, (...how) => home.commit(...how));
    Object.assign(spied, {
      row: (table: string, scope: string, key: string) => {
        if (key === runId) looks += 1;
        return home.row(table, scope, key);
      },
    });
    const newer = openOf([refunds(effects, "2")], { store: supervisorStore(spied) });
    await newer.activate();
    await newer.cancel(runId, wish).catch(() => undefined); // its owner here, and can't end it
    const elsewhere = await activated({ session: "night" });
    expect((await elsewhere.cancel(runId, wish)).status).toBe("requested");
    await clock.advance(pollMs);
    const before = looks;
    await clock.advance(5 * pollMs);
    expect(looks).toBe(before);
    expect(await newer.explain(runId)).toMatchObject({ why: "unknown-definition" });
    await newer.shutdown();
    const back = await activated();
    expect(await back.get(runId)).toMatchObject(cancelled);
  });
});
