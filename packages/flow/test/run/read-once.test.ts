import { memoryHome } from "@holdpoint/approvals";
import { keyringOf, sign, verify } from "@holdpoint/seal";
import { defineTool } from "@holdpoint/tools";
import { describe, expect, it } from "vitest";
import { z } from "zod";

import { flow, FlowRunner, memoryRunLog, type RunLog } from "../../src/index.ts";
import { logPageMax } from "../../src/limits.ts";
import { logMeter } from "../support/log-meter.ts";
import { keyring, rejection } from "../support/world.ts";

/** Rounds of a call each; what the tool did outlives its runner. */
function counting(rounds: number) {
  const done: number[] = [];
  const add = defineTool({
    name: "add",
    description: "Adds.",
    input: z.object({ n: z.number() }),
    output: z.object({ sum: z.number() }),
    idempotent: true,
    execute: ({ n }) => {
      done.push(n);
      return { sum: n + 1 };
    },
  });
  const built = flow("count", z.object({ n: z.number() }))
    .node("one", async ({ n }, ctx) => ({ n: (await ctx.call(add, { n })).sum }))
    .route("one", ["one", "$end"], ({ n }) => (n < rounds ? "one" : "$end"))
    .build();
  return { built, done };
}

/** A run that died at a commit, on a log whose readings are counted. */
async function died(rounds: number, at: number) {
  const inner = memoryRunLog(memoryHome());
  const first = logMeter(inner);
  const { built, done } = counting(rounds);
  const runner = (log: RunLog) => new FlowRunner({ log, keyring });
  await Promise.race([first.dieAt(at), runner(first.log).run(built, { n: 0 }, { runId: "run-1" })]);
  let reads = 0;
  const log: RunLog = {
    ...inner,
    read: (...how) => {
      reads += 1;
      return inner.read(...how);
    },
  };
  return { built, done, runner: runner(log), log, reads: () => reads };
}

describe.each([
  ["whole", 8, 10],
  ["from its snapshot", 600, 900],
])("a log that is read %s", (_, rounds, at) => {
  it("FLOW-72 FLOW-77 is gone on from without reading it again, to the same end", async () => {
    const { built, done, runner, log, reads } = await died(rounds, at);
    const after = (await log.head("default", "run-1")) - 2;
    const reading = await runner.read(built, "run-1", { after });
    const all = await runner.history(built, "run-1");
    expect(reading.events).toEqual(all.slice(after));
    const before = reads();
    const result = await runner.adopt(built, "run-1", { reading });
    expect(result.status === "completed" && result.state).toEqual({ n: rounds });
    expect(reads()).toBe(before);
    expect(new Set(done).size).toBe(rounds);
    expect(reading.events).toEqual(all.slice(after));
  });

  it("FLOW-75 is no way around a log that moved on: its first commit is refused, and nothing is done", async () => {
    const { built, done, runner, log } = await died(rounds, at);
    const after = await log.head("default", "run-1");
    const reading = await runner.read(built, "run-1", { after });
    const late = await runner.read(built, "run-1", { after });
    await runner.adopt(built, "run-1", { reading });
    const called = done.length;
    const error = await rejection(runner.adopt(built, "run-1", { reading: late }));
    expect(error).toMatchObject({ code: "revision-conflict" });
    expect(done.length).toBeLessThanOrEqual(called + 1); // a call that is idempotent needs no intent on record
  });
});

/** The same log, telling a run's snapshot and entries together, as one does that is far away. */
function tellingTails(inner: RunLog) {
  const asked = { tail: 0, snapshot: 0, read: 0 };
  const log: RunLog = {
    ...inner,
    async snapshot(...how) {
      asked.snapshot += 1;
      return inner.snapshot(...how);
    },
    async read(scope, runId, after, limit) {
      asked.read += 1;
      return inner.read(scope, runId, after, limit);
    },
    async tail(scope, runId, limit) {
      asked.tail += 1;
      const snapshot = await inner.snapshot(scope, runId);
      const after = snapshot === undefined ? 0 : snapshot.revision - 1;
      return { snapshot, rows: await inner.read(scope, runId, after, limit) };
    },
  };
  return { log, asked };
}

