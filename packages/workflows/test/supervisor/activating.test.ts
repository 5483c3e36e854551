import { StoreUnavailable } from "@holdpoint/approvals";
import { approve } from "@holdpoint/flow";
import { describe, expect, it } from "vitest";

import { Workflows, type RunRecord } from "../../src/index.ts";
import { RunCodec } from "../../src/registry/record-codec.ts";
import { pendingRun, type RunFacts, type Standing } from "../../src/registry/record.ts";
import { rest } from "../timed-clock.ts";
import { countingIds, dana, keyring, refunds } from "../world.ts";
import { desks, homeWith, leaseMs, pollMs, supervisorStore } from "./desks.ts";

const input = { orderId: "A-17" };

/** A process that stops answering its stores after so many commits of a run, as one that was killed. */
function killedAfter(home: Parameters<typeof homeWith>[0], commits: number) {
  let left = commits;
  let tellDeath: () => void = () => undefined;
  const died = new Promise<void>((resolve) => (tellDeath = resolve));
  const dying = homeWith(home, async (attemptId, writes) => {
    const isRun = writes.some(({ statement }) => statement !== "leases.put");
    if (isRun && left === 0) tellDeath();
    if (left === 0) return new Promise(() => undefined);
    if (isRun) left -= 1;
    return home.commit(attemptId, writes);
  });
  return { store: supervisorStore(dying), died };
}

const facts = (id: string): RunFacts => ({
  id,
  scope: "default",
  session: "desk",
  definition: "refund",
  version: "1",
  parent: undefined,
  startedBy: undefined,
  startKey: undefined,
  inputDigest: "digest",
  input: "{}",
  createdAt: 1_000,
});

