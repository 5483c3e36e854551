import type { Row, Write } from "@holdpoint/approvals";
import { approve } from "@holdpoint/flow";
import { describe, expect, it } from "vitest";

import { Workflows, type RunStatus } from "../../src/index.ts";
import { faultyStores } from "../faulty-stores.ts";
import { countingIds, dana, keyring, refunds, world } from "../world.ts";

type World = ReturnType<typeof world>;
const input = { orderId: "A-17" };

/** A process that ended right after its commit number `at`; what it was doing is under the key `k`. */
async function diedAfter(here: World, at: number): Promise<void> {
  const { store, died } = faultyStores(here.homes, at, "die-after");
  const { desk } = here.open(store);
  void desk
    .start("refund", input, { key: "k" })
    .then(({ runId }) => desk.settled(runId))
    .then(({ waitsFor }) => desk.decide(waitsFor[0]!.id, approve({ by: dana })))
    .catch(() => undefined);
  await died;
}

/** The commits of a run until a status, and what the registry says after each. */
async function statusesByCommit(how: "together" | "apart"): Promise<RunStatus[]> {
  const seen: RunStatus[] = [];
  for (let at = 1; at < 40; at += 1) {
    const here = world(how);
    await diedAfter(here, at);
    const [run] = (await here.open().desk.list()).items;
    if (run === undefined) break;
    seen.push(run.status);
    if (run.status === "completed") break;
  }
  return seen;
}

/** Puts a column of a run's row as somebody with the database would. */
async function overwrite(
  here: World,
  runId: string,
  change: Record<string, string>,
): Promise<void> {
  const row = (await here.store.runs.get("default", runId)) as Row;
  const write: Write = {
    statement: "runs.put",
    scope: "default",
    key: runId,
    expect: row.version,
    values: { ...row.values, ...change },
  };
  await here.store.runs.commit(`forged-${runId}`, [write]);
}

/** The events that move a registry, and where to. */
const moves = new Map<string, RunStatus>([
  ["run-started", "running"],
  ["paused", "interrupted"],
  ["answered", "running"],
  ["completed", "completed"],
]);

