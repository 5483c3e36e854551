/**
 * Processor time of single calls, and what waits in a file of 100,000: `node bench/figures.ts` after `pnpm build`. Its report
 * is kept in `docs/reports`.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";

import { append, entry, move, put, scope } from "../test/record-writes.ts";

const load = createRequire(import.meta.url);
const { openSqlite } = load("@holdpoint/sqlite") as typeof import("../src/index.ts");

const times = 20_000;
const text = "x".repeat(1_000);

/** Microseconds of processor time of one call; a machine that others use too changes it little. */
async function processorTime(name: string, work: (at: number) => unknown): Promise<void> {
  const before = process.cpuUsage();
  for (let at = 0; at < times; at += 1) await work(at);
  const { user, system } = process.cpuUsage(before);
  console.log(`${name}: ${((user + system) / times).toFixed(1)} µs`);
}

async function singleCalls(): Promise<void> {
  const hand = new DatabaseSync(":memory:");
  hand.exec("CREATE TABLE a (id TEXT PRIMARY KEY, text TEXT)");
  hand.exec("CREATE TABLE b (id TEXT PRIMARY KEY, text TEXT)");
  const [a, b, get] = [
    hand.prepare("INSERT INTO a VALUES (?, ?)"),
    hand.prepare("INSERT INTO b VALUES (?, ?)"),
    hand.prepare("SELECT * FROM a WHERE id = ?"),
  ];
  await processorTime("a commit of two rows, by hand", (at) => {
    hand.exec("BEGIN IMMEDIATE");
    a.run(`r-${at}`, text);
    b.run(`r-${at}`, text);
    hand.exec("COMMIT");
  });
  await processorTime("a read by key, by hand", (at) => get.get(`r-${at % 1_000}`));
  const { approvals } = openSqlite(":memory:");
  const record = (at: number) => put(`r-${at}`, 0, { values: { sealed: text } });
  await processorTime("a commit of two rows", (at) =>
    approvals.commit(`one-${at}`, [
      record(at),
      { ...append(`r-${at}`, 1), values: { sealed: text } },
    ]),
  );
  await processorTime("a read by key", (at) => approvals.get(scope, `r-${at % 1_000}`));
  await processorTime("a refused commit", (at) => approvals.commit(`two-${at}`, [record(at)]));
  const page = { order: "oldest", limit: 50 } as const;
  await processorTime("a page of 50", () => approvals.list(scope, { state: "pending" }, page));
}

async function clocked(into: number[], work: () => Promise<unknown>): Promise<void> {
  const started = performance.now();
  await work();
  into.push(performance.now() - started);
}

function quantiles(name: string, ms: number[]): void {
  const sorted = ms.toSorted((a, b) => a - b);
  const at = (part: number) => sorted[Math.floor(sorted.length * part)]?.toFixed(2);
  console.log(`  ${name}: p50 ${at(0.5)} ms, p99 ${at(0.99)} ms`);
}

async function beside(waiting: number, path: string): Promise<void> {
  const store = openSqlite(path);
  const batch = 2_000;
  for (let from = 0; from < waiting; from += batch) {
    const writes = Array.from({ length: batch }, (_, at) => from + at).flatMap((at) => [
      put(`r-${at}`, 0, { values: { runId: `run-${at}`, requestedAt: at, sealed: text } }),
      append(`r-${at}`, 1),
      entry(1, text, `run-${at}`),
      move(`run-${at}`, 0, at),
    ]);
    await store.commit(`fill-${from}`, writes);
  }
  const resumed: number[] = [];
  const listed: number[] = [];
  const nobody: number[] = [];
  for (let at = 0; at < 200; at += 1) {
    const [id, run] = [`z-${at}`, `run-z-${at}`];
    const values = { runId: run };
    const first = [put(id, 0, { values }), append(id, 1), entry(1, text, run), move(run, 0)];
    await store.commit(`asks-${at}`, first);
    await clocked(resumed, async () => {
      await store.approvals.get(scope, id);
      await store.log.read(scope, run, 0, 1_000);
      await store.runs.get(scope, run);
      await store.commit(`spends-${at}`, [
        put(id, 1, { values: { ...values, state: "consumed" } }),
        append(id, 2),
        entry(2, text, run),
        move(run, 1),
      ]);
    });
    const page = { order: "oldest", limit: 50 } as const;
    const pending = { state: "pending" } as const;
    await clocked(listed, () => store.approvals.list(scope, pending, page));
    await clocked(nobody, () => store.approvals.list(scope, { ...pending, tool: "none" }, page));
  }
  store.close();
  console.log(`beside ${waiting} waiting:`);
  quantiles("the reads and the commit of a resume", resumed);
  quantiles("a page of 50 pending records", listed);
  quantiles("a page of a tool that nobody waits for", nobody);
}

const folder = mkdtempSync(join(tmpdir(), "holdpoint-figures-"));
await singleCalls();
await beside(0, join(folder, "empty.db"));
await beside(100_000, join(folder, "full.db"));
rmSync(folder, { recursive: true, force: true });