describe("activating", () => {
  it("WF-21 WF-12 starts what was on record, adopts what ran, and leaves what waits", async () => {
    const { home, activated, open, effects, clock } = desks();
    const waiting = await activated();
    const { runId: waits } = await waiting.start("refund", { orderId: "W" });
    await waiting.settled(waits);
    await waiting.shutdown();
    const { store, died } = killedAfter(home, 4);
    const first = open({ store });
    await first.activate();
    const { runId: seeded } = await first.start("refund", { orderId: "S" }, { key: "s" });
    await died;
    await clock.advance(2 * leaseMs);
    const second = open();
    const { adoptions } = await second.activate();
    expect(adoptions).toEqual([{ runId: seeded, did: "begun", how: "adopt" }]);
    expect((await second.settled(seeded)).status).toBe("interrupted");
    expect((await second.get(waits))?.status).toBe("interrupted");
    expect(effects.looked).toEqual(["W", "S"]);
    expect((await second.start("refund", { orderId: "S" }, { key: "s" })).runId).toBe(seeded);
  });

  it("WF-21 WF-23 takes a run up at the next round where its log could not be reached", async () => {
    const { home, open, clock } = desks();
    const { store, died } = killedAfter(home, 4);
    const first = open({ store });
    await first.activate();
    const { runId } = await first.start("refund", input);
    await died;
    const reached = supervisorStore(home);
    let away = true;
    const log = Object.assign(Object.create(reached.log) as typeof reached.log, {
      read: async (...which: Parameters<typeof reached.log.read>) => {
        if (away) throw new StoreUnavailable("planned: the log is away");
        return reached.log.read(...which);
      },
    });
    const second = open({ store: { ...reached, log } });
    await second.activate(); // on standby: the dead one's lease has not lapsed
    await clock.advance(2 * leaseMs);
    await rest();
    expect((await second.get(runId))?.status).toBe("running");
    away = false;
    await clock.advance(2 * pollMs);
    await rest();
    expect((await second.settled(runId)).status).toBe("interrupted");
    await second.shutdown();
  });

  it("WF-24 resumes what was decided and not consumed, once, when the process died in between", async () => {
    const { activated, effects, clock, home, open } = desks();
    const first = await activated();
    const { runId } = await first.start("refund", input);
    const { waitsFor } = await first.settled(runId);
    await first.shutdown();
    const { store, died } = killedAfter(home, 1);
    const dying = open({ store });
    await dying.activate();
    expect(await dying.decide(waitsFor[0]!.id, approve({ by: dana }))).toEqual({
      status: "accepted",
      runId,
    });
    await died;
    expect((await first.get(runId))?.status).toBe("interrupted");
    await clock.advance(2 * leaseMs);
    const { adoptions } = await open().activate();
    expect(adoptions).toEqual([{ runId, did: "begun", how: "resume" }]);
    await rest();
    expect((await first.get(runId))?.status).toBe("completed");
    expect(effects.paid).toHaveLength(1);
  });

  it("WF-24 hears of a decision that was taken anywhere, and resumes by itself", async () => {
    const { store, activated, effects, clock } = desks();
    const desk = await activated();
    const { runId } = await desk.start("refund", input);
    const { waitsFor } = await desk.settled(runId);
    const ids = countingIds("inbox");
    const inbox = new Workflows({ store, definitions: [], keyring, clock, ids });
    await inbox.decide(waitsFor[0]!.id, approve({ by: dana }));
    await rest();
    expect((await desk.settled(runId)).status).toBe("completed");
    expect(effects.paid).toHaveLength(1);
  });

  it("WF-24 takes a decision where the session is held elsewhere, and its owner goes on", async () => {
    const { activated, effects } = desks();
    const [owner, other] = [await activated(), await activated()];
    const { runId } = await owner.start("refund", input);
    const { waitsFor } = await owner.settled(runId);
    await other.decide(waitsFor[0]!.id, approve({ by: dana }));
    await rest();
    expect((await owner.settled(runId)).status).toBe("completed");
    expect(effects.paid).toHaveLength(1);
  });

  it("WF-21 R074 leaves a run of a definition that is not here, says so, and never fails it", async () => {
    const { activated, effects, home, open, openOf, clock } = desks();
    const { store, died } = killedAfter(home, 3);
    const first = open({ store });
    await first.activate();
    const { runId } = await first.start("refund", input);
    await died;
    await clock.advance(2 * leaseMs);
    const newer = openOf([refunds(effects, "2")]);
    const { adoptions } = await newer.activate();
    expect(adoptions).toEqual([{ runId, did: "left", reason: "unknown-definition" }]);
    await clock.advance(3 * pollMs);
    expect((await newer.get(runId))?.status).toBe("running");
    await newer.shutdown();
    expect((await (await activated()).settled(runId)).status).toBe("interrupted");
  });

  it("WF-21 CASE-116 adopts what is chosen, and lists the others", async () => {
    const { home, open, clock } = desks();
    const { store, died } = killedAfter(home, 2);
    const first = open({ store });
    await first.activate();
    const { runId: a } = await first.start("refund", { orderId: "A" });
    void first.start("refund", { orderId: "B" }).catch(() => undefined);
    await died;
    await clock.advance(2 * leaseMs);
    const manual = open({ adopt: "manual" });
    const { adoptions } = await manual.activate();
    expect(adoptions).toContainEqual({ runId: a, did: "left", reason: "not-chosen" });
    expect(adoptions.every(({ did }) => did === "left")).toBe(true);
    await manual.shutdown();
    const chosen = open({ adopt: ({ runId }) => runId === a });
    const done = (await chosen.activate()).adoptions;
    expect(done.filter(({ did }) => did === "begun").map(({ runId }) => runId)).toEqual([a]);
    expect(done).toHaveLength(adoptions.length);
  });

  it("WF-32 sets a run aside that can't be trusted, and goes on with the others", async () => {
    const { home, open, clock } = desks();
    const { store, died } = killedAfter(home, 2);
    const first = open({ store });
    await first.activate();
    void first.start("refund", { orderId: "A" }).catch(() => undefined);
    void first.start("refund", { orderId: "B" }).catch(() => undefined);
    await died;
    const [broken, good] = home.rows("runs", "default").map(({ key }) => key);
    const row = home.row("runs", "default", broken!)!;
    await home.commit("forger", [
      {
        statement: "runs.put",
        scope: "default",
        key: broken!,
        expect: row.version,
        values: { ...row.values, definition: "other" },
      },
    ]);
    await clock.advance(2 * leaseMs);
    const desk = open();
    const { adoptions } = await desk.activate();
    expect(adoptions).toContainEqual(expect.objectContaining({ runId: broken, did: "broken" }));
    expect(adoptions).toContainEqual(expect.objectContaining({ runId: good, did: "begun" }));
    expect((await desk.settled(good!)).status).toBe("interrupted");
    const list = await desk.list();
    expect(list.broken.map(({ runId }) => runId)).toEqual([broken]);
  });

  it("WF-25 R071 CASE-124 touches none of 10,000 waiting runs, and sets no timer for any", async () => {
    const { home, open, clock } = desks();
    const codec = new RunCodec(keyring);
    const standing: Standing = { status: "interrupted" };
    const runs = Array.from({ length: 10_000 }, (_, at): RunRecord => {
      return { ...pendingRun(facts(`run-${at}`)), standing, revision: 3 };
    });
    await home.commit(
      "fill",
      runs.map((record) => codec.write(record, 0)),
    );
    const read: string[] = [];
    const spied = homeWith(home, (...how) => home.commit(...how));
    Object.assign(spied, {
      row: (table: string, scope: string, key: string) => {
        read.push(`${table}/${key}`);
        return home.row(table, scope, key);
      },
    });
    const desk = open({ store: supervisorStore(spied) });
    const before = process.cpuUsage();
    const { adoptions } = await desk.activate();
    const { user, system } = process.cpuUsage(before); // its own work, however busy the machine is
    expect((user + system) / 1000).toBeLessThan(2_000);
    expect(adoptions).toEqual([]);
    await clock.advance(10 * pollMs);
    expect(read.filter((key) => key.startsWith("runs/") || key.startsWith("log/"))).toEqual([]);
    expect(clock.timers).toBe(3); // one round, one heartbeat, one watch over it
    expect(home.row("runs", "default", "run-5000")?.version).toBe(1);
  });
});
