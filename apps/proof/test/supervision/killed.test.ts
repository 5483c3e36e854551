// Real processes on one SQLite file; what they did is read from the file and from the lines that their tools left.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { openSqlite, type SqliteStore } from "@holdpoint/sqlite";
import { Workflows } from "@holdpoint/workflows";
import { afterEach, expect, it } from "vitest";

import { journeys, keyring, stepsOfRun } from "../../src/supervision/journey.ts";
import type { Order } from "../../src/supervision/order.ts";
import { linesOf, supervising, until } from "../../src/supervision/process.ts";

const runs = 100;
const leaseMs = 4_000; // a busy machine may keep an owner that is well waiting for seconds
const pollMs = 100;
const cleanups: (() => void | Promise<void>)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).toReversed()) await cleanup();
});

function place(): string {
  const folder = mkdtempSync(join(tmpdir(), "holdpoint-killed-"));
  cleanups.push(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

const countBy = (keys: readonly string[]): Map<string, number> => {
  const counts = new Map<string, number>();
  for (const key of keys) counts.set(key, (counts.get(key) ?? 0) + 1);
  return counts;
};

/** The calls whose outcome is on record, as their effects' lines name them. */
async function finishedCalls(store: SqliteStore): Promise<ReadonlySet<string>> {
  const definition = journeys("", 0);
  const reader = new Workflows({ store, definitions: [definition], keyring });
  const finished = new Set<string>();
  for (const { runId } of (await reader.list({ limit: 500 })).items) {
    const history = await reader.history(runId, { limit: 500 });
    const calls = history.filter(({ type }) => type === "call-finished");
    for (const at of calls.keys()) finished.add(`${runId} ${at + 1}`);
  }
  return finished;
}

const statusesIn = async (store: SqliteStore): Promise<readonly unknown[]> =>
  (await store.runs.list("default", {}, { order: "oldest", limit: 500 })).map(
    ({ values }) => values["status"],
  );

it("WF-30 R070 finishes 100 running runs of a killed process in the three that are left, no journaled call twice", async () => {
  const folder = place();
  const order: Order = {
    file: join(folder, "desk.db"),
    effectsFile: join(folder, "effects"),
    saidFile: join(folder, "one"),
    sessions: ["desk"],
    startIn: ["desk"],
    runs,
    workers: runs,
    leaseMs,
    pollMs,
    stepMs: 1,
    storms: false,
    clocks: "run",
  };
  const one = supervising({ ...order, holdAt: 3 });
  cleanups.push(() => one.kill());
  await until("the first process", 60_000, () => one.said().length > 0);
  const others = ["two", "three", "four"].map((name) =>
    supervising({ ...order, saidFile: join(folder, name), startIn: [] }),
  );
  for (const other of others) cleanups.push(() => other.kill());
  await until("the others", 60_000, () => others.every((other) => other.said().length > 0));
  const held = () => linesOf(order.effectsFile).filter((line) => line.endsWith(" 3")).length;
  await until("every run at its third call", 60_000, () => held() === runs);
  await one.kill();
  const store = openSqlite(order.file);
  cleanups.push(() => store.close());
  const before = await statusesIn(store);
  const finishedBefore = await finishedCalls(store);
  const takenMs = await until("the other", 60_000, async () => {
    const lease = await store.leases.get("default", "desk");
    return lease?.values["epoch"] === 2;
  });
  await until("the end of all", 60_000, async () => {
    const statuses = await statusesIn(store);
    return statuses.length === runs && statuses.every((status) => status === "completed");
  });
  expect(takenMs).toBeLessThan(leaseMs + 5_000);
  expect(new Set(before)).toEqual(new Set(["running"]));
  const effects = countBy(linesOf(order.effectsFile));
  expect(effects.size).toBe(runs * stepsOfRun);
  expect(finishedBefore.size).toBe(2 * runs);
  expect([...finishedBefore].filter((call) => effects.get(call) !== 1)).toEqual([]);
});
