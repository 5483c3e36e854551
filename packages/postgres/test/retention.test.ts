import { approve, unverified } from "@holdpoint/approvals";
import { flow } from "@holdpoint/flow";
import { keyringOf } from "@holdpoint/seal";
import { defineWorkflow, Retention, verifyExport, Workflows } from "@holdpoint/workflows";
import { expect, it } from "vitest";
import { z } from "zod";

import type { PostgresStore } from "../src/index.ts";
import { opened, place } from "./place.ts";

const keyring = keyringOf(new Uint8Array(32).fill(7));
const day = 86_400_000;
const later = { now: () => Date.now() + day, monotonic: () => 0, timer: () => () => undefined };

/** An order of 700 lines that waits for somebody's word: its log is longer than one removal takes. */
const order = defineWorkflow({
  name: "order",
  version: "1",
  input: z.object({ lines: z.int() }),
  flow: flow("order", z.object({ lines: z.int() }))
    .node("read", async ({ lines }, ctx) => {
      for (let line = 0; line < lines; line += 1) await ctx.step(`line-${line}`, () => line);
    })
    .gate("review", { payload: ({ lines }) => ({ lines }) })
    .path("read", "review")
    .build(),
});

async function kept(store: PostgresStore) {
  const page = { order: "oldest", limit: 10 } as const;
  const [records, changes, runs] = [
    await store.approvals.list("default", {}, page),
    await store.approvals.changes("default", 0, 100),
    await store.runs.list("default", {}, page),
  ];
  return { records: records.length, changes: changes.length, runs: runs.length };
}

it("STORE-09 purges, deletes and exports runs of a store, and touches nothing that waits", async () => {
  const store = await opened(place());
  const desk = new Workflows({ store, definitions: [order], keyring });
  const started = async (lines: number): Promise<{ runId: string; approvalId: string }> => {
    const { runId } = await desk.start("order", { lines }, { key: `order-${lines}` });
    const { waitsFor } = await desk.settled(runId);
    return { runId, approvalId: waitsFor[0]!.id };
  };
  const [long, short, waits] = [await started(700), await started(2), await started(3)];
  for (const { runId, approvalId } of [long, short]) {
    await desk.decide(approvalId, approve({ by: unverified("dana") }));
    await desk.settled(runId);
  }
  const retention = new Retention({ store, removal: store.removal, keyring, clock: later });
  const text = await retention.export(long.runId);
  await expect(retention.remove(waits.runId)).rejects.toMatchObject({ code: "status-wrong" });
  expect(await kept(store)).toMatchObject({ records: 3, runs: 3 });

  await retention.remove(short.runId);
  expect(await kept(store)).toMatchObject({ records: 2, runs: 2 });
  expect(await retention.purge({ olderThanMs: day / 2 })).toMatchObject({ removed: [long.runId] });
  expect(await kept(store)).toEqual({ records: 1, changes: 1, runs: 1 });
  expect(await store.log.head("default", long.runId)).toBe(0);
  expect(await store.log.snapshot("default", long.runId)).toBeUndefined();

  const report = await verifyExport(text, { keyring });
  expect(report).toMatchObject({ status: "whole", run: { runId: long.runId } });
  expect(report.status === "whole" && report.events).toBeGreaterThan(700);
  await desk.decide(waits.approvalId, approve({ by: unverified("dana") }));
  expect((await desk.settled(waits.runId)).status).toBe("completed");
});