describe.each([
  ["whole", 8, 10],
  ["from its snapshot", 600, 900],
])("a log that tells snapshot and entries together, read %s", (which, rounds, at) => {
  it("FLOW-72 is read in one way, to the same events and the same end", async () => {
    const { built, runner: plain, log: inner } = await died(rounds, at);
    const { log, asked } = tellingTails(inner);
    const runner = new FlowRunner({ log, keyring });
    const after = (await inner.head("default", "run-1")) - 2;
    const { events, revision } = await plain.read(built, "run-1", { after });
    const reading = await runner.read(built, "run-1", { after });
    expect([reading.events, reading.revision]).toEqual([events, revision]);
    expect(asked).toEqual({ tail: 1, snapshot: 0, read: 0 });
    const result = await runner.adopt(built, "run-1");
    expect(asked).toEqual({ tail: 2, snapshot: 0, read: 0 });
    expect(result.status === "completed" && result.state).toEqual({ n: rounds });
  });

  it("FLOW-74 tells the same of what is before its snapshot", async () => {
    const { built, runner: plain, log: inner } = await died(rounds, at);
    const { log } = tellingTails(inner);
    const runner = new FlowRunner({ log, keyring });
    const { events } = await plain.read(built, "run-1", { after: 1 });
    expect((await runner.read(built, "run-1", { after: 1 })).events).toEqual(events);
  });

  it("FLOW-72 FLOW-73 is read whole where its snapshot is of a later form", async () => {
    const { built, log: inner } = await died(rounds, at);
    const later = snapshotOfLater(inner);
    const { log, asked } = tellingTails(later);
    const result = await new FlowRunner({ log, keyring }).adopt(built, "run-1");
    expect(result.status === "completed" && result.state).toEqual({ n: rounds });
    expect(asked.read > 0).toBe(which === "from its snapshot");
  });
});

it("FLOW-72 a log that tells snapshot and entries together is read on behind a page that is full", async () => {
  const { built, log: inner } = await died(600, 900);
  const { log, asked } = tellingTails({ ...inner, snapshot: async () => undefined });
  expect(await inner.head("default", "run-1")).toBeGreaterThan(logPageMax);
  const all = await new FlowRunner({ log: inner, keyring }).history(built, "run-1");
  expect((await new FlowRunner({ log, keyring }).read(built, "run-1")).events).toEqual(all);
  expect(asked).toEqual({ tail: 1, snapshot: 0, read: 1 });
});

/** A log whose snapshot is of a form that comes after this version. */
function snapshotOfLater(inner: RunLog): RunLog {
  return {
    ...inner,
    async snapshot(scope, run) {
      const row = await inner.snapshot(scope, run);
      if (row === undefined) return undefined;
      const { header, body } = verify(row.text, { keyring, purpose: "run-snapshot" });
      const format = Number(header["format"]) + 1;
      const later = sign(body, { keyring, purpose: "run-snapshot", header: { ...header, format } });
      return { ...row, text: later.text };
    },
  };
}

describe("a reading", () => {
  it("FLOW-72 is gone on from once: then the log is read", async () => {
    const { built, runner, reads } = await died(8, 10);
    const reading = await runner.read(built, "run-1");
    await runner.adopt(built, "run-1", { reading });
    const before = reads();
    expect((await runner.adopt(built, "run-1", { reading })).status).toBe("completed");
    expect(reads()).toBeGreaterThan(before);
  });

  it("FLOW-61 is nothing to another run, another flow, or a runner of other keys", async () => {
    const { built, runner, log, reads } = await died(8, 10);
    const reading = await runner.read(built, "run-1");
    const before = reads();
    expect(await rejection(runner.adopt(built, "run-2", { reading }))).toMatchObject({
      code: "run-not-found",
    });
    const other = new FlowRunner({ log, keyring: keyringOf(new Uint8Array(32).fill(9)) });
    expect(await rejection(other.adopt(built, "run-1", { reading }))).toMatchObject({
      code: "checkpoint-tampered",
    });
    const again = counting(8).built;
    expect((await runner.adopt(again, "run-1", { reading })).status).toBe("completed");
    expect(reads()).toBe(before + 3);
  });
});
