// Runs that sleep: woken by the owner of their session, by the store's clock, however long and whoever was running (WF-28).
import { approve, flow } from "@holdpoint/flow";
import { encode, sign } from "@holdpoint/seal";
import { describe, expect, it } from "vitest";
import { z } from "zod";

import { defineWorkflow, Workflows } from "../../src/index.ts";
import { RunCodec } from "../../src/registry/record-codec.ts";
import { rest } from "../timed-clock.ts";
import { countingIds, dana, keyring } from "../world.ts";
import { desks, homeWith, pollMs, supervisorStore } from "./desks.ts";

const dayMs = 86_400_000;

const State = z.object({ end: z.string().optional() });

/** Sleeps, counts that it woke, and ends. */
function sleeper(ms: number, woken: string[] = []) {
  const built = flow("sleeper", State)
    .node("nap", async (_, ctx) => {
      await ctx.sleep(ms);
      woken.push(ctx.runId);
      return { end: "woken" };
    })
    .build();
  return defineWorkflow({ name: "sleeper", version: "1", input: State, flow: built });
}

describe("a run that sleeps", () => {
  it("WF-28 R136 P14 wakes once after 40 days and not before, by the store's clock", async () => {
    const woken: string[] = [];
    const definition = sleeper(40 * dayMs, woken);
    const { openOf, clock, home } = desks();
    const desk = openOf([definition], { pollMs: 60_000, leaseMs: 3_600_000 });
    await desk.activate();
    const { runId } = await desk.start("sleeper", {});
    const { waitsFor } = await desk.settled(runId);
    const until = clock.now() + 40 * dayMs;
    expect(waitsFor).toMatchObject([{ kind: "sleep", until }]);
    expect(home.row("runs", "default", runId)?.values["dueAt"]).toBe(until);
    clock.leap(40 * dayMs - 3_600_000); // its lease is gone by then, and taken again at the next look
    await clock.advance(3_600_000 - 60_000);
    expect(await desk.get(runId)).toMatchObject({ status: "interrupted" });
    expect(woken).toEqual([]);
    await clock.advance(120_000);
    expect(await desk.get(runId)).toMatchObject({ status: "completed", waitsFor: [] });
    const fired = (await desk.history(runId)).filter(({ type }) => type === "deadline-fired");
    expect(fired).toHaveLength(1);
    expect(woken).toEqual([runId]);
  });

  it("WF-28 R137 P14 is woken once at activation, where its time passed while nobody was running", async () => {
    const woken: string[] = [];
    const definition = sleeper(60_000, woken);
    const { openOf, clock } = desks();
    const first = openOf([definition]);
    await first.activate();
    const { runId } = await first.start("sleeper", {});
    await first.settled(runId);
    await first.shutdown();
    await clock.advance(dayMs);
    const second = openOf([definition], { adopt: "manual" });
    const { adoptions } = await second.activate();
    expect(adoptions).toEqual([{ runId, did: "begun", how: "resume" }]);
    expect((await second.settled(runId)).status).toBe("completed");
    await second.shutdown();
    const third = openOf([definition]);
    expect((await third.activate()).adoptions).toEqual([]);
    expect(woken).toEqual([runId]);
  });

  it("WF-28 R140 P14 is woken once where the store's clock is put back right then", async () => {
    const definition = sleeper(60_000);
    const { openOf, clock } = desks();
    const desk = openOf([definition]);
    await desk.activate();
    const { runId } = await desk.start("sleeper", {});
    await desk.settled(runId);
    clock.step(2_000);
    await clock.advance(58_000);
    clock.step(-2_000);
    await clock.advance(3 * pollMs);
    expect((await desk.get(runId))?.status).toBe("completed");
    const fired = (await desk.history(runId)).filter(({ type }) => type === "deadline-fired");
    expect(fired).toHaveLength(1);
  });

  it("WF-28 WF-25 costs no timer and no look before its time", async () => {
    const definition = sleeper(20 * pollMs);
    const { openOf, clock, home } = desks();
    const first = openOf([definition], { workers: 50 });
    await first.activate();
    for (let at = 0; at < 50; at += 1) await first.start("sleeper", {});
    await first.waitIdle();
    await first.shutdown();
    const read: string[] = [];
    const spied = homeWith(home, (...how) => home.commit(...how));
    Object.assign(spied, {
      row: (table: string, scope: string, key: string) => {
        read.push(table);
        return home.row(table, scope, key);
      },
    });
    const desk = openOf([definition], { store: supervisorStore(spied) });
    expect((await desk.activate()).adoptions).toEqual([]);
    await clock.advance(10 * pollMs);
    expect(clock.timers).toBe(3); // one round, one heartbeat, one watch over it
    expect(read.filter((table) => table !== "leases")).toEqual([]);
    await clock.advance(20 * pollMs);
    await desk.waitIdle();
    const { items } = await desk.list({ filter: { status: "completed" }, limit: 500 });
    expect(items).toHaveLength(50);
  });

  it("WF-28 WF-20 is woken by its session's owner alone", async () => {
    const definition = sleeper(60_000);
    const { openOf, clock } = desks();
    const owner = openOf([definition]);
    const other = openOf([definition], { session: "night" });
    await owner.activate();
    await other.activate();
    const { runId } = await owner.start("sleeper", {});
    await owner.settled(runId);
    await owner.shutdown();
    await clock.advance(60_000 + 3 * pollMs);
    expect(await other.explain(runId)).toMatchObject({ why: "session-of-nobody" });
    const back = openOf([definition]);
    await back.activate();
    expect((await back.settled(runId)).status).toBe("completed");
  });

  it("WF-28 WF-34 is explained: it sleeps, until when, and that people are not needed", async () => {
    const definition = sleeper(60_000);
    const { openOf, clock } = desks();
    const desk = openOf([definition]);
    await desk.activate();
    const { runId } = await desk.start("sleeper", {});
    await desk.settled(runId);
    expect(await desk.explain(runId)).toMatchObject({
      status: "interrupted",
      why: "sleeps",
      movedBy: [`its owner, at ${new Date(clock.now() + 60_000).toISOString()}`],
      questions: [],
    });
  });

  it("WF-28 goes on beside what waits for a person, which goes on waiting", async () => {
    const built = flow("both", State)
      .node("begin", () => ({}))
      .node("nap", async (_, ctx) => {
        await ctx.sleep(60_000);
        return {};
      })
      .gate("review", { payload: () => ({}) })
      .node("end", () => ({ end: "both" }), { join: true })
      .edge("begin", "nap")
      .edge("begin", "review")
      .edge("nap", "end")
      .edge("review", "end")
      .build();
    const definition = defineWorkflow({ name: "both", version: "1", input: State, flow: built });
    const { openOf, clock, home } = desks();
    const desk = openOf([definition]);
    await desk.activate();
    const { runId } = await desk.start("both", {});
    await desk.settled(runId);
    expect((await desk.explain(runId)).movedBy).toHaveLength(2);
    await clock.advance(60_000 + pollMs);
    const { status, waitsFor } = (await desk.get(runId))!;
    expect(status).toBe("interrupted");
    expect(waitsFor.map(({ kind }) => kind)).toEqual(["approval"]);
    expect(home.row("runs", "default", runId)?.values["dueAt"]).toBe(null);
    await desk.decide(waitsFor[0]!.id, approve({ by: dana }));
    await rest();
    expect((await desk.get(runId))?.status).toBe("completed");
  });

  it("WF-28 is tried again where the store was away at its time", async () => {
    const definition = sleeper(60_000);
    const { openOf, clock, home } = desks();
    let isAway = false;
    const flaky = homeWith(home, (attemptId, writes) => {
      const isLog = writes.some(({ statement }) => statement === "log.append");
      return isAway && isLog
        ? Promise.reject(new Error("planned: away"))
        : home.commit(attemptId, writes);
    });
    const desk = openOf([definition], { store: supervisorStore(flaky) });
    await desk.activate();
    const { runId } = await desk.start("sleeper", {});
    await desk.settled(runId);
    isAway = true;
    await clock.advance(60_000 + pollMs);
    expect(await desk.explain(runId)).toMatchObject({ why: "tried-again-later" });
    isAway = false;
    await clock.advance(60_000);
    expect((await desk.get(runId))?.status).toBe("completed");
  });

  it("WF-28 STORE-01 is looked at once where its row is of before times were kept there, and wakes", async () => {
    const definition = sleeper(60_000);
    const { openOf, clock, home } = desks();
    const first = openOf([definition]);
    await first.activate();
    const { runId } = await first.start("sleeper", {});
    await first.settled(runId);
    await first.shutdown();
    const codec = new RunCodec(keyring);
    const { record, version } = codec.open("default", home.row("runs", "default", runId)!);
    const before = record.waits.map((wait) => ({ ...wait, until: undefined }));
    const header = { scope: "default", id: runId, status: "interrupted", version: version + 1 };
    const body = encode({ format: 1, record: { ...record, waits: before } });
    const sealed = sign(body, { keyring, purpose: "run-record", header }).text;
    const { values, ...write } = codec.write(record, version);
    await home.commit("old", [{ ...write, values: { ...values, dueAt: 0, sealed } }]);
    const second = openOf([definition]);
    expect((await second.activate()).adoptions).toEqual([{ runId, did: "waits" }]);
    const anew = home.row("runs", "default", runId)!;
    expect(codec.open("default", anew)).toEqual({ record, version: version + 2 });
    await clock.advance(60_000);
    expect((await second.get(runId))?.status).toBe("completed");
  });

  it("WF-28 is woken by hand too: by whoever adopts the run at or after its time", async () => {
    const definition = sleeper(60_000);
    const { clock, store } = desks();
    const how = { store, definitions: [definition], keyring, clock };
    const desk = new Workflows({ ...how, ids: countingIds("by-hand") });
    const { runId } = await desk.start("sleeper", {});
    await desk.settled(runId);
    clock.step(59_999);
    expect(await desk.adopt(runId)).toEqual({ runId, did: "waits" });
    clock.step(1);
    expect(await desk.adopt(runId)).toEqual({ runId, did: "begun", how: "resume" });
    expect((await desk.settled(runId)).status).toBe("completed");
  });
});
