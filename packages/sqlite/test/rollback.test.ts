import { DatabaseSync } from "node:sqlite";

import { approve, DeferredApproval, unverified } from "@holdpoint/approvals";
import { flow, FlowRunner, replies } from "@holdpoint/flow";
import { keyringOf } from "@holdpoint/seal";
import { defineTool } from "@holdpoint/tools";
import { defineWorkflow, Workflows } from "@holdpoint/workflows";
import { describe, expect, it } from "vitest";
import { z } from "zod";

import { openSqlite } from "../src/index.ts";
import { place } from "./place.ts";

const keyring = keyringOf(new Uint8Array(32).fill(7));
const dana = unverified("dana");

/** Two payments, each of which somebody has to allow; what was paid outlives every store. */
function payments() {
  const paid: string[] = [];
  const pay = defineTool({
    name: "pay",
    description: "Pays.",
    input: z.object({ part: z.string() }),
    confirm: true,
    execute: ({ part }) => void paid.push(part),
  });
  const State = z.object({ order: z.string(), done: z.boolean().optional() });
  const built = flow("payments", State)
    .call("first", pay, { args: () => ({ part: "first" }), into: () => ({}) })
    .call("second", pay, { args: () => ({ part: "second" }), into: () => ({ done: true }) })
    .path("first", "second")
    .build();
  const definition = defineWorkflow({
    name: "payments",
    version: "1",
    input: z.object({ order: z.string() }),
    flow: built,
  });
  return { paid, built, definition };
}

/** A run that waits for its first payment, and what another process makes of the file afterwards. */
async function waiting() {
  const path = place()();
  const { paid, built, definition } = payments();
  const desk = () => {
    const store = openSqlite(path);
    return { store, desk: new Workflows({ store, definitions: [definition], keyring }) };
  };
  const { store, desk: first } = desk();
  const { runId } = await first.start("payments", { order: "A-17" });
  const { waitsFor } = await first.settled(runId);
  return { path, paid, built, runId, approvalId: waitsFor[0]!.id, desk, first, store };
}

type Rows = readonly Readonly<Record<string, string | number | null>>[];

/** Rows as a backup has them, and putting them back by hand, as whoever can write the file may. */
function backup(path: string, tables: readonly string[]) {
  const handle = new DatabaseSync(path);
  const kept = new Map<string, Rows>(
    tables.map((table) => [table, handle.prepare(`SELECT * FROM ${table}`).all() as Rows]),
  );
  handle.close();
  return (of: readonly string[]): void => {
    const into = new DatabaseSync(path);
    for (const table of of) {
      into.exec(`DELETE FROM ${table}`);
      for (const row of kept.get(table)!) {
        const names = Object.keys(row).filter((name) => name !== "expiryPlace");
        const sql = `INSERT INTO ${table} (${names.join(", ")}) VALUES (${names.map(() => "?").join(", ")})`;
        into.prepare(sql).run(...names.map((name) => row[name]!));
      }
    }
    into.close();
  };
}

const tables = ["approvals", "approvalKeys", "approvalAudit", "log", "snapshots", "runs"];

/** A run of which one payment was made, in a file into which some tables of before are put back. */
async function putBack(of: readonly string[]) {
  const here = await waiting();
  const back = backup(here.path, tables);
  await here.first.decide(here.approvalId, approve({ by: dana }));
  await here.first.settled(here.runId);
  expect(here.paid).toEqual(["first"]);
  here.store.close();
  back(of);
  return here;
}

const rolledBack = { code: "checkpoint-rolled-back" };

describe("older genuine rows put back", () => {
  it("STORE-12 R052 of the registry are noticed, and nothing runs", async () => {
    const { paid, runId, desk } = await putBack(["runs"]);
    const { desk: next, store } = desk();
    expect(await next.adoptAll()).toMatchObject([{ runId, did: "broken", error: rolledBack }]);
    await next.waitIdle();
    expect((await next.get(runId))?.status).toBe("interrupted");
    expect(paid).toEqual(["first"]);
    store.close();
  });

  it.each([[["log"]], [["log", "approvals"]], [["log", "approvals", "approvalAudit"]]])(
    "STORE-12 R052 of %j end the run, since its registry saw it further on",
    async (of) => {
      const { paid, runId, approvalId, desk } = await putBack(of);
      const { desk: next, store } = desk();
      expect(await next.adoptAll()).toMatchObject([{ runId, did: "ended", status: "failed" }]);
      const stands = await next.get(runId);
      expect(stands?.failure).toMatchObject(rolledBack);
      await next.decide(approvalId, approve({ by: dana })).catch(() => undefined);
      await next.waitIdle();
      expect(paid).toEqual(["first"]);
      store.close();
    },
  );

  it("STORE-12 R052 of an approval are noticed by whoever decides it again", async () => {
    const { paid, runId, approvalId, desk } = await putBack(["approvals"]);
    const { desk: next, store } = desk();
    const again = next.decide(approvalId, approve({ by: dana }));
    await expect(again).rejects.toMatchObject({ code: "record-tampered" });
    await next.adoptAll();
    await next.waitIdle();
    expect((await next.get(runId))?.status).toBe("interrupted");
    expect(paid).toEqual(["first"]);
    store.close();
  });

  it("STORE-12 R052 of approval, log and registry are noticed by the audit trail, and nothing is paid again", async () => {
    const { paid, approvalId, desk, runId } = await putBack(["approvals", "log", "runs"]);
    const { desk: next, store } = desk();
    await next.adoptAll();
    const again = next.decide(approvalId, approve({ by: dana }));
    await expect(again).rejects.toMatchObject({ code: "record-tampered" });
    await next.waitIdle();
    expect((await next.get(runId))?.status).toBe("interrupted");
    expect(paid).toEqual(["first"]);
    store.close();
  });
});

it("STORE-12 R052 of approval and log are noticed by a runner without a registry, and nothing is paid again", async () => {
  const { paid, built, path, runId, approvalId } = await putBack(["approvals", "log"]);
  const store = openSqlite(path);
  const approvals = new DeferredApproval(store.approvals, { keyring });
  const runner = new FlowRunner({ approvals, log: store.log, keyring });
  const again = runner.resume(built, runId, replies({ [approvalId]: approve({ by: dana }) }));
  await expect(again).rejects.toMatchObject(rolledBack);
  expect(paid).toEqual(["first"]);
  store.close();
});
