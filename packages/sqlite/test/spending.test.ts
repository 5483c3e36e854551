// What a resume spends, as another connection sees it: all of it or nothing, at every statement and at every commit.
import { DatabaseSync } from "node:sqlite";

import { approve, DeferredApproval, unverified } from "@holdpoint/approvals";
import { flow, FlowRunner, replies } from "@holdpoint/flow";
import { keyringOf } from "@holdpoint/seal";
import { defineWorkflow, Supervisor } from "@holdpoint/workflows";
import { expect, it } from "vitest";
import { z } from "zod";

import { openSqlite } from "../src/index.ts";
import { driverError, watchedHandle } from "./broken-handle.ts";
import { place } from "./place.ts";

const keyring = keyringOf(new Uint8Array(32).fill(7));
const by = unverified("dana");
const State = z.object({ orderId: z.string() });
const refund = flow("refund", State)
  .gate("review", { payload: ({ orderId }) => ({ orderId }) })
  .node("end", () => ({}))
  .path("review", "end")
  .build();
const definition = defineWorkflow({ name: "refund", version: "1", input: State, flow: refund });

/** What stands of a run that waited at revision `paused`: its record, whether its log went on, its status, its owner's epoch. */
function standing(path: string) {
  const behind = new DatabaseSync(path, { readOnly: true });
  const one = (sql: string): unknown => Object.values(behind.prepare(sql).get() ?? {})[0];
  const look = () => ({
    record: one("SELECT state FROM approvals"),
    revision: Number(one("SELECT max(revision) FROM log")),
    run: one("SELECT status FROM runs"),
  });
  return { look, close: () => behind.close() };
}

it("STORE-05 consumes, answers and moves the run in one transaction, with the decision where the resume brings it", async () => {
  const path = place()();
  const handle = watchedHandle(path);
  const store = openSqlite(handle);
  const approvals = new DeferredApproval(store.approvals, { keyring });
  const runner = new FlowRunner({ approvals, log: store.log, keyring });
  const paused = await runner.run(refund, { orderId: "A-17" }, { runId: "r" });
  if (paused.status !== "paused") throw new Error(paused.status);
  const behind = standing(path);
  const before = behind.look();
  expect(before).toMatchObject({ record: "pending" });

  // Fails at each of its statements in turn: none of it stands. At last it does, all at once.
  const reply = replies({ [paused.pending.id]: approve({ by }) });
  for (let at = 1; ; at += 1) {
    const seen: ReturnType<typeof behind.look>[] = [];
    let commits = 0;
    handle.reset(({ sql }) => {
      seen.push(behind.look());
      if (commits === 0 && handle.calls.length === at)
        return { when: "instead", error: driverError(13, "database or disk is full") };
      if (sql === "COMMIT") commits += 1;
      return undefined;
    });
    const resumed = await runner.resume(refund, "r", reply).catch(() => undefined);
    handle.reset();
    const stands = behind.look();
    expect(resumed === undefined ? stands : before).toEqual(before);
    if (resumed === undefined) continue;
    expect(resumed.status).toBe("completed");
    for (const each of seen)
      expect(each.record === "consumed").toBe(each.revision > before.revision);
    expect(behind.look().record).toBe("consumed");
    expect(at).toBeGreaterThan(5);
    break;
  }
  behind.close();
  handle.end();
}, 60_000);

it("STORE-05 STORE-06 moves the registry in the same transaction, and nothing of it under an epoch that is over", async () => {
  const path = place()();
  const handle = watchedHandle(path);
  const store = openSqlite(handle);
  let lost: () => void = () => undefined;
  const gone = new Promise<void>((resolve) => (lost = resolve));
  let ended: () => void = () => undefined;
  const completed = new Promise<void>((resolve) => (ended = resolve));
  const desk = new Supervisor({
    store,
    definitions: [definition],
    keyring,
    onEvent: ({ type }) => type === "completed" && ended(),
    sessions: { match: () => true, max: 2 },
    leaseMs: 600_000, // nobody lets it lapse, however slow the machine is
    logger: { warn: () => lost(), error: () => lost() },
  });
  await desk.activate();
  const begin = async (orderId: string) => {
    const { runId } = await desk.start("refund", { orderId }, { session: orderId });
    const { waitsFor } = await desk.settled(runId);
    return { runId, approvalId: waitsFor[0]!.approvalId! };
  };
  const behind = standing(path);
  const first = await begin("one");
  const before = behind.look();
  const seen: ReturnType<typeof behind.look>[] = [];
  handle.reset(() => {
    seen.push(behind.look());
    return undefined;
  });
  await desk.decide(first.approvalId, approve({ by }));
  await completed;
  handle.reset();
  for (const { record, revision, run } of seen) {
    expect(record === "consumed").toBe(revision > before.revision);
    expect(record === "consumed").toBe(run !== "interrupted");
  }
  expect(behind.look()).toMatchObject({ record: "consumed", run: "completed" });

  // Somebody else has the session by now, and the process does not know it.
  for (const table of ["approvals", "log", "runs"]) {
    const other = new DatabaseSync(path);
    other.exec(`DELETE FROM ${table}`);
    other.close();
  }
  const second = await begin("two");
  const other = new DatabaseSync(path);
  other.exec("UPDATE leases SET epoch = epoch + 1, rowVersion = rowVersion + 1 WHERE key = 'two'");
  other.close();
  const waiting = behind.look();
  await desk.decide(second.approvalId, approve({ by }));
  await gone;
  expect(behind.look()).toEqual({ ...waiting, record: "decided" });
  await desk.shutdown();
  behind.close();
  handle.end();
}, 60_000);
