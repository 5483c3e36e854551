import { memoryHome, type Row } from "@holdpoint/approvals";
import { approve, flow, type RunLog } from "@holdpoint/flow";
import { defineTool } from "@holdpoint/tools";
import { describe, expect, it } from "vitest";
import { z } from "zod";

import {
  defineWorkflow,
  Workflows,
  type RunRegistry,
  type WorkflowStore,
} from "../../src/index.ts";
import { storesOn } from "../faulty-stores.ts";
import { countingIds, dana, handClock, keyring } from "../world.ts";

/** A run of so many steps, and a call that ends once it is let go. */
function long(steps: number, stop: () => Promise<void> | undefined) {
  const halt = defineTool({
    name: "halt",
    description: "Halts.",
    input: z.object({}),
    idempotent: true,
    execute: () => stop(),
  });
  return defineWorkflow({
    name: "long",
    version: "1",
    input: z.object({}),
    flow: flow("long", z.object({ sum: z.int().optional() }))
      .gate("review", { payload: () => ({}) })
      .node("work", async (_, ctx) => {
        let sum = 0;
        for (let at = 0; at < steps; at += 1) sum = await ctx.step("add", () => sum + at);
        await ctx.call(halt, {});
        return { sum };
      })
      .path("review", "work")
      .build(),
  });
}

interface Read {
  readonly after: number;
  readonly rows: number;
}

/** A log that says what is read of it. */
function readOf(log: RunLog, reads: Read[]): RunLog {
  return {
    home: log.home,
    durable: log.durable,
    now: () => log.now(),
    commit: (attemptId, writes) => log.commit(attemptId, writes),
    head: (scope, runId) => log.head(scope, runId),
    snapshot: (scope, runId) => log.snapshot(scope, runId),
    async read(scope, runId, after, limit) {
      const rows = await log.read(scope, runId, after, limit);
      reads.push({ after, rows: rows.length });
      return rows;
    },
  };
}

/** A registry whose rows are the ones that it is given. */
function puttingBack(runs: RunRegistry, row: Row | undefined): RunRegistry {
  return {
    home: runs.home,
    durable: runs.durable,
    now: () => runs.now(),
    commit: (attemptId, writes) => runs.commit(attemptId, writes),
    get: async (scope, runId) => row ?? runs.get(scope, runId),
    find: (scope, definition, key) => runs.find(scope, definition, key),
    list: (scope, filter, page) => runs.list(scope, filter, page),
    due: (scope, session, until, page) => runs.due(scope, session, until, page),
  };
}

/** Has a process leave a run of so many steps behind, for another to take up; `row`: the registry's, while it waited. */
async function leftBehind(steps: number) {
  const home = memoryHome();
  const store = storesOn({ approvals: home, log: home, runs: home });
  const clock = handClock();
  let processes = 0;
  const desk = (over: WorkflowStore, stop: () => Promise<void> | undefined) =>
    new Workflows({
      store: over,
      definitions: [long(steps, stop)],
      keyring,
      clock,
      ids: countingIds(`p${(processes += 1)}`),
    });
  let halt = (): void => undefined;
  const halted = new Promise<void>((resolve) => (halt = resolve));
  const first = desk(store, () => (halt(), new Promise(() => {})));
  const { runId } = await first.start("long", {});
  const { waitsFor } = await first.settled(runId);
  const row = await store.runs.get("default", runId);
  await first.decide(waitsFor[0]!.id, approve({ by: dana }));
  await halted;
  const reads: Read[] = [];
  const takenUp = (older?: Row) => {
    const runs = puttingBack(store.runs, older);
    return desk({ ...store, runs, log: readOf(store.log, reads) }, () => undefined);
  };
  /** Over a log of which these rows are left, and the snapshot. */
  const cut = async (rows: number) => {
    const left = await store.log.read("default", runId, 0, rows);
    const log: RunLog = {
      ...readOf(store.log, reads),
      head: async () => left.length,
      read: async (_scope, _run, after) => left.slice(after),
    };
    return desk({ ...store, log }, () => undefined);
  };
  return { runId, row, reads, takenUp, cut };
}

describe("a long run that is taken up", () => {
  it("WF-21 FLOW-72 costs what came since its last snapshot, for its log and for its registry's row", async () => {
    const { runId, reads, takenUp } = await leftBehind(1_400);
    const desk = takenUp();
    expect(await desk.adopt(runId)).toMatchObject({ did: "begun", how: "adopt" });
    expect((await desk.settled(runId)).status).toBe("completed");
    expect(Math.min(...reads.map(({ after }) => after))).toBeGreaterThan(700);
    // Read for the row and for the run: what came since, and the entry before it.
    expect(reads.reduce((sum, { rows }) => sum + rows, 0)).toBeLessThan(1_400);
  });

  it("WF-21 STORE-12 is not gone on with under a row from before its snapshot that was put back", async () => {
    const { runId, row, reads, takenUp } = await leftBehind(700);
    const desk = takenUp(row);
    await expect(desk.adopt(runId)).rejects.toMatchObject({ code: "checkpoint-rolled-back" });
    expect(reads[0]?.after).toBe(0);
  });

  it.each([
    ["ends before its snapshot", 700, 100, "checkpoint-rolled-back"],
    ["is gone, and its snapshot is not", 700, 0, "log-missing"],
    ["ends before what the registry saw", 20, 2, "checkpoint-rolled-back"],
    ["is gone", 20, 0, "log-missing"],
  ])("STORE-12 WF-21 fails where its log %s", async (_, steps, left, code) => {
    const { runId, cut } = await leftBehind(steps);
    const desk = await cut(left);
    expect(await desk.adopt(runId)).toMatchObject({ did: "ended", status: "failed" });
    expect((await desk.get(runId))?.failure?.code).toBe(code);
  });
});
