import { DeferredApproval } from "@holdpoint/approvals";
import { approve, flow } from "@holdpoint/flow";
import { describe, expect, it } from "vitest";
import { z } from "zod";

import { defineWorkflow } from "../../src/index.ts";
import { patrolPageMax } from "../../src/limits.ts";
import { rest } from "../timed-clock.ts";
import { dana, keyring } from "../world.ts";
import { desks, leaseMs, pollMs } from "./desks.ts";

const dayMs = 86_400_000;

/** A gate that may be answered for so long; past it the run takes its denied edge, or fails. */
function expiring(expiresInMs: number, elsewise: "edge" | "fail" = "edge") {
  const State = z.object({ end: z.string().optional() });
  const gated = flow("expiring", State)
    .gate("review", { payload: () => ({}), expiresInMs })
    .node("paid", () => ({ end: "paid" }))
    .node("late", () => ({ end: "late" }))
    .path("review", "paid");
  const built = elsewise === "edge" ? gated.denied("review", "late") : gated.edge("paid", "late");
  return defineWorkflow({ name: "expiring", version: "1", input: State, flow: built.build() });
}

describe("a time that runs out", () => {
  it("WF-28 R136 CASE-120 takes its edge once, by the store's clock, after 40 days and not before", async () => {
    const definition = expiring(40 * dayMs);
    const { openOf, clock, home } = desks();
    const desk = openOf([definition], { pollMs: 60_000, leaseMs: 3_600_000 });
    await desk.activate();
    const { runId } = await desk.start("expiring", {});
    await desk.settled(runId);
    const commits: string[][] = [];
    home.watch((applied) => commits.push(applied.map(({ table }) => table)));
    clock.leap(40 * dayMs - 3_600_000); // its lease is gone by then, and taken again at the next look
    await clock.advance(3_600_000 - 60_000);
    expect((await desk.get(runId))?.status).toBe("interrupted");
    commits.length = 0;
    await clock.advance(120_000);
    expect(await desk.get(runId)).toMatchObject({ status: "completed", waitsFor: [] });
    expect(await desk.output(definition, runId)).toEqual({ end: "late" });
    const spending = commits.filter((tables) => tables.includes("approvals"));
    expect(spending).toHaveLength(1);
    expect(new Set(spending[0])).toEqual(new Set(["approvals", "approvalAudit", "log", "runs"]));
    const answered = (await desk.history(runId)).filter(({ type }) => type === "answered");
    expect(answered).toHaveLength(1);
  });

  it("WF-28 R137 CASE-120 is found at activation, where nobody was running at that time", async () => {
    const definition = expiring(60_000, "fail");
    const { openOf, clock, store } = desks();
    const first = openOf([definition]);
    await first.activate();
    const { runId } = await first.start("expiring", {});
    const { waitsFor } = await first.settled(runId);
    await first.shutdown();
    await clock.advance(dayMs);
    const second = openOf([definition]);
    const { adoptions } = await second.activate();
    expect(adoptions).toEqual([{ runId, did: "begun", how: "resume" }]);
    expect(await second.settled(runId)).toMatchObject({
      status: "failed",
      failure: { code: "approval-denied" },
    });
    const row = await store.approvals.get("default", waitsFor[0]!.id);
    expect(row?.values["state"]).toBe("consumed");
  });

  it("WF-28 APR-13 is found where somebody swept its record by hand while nobody held the session", async () => {
    const definition = expiring(60_000);
    const { openOf, clock, store } = desks();
    const { records } = new DeferredApproval(store.approvals, { keyring });
    const first = openOf([definition]);
    await first.activate();
    const runs: string[] = [];
    for (let at = 0; at <= patrolPageMax; at += 1) {
      runs.push((await first.start("expiring", {})).runId);
    }
    for (const runId of runs) await first.settled(runId);
    await first.shutdown();
    await clock.advance(dayMs);
    await records.sweep("default", 500);
    const second = openOf([definition]);
    expect((await second.activate()).adoptions).toEqual([]); // waiting runs are not looked at then (WF-25)
    const ends = async (): Promise<number> =>
      (await second.list({ filter: { status: "completed" }, limit: 500 })).items.length;
    await clock.advance(pollMs);
    await second.waitIdle();
    expect(await ends()).toBe(patrolPageMax); // so many with a round
    await clock.advance(pollMs);
    await second.waitIdle();
    expect(await ends()).toBe(runs.length);
    expect(await second.output(definition, runs[0]!)).toEqual({ end: "late" });
  });

  it("WF-25 WF-28 costs runs that go on waiting one look, and none once all were looked at", async () => {
    const definition = expiring(40 * dayMs);
    const { openOf, clock, store } = desks();
    const first = openOf([definition]);
    await first.activate();
    const looks = new Map<string, number>();
    for (let at = 0; at <= patrolPageMax; at += 1) {
      const { runId } = await first.start("expiring", {});
      for (const { id } of (await first.settled(runId)).waitsFor) looks.set(id, 0);
    }
    await first.shutdown();
    const approvals: typeof store.approvals = {
      ...store.approvals,
      get: (scope, id) => {
        looks.set(id, looks.get(id)! + 1);
        return store.approvals.get(scope, id);
      },
    };
    const second = openOf([definition], { store: { ...store, approvals } });
    await second.activate();
    for (let round = 0; round < 4; round += 1) await clock.advance(pollMs);
    expect([...looks.values()]).toEqual(Array.from({ length: patrolPageMax + 1 }, () => 1));
    const page = { filter: { status: "interrupted" }, limit: 500 } as const;
    expect((await second.list(page)).items).toHaveLength(patrolPageMax + 1);
  });

  it("WF-28 CASE-046 loses to a decision that came before it, and wins over one that comes after", async () => {
    for (const isLate of [false, true]) {
      const definition = expiring(60_000);
      const { openOf, clock } = desks();
      const desk = openOf([definition]);
      await desk.activate();
      const { runId } = await desk.start("expiring", {});
      const { waitsFor } = await desk.settled(runId);
      clock.leap(isLate ? 60_000 : 59_999);
      const said = await desk.decide(waitsFor[0]!.id, approve({ by: dana })).then(
        ({ status }) => status,
        (error: { readonly code: string }) => error.code,
      );
      expect(said).toBe(isLate ? "approval-expired" : "accepted");
      const next = isLate ? openOf([definition]) : desk;
      if (isLate) await next.activate();
      await clock.advance(pollMs + leaseMs);
      await rest();
      expect(await next.output(definition, runId)).toEqual({ end: isLate ? "late" : "paid" });
    }
  });

  it("WF-28 R140 fires once where the store's clock is put back right then", async () => {
    const definition = expiring(60_000);
    const { openOf, clock } = desks();
    const desk = openOf([definition]);
    await desk.activate();
    const { runId } = await desk.start("expiring", {});
    await desk.settled(runId);
    await clock.advance(60_000);
    clock.step(-2_000);
    await clock.advance(3 * pollMs);
    expect((await desk.get(runId))?.status).toBe("completed");
    const answered = (await desk.history(runId)).filter(({ type }) => type === "answered");
    expect(answered).toHaveLength(1);
  });

  it("WF-28 costs one look where what ran out is no run of this process", async () => {
    const definition = expiring(60_000);
    const { openOf, clock, store } = desks();
    const other = openOf([definition], { session: "other" });
    await other.activate();
    const { runId } = await other.start("expiring", {});
    await other.settled(runId);
    await other.shutdown();
    const lists: unknown[] = [];
    const approvals = {
      ...store.approvals,
      list: (...how: Parameters<typeof store.approvals.list>) => {
        lists.push(how[2].after);
        return store.approvals.list(...how);
      },
    };
    const desk = openOf([definition], { store: { ...store, approvals } });
    await desk.activate();
    await clock.advance(60_000 + 3 * pollMs);
    expect((await desk.get(runId))?.status).toBe("interrupted");
    expect(lists.at(-1)).toMatchObject({ value: expect.any(Number) });
    await other.shutdown();
    const back = openOf([definition], { session: "other" });
    await back.activate();
    expect((await back.settled(runId)).status).toBe("completed");
  });
});