describe("adopting what nobody holds", () => {
  it("WF-21 starts a run from its seed where it has no log", async () => {
    const here = world();
    await diedAfter(here, 1);
    const { desk } = here.open();
    const [pending] = (await desk.list()).items;
    expect(pending?.status).toBe("pending");
    const runId = pending!.runId;
    expect(await desk.adoptAll()).toEqual([{ runId, did: "begun", how: "start" }]);
    expect((await desk.settled(runId)).status).toBe("interrupted");
    expect(here.effects.looked).toEqual(["A-17"]);
  });

  it("WF-21 adopts a run that its process left running, and repeats no journaled call", async () => {
    const here = world();
    const statuses = await statusesByCommit("together");
    const lastRunning = statuses.lastIndexOf("running", statuses.indexOf("interrupted")) + 1;
    await diedAfter(here, lastRunning);
    const looked = [...here.effects.looked];
    const { desk } = here.open();
    const [run] = (await desk.list()).items;
    const runId = run!.runId;
    expect(run!.status).toBe("running");
    expect(await desk.adoptAll()).toEqual([{ runId, did: "begun", how: "adopt" }]);
    const view = await desk.settled(runId);
    expect(view).toMatchObject({ status: "interrupted", waitsFor: [{ visit: "review#1" }] });
    expect(looked).toEqual(["A-17"]);
    expect(here.effects.looked).toEqual(looked);
  });

  it("WF-21 leaves a waiting run waiting, and invents no answer", async () => {
    const here = world();
    const first = here.open().desk;
    const { runId } = await first.start("refund", input);
    const view = await first.settled(runId);
    const { desk } = here.open();
    expect(await desk.adoptAll()).toEqual([{ runId, did: "waits" }]);
    expect(await desk.settled(runId)).toEqual(view);
    expect(here.effects.paid).toEqual([]);
  });

  it("WF-21 WF-24 R009 CASE-054 resumes a run whose decision was recorded and not consumed", async () => {
    const here = world();
    const first = here.open();
    const { runId } = await first.desk.start("refund", input);
    const { waitsFor } = await first.desk.settled(runId);
    // Decided by somebody without workflows, or by a process that died right after.
    const elsewhere = new Workflows({
      store: here.store,
      definitions: [],
      keyring,
      clock: here.clock,
      ids: countingIds("elsewhere"),
    });
    const taken = await elsewhere.decide(waitsFor[0]!.id, approve({ by: dana }));
    expect(taken).toEqual({ status: "accepted", runId });
    expect(await elsewhere.settled(runId)).toMatchObject({ status: "interrupted" });
    const { desk } = here.open();
    expect(await desk.adoptAll()).toEqual([{ runId, did: "begun", how: "resume" }]);
    expect((await desk.settled(runId)).status).toBe("completed");
    expect(here.effects.paid).toHaveLength(1);
    expect(await desk.adoptAll()).toEqual([]);
  });

  it("WF-21 has the registry follow a log that ended without it", async () => {
    const statuses = await statusesByCommit("apart");
    const here = world("apart");
    // The last commit before the registry says completed is the log's own end.
    await diedAfter(here, statuses.indexOf("completed"));
    const { desk, refund } = here.open();
    const [run] = (await desk.list()).items;
    expect(run!.status).toBe("running");
    const { runId } = run!;
    expect(await desk.adoptAll()).toEqual([{ runId, did: "ended", status: "completed" }]);
    expect(await desk.get(runId)).toMatchObject({ status: "completed" });
    expect(await desk.output(refund, runId)).toEqual({ refundId: "r-1" });
    expect(here.effects.paid).toHaveLength(1);
  });

  it("WF-21 WF-10 moves log and registry in one commit where they share a home", async () => {
    const statuses = await statusesByCommit("together");
    for (const at of statuses.keys()) {
      const here = world();
      await diedAfter(here, at + 1);
      const { desk } = here.open();
      const [run] = (await desk.list()).items;
      const history = await desk.history(run!.runId, { limit: 500 });
      const last = history.findLast(({ type }) => moves.has(type));
      expect({ at, status: run!.status, revision: run!.revision }).toEqual({
        at,
        status: last === undefined ? "pending" : moves.get(last.type),
        revision: last?.revision ?? 0,
      });
    }
    expect(new Set(statuses)).toEqual(new Set(["pending", "running", "interrupted", "completed"]));
  });

  it("WF-21 CASE-118 leaves a run of a definition that is not here, and says so", async () => {
    const here = world();
    const first = here.open().desk;
    const { runId } = await first.start("refund", input);
    await first.waitIdle();
    const newer = new Workflows({
      store: here.store,
      definitions: [refunds(here.effects, "2")],
      keyring,
      clock: here.clock,
      ids: countingIds("newer"),
    });
    expect(await newer.adopt(runId)).toEqual({ runId, did: "left", reason: "unknown-definition" });
    expect(await newer.settled(runId)).toEqual(await first.get(runId));
    expect((await newer.list()).items).toHaveLength(1);
    await expect(newer.history(runId)).rejects.toMatchObject({ code: "unknown-definition" });
  });

  it("WF-32 R090 sets a run aside that can't be trusted, and goes on with the others", async () => {
    const here = world();
    const first = here.open().desk;
    const { runId: broken } = await first.start("refund", input);
    const { runId: good } = await first.start("refund", { orderId: "B-1" });
    await first.waitIdle();
    await overwrite(here, broken, { definition: "other" });
    const { desk } = here.open();
    const adoptions = await desk.adoptAll();
    expect(adoptions).toEqual([
      { runId: broken, did: "broken", error: expect.objectContaining({ code: "record-tampered" }) },
      { runId: good, did: "waits" },
    ]);
    const list = await desk.list();
    expect(list.items.map(({ runId }) => runId)).toEqual([good]);
    expect(list.broken.map(({ runId }) => runId)).toEqual([broken]);
  });

  it("WF-23 makes a run whose log was changed a failed one, with that code", async () => {
    const here = world();
    const first = here.open().desk;
    const { runId } = await first.start("refund", input);
    await first.waitIdle();
    const [key] = here.homes.log.rows("log", "default", { prefix: `${runId}/` });
    await here.homes.log.commit("forger", [
      {
        statement: "log.append",
        scope: "default",
        key: key!.key,
        expect: key!.version,
        values: { ...key!.values, text: String(key!.values["text"]).replace("A-17", "A-18") },
      },
    ]);
    const { waitsFor } = (await first.get(runId))!;
    const { desk } = here.open();
    await desk.decide(waitsFor[0]!.id, approve({ by: dana }));
    expect(await desk.settled(runId)).toMatchObject({
      status: "failed",
      failure: { code: "checkpoint-tampered" },
    });
    expect(here.effects.paid).toEqual([]);
  });

  it("WF-23 leaves a run alone whose store is away, and tells who waits for it", async () => {
    const here = world();
    const { store } = faultyStores(here.homes, 3, "fail");
    const { desk } = here.open(store);
    const { runId } = await desk.start("refund", input);
    await expect(desk.settled(runId)).rejects.toMatchObject({ code: "store-unavailable" });
    expect((await desk.get(runId))?.status).toBe("running");
    expect(await desk.adoptAll()).toEqual([{ runId, did: "begun", how: "adopt" }]);
    expect((await desk.settled(runId)).status).toBe("interrupted");
  });

  it("STORE-12 fails a run whose log is gone or shorter than the registry saw it", async () => {
    const gone = world("apart");
    const shorter = world("apart");
    for (const here of [gone, shorter]) {
      const { desk } = here.open();
      const { runId } = await desk.start("refund", input, { key: "k" });
      await desk.waitIdle();
      const empty = world("apart").store;
      const rows = here === gone ? [] : here.homes.log.rows("log", "default", { limit: 2 });
      for (const row of rows) {
        const { key, values } = row;
        const write = { statement: "log.append", scope: "default", key, expect: 0, values };
        await empty.log.commit(`copy-${key}`, [write]);
      }
      const back = here.open({ ...here.store, log: empty.log });
      expect(await back.desk.adoptAll()).toEqual([{ runId, did: "ended", status: "failed" }]);
      expect((await back.desk.get(runId))?.failure?.code).toBe(
        here === gone ? "log-missing" : "checkpoint-rolled-back",
      );
    }
  });

  it("WF-33 adopts nothing that it works on itself", async () => {
    const here = world();
    const { desk } = here.open();
    const { runId } = await desk.start("refund", input);
    expect(await desk.adoptAll()).toEqual([{ runId, did: "held" }]);
    await desk.waitIdle();
    expect(here.effects.looked).toEqual(["A-17"]);
  });

  it("WF-11 answers run-not-found for what is not there", async () => {
    const { desk } = world().open();
    for (const ask of [
      desk.adopt("run-0"),
      desk.settled("run-0"),
      desk.history("run-0"),
      desk.cancel("run-0", { reason: "" }),
    ]) {
      await expect(ask).rejects.toMatchObject({ code: "run-not-found", data: { runId: "run-0" } });
    }
    expect(await desk.get("run-0")).toBeUndefined();
  });
});
