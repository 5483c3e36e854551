// What a resume spends, as another connection sees it: all of it or nothing, at every statement and at every commit.
import { approve, DeferredApproval, unverified } from "@holdpoint/approvals";
import { flow, FlowRunner, replies } from "@holdpoint/flow";
import { keyringOf } from "@holdpoint/seal";
import { defineWorkflow, Supervisor } from "@holdpoint/workflows";
import { expect, it } from "vitest";
import { z } from "zod";

import { openPostgres } from "../src/index.ts";
import { behind, place, url } from "./place.ts";
import { serverError, watchedPool } from "./watched-pool.ts";

const keyring = keyringOf(new Uint8Array(32).fill(7));
const by = unverified("dana");
const State = z.object({ orderId: z.string() });
const refund = flow("refund", State)
  .gate("review", { payload: ({ orderId }) => ({ orderId }) })
  .node("end", () => ({}))
  .path("review", "end")
  .build();
const definition = defineWorkflow({ name: "refund", version: "1", input: State, flow: refund });

/** What stands of a run: its record, how far its log is, its status. */
async function standing(schema: string, scope = "default") {
  const { rows } = await behind.query<{ record: string; revision: number; run: string | null }>(
    `SELECT (SELECT state FROM ${schema}.approvals WHERE scope = $1) AS record,
      (SELECT max(revision) FROM ${schema}.log WHERE scope = $1)::int AS revision,
      (SELECT status FROM ${schema}.runs WHERE scope = $1) AS run`,
    [scope],
  );
  return rows[0]!;
}

it("STORE-05 consumes, answers and moves the run in one transaction, with the decision where the resume brings it", async () => {
  const schema = place();
  const pool = watchedPool(url);
  const store = await openPostgres(pool, { schema });
  const approvals = new DeferredApproval(store.approvals, { keyring });
  const runner = new FlowRunner({ approvals, log: store.log, keyring });
  const paused = await runner.run(refund, { orderId: "A-17" }, { runId: "r" });
  if (paused.status !== "paused") throw new Error(paused.status);
  const before = await standing(schema);
  expect(before).toMatchObject({ record: "pending" });

  // Fails at each of its statements in turn: none of it stands. At last it does, all at once.
  const reply = replies({ [paused.pending.id]: approve({ by }) });
  for (let at = 1; ; at += 1) {
    const seen: (typeof before)[] = [];
    pool.reset({
      before: async () => void seen.push(await standing(schema)),
      instead: ({ number }) =>
        number === at && seen.every(({ record }) => record === "pending")
          ? serverError("53100", "could not extend file: No space left on device")
          : undefined,
      after: async () => {
        seen.push(await standing(schema));
        return undefined;
      },
    });
    const resumed = await runner.resume(refund, "r", reply).catch(() => undefined);
    pool.reset();
    const stands = await standing(schema);
    expect(resumed === undefined ? stands : before).toEqual(before);
    if (resumed === undefined) continue;
    expect(resumed.status).toBe("completed");
    for (const { record, revision } of seen)
      expect(record === "consumed").toBe(revision > before.revision);
    expect((await standing(schema)).record).toBe("consumed");
    expect(at).toBeGreaterThan(2);
    break;
  }
  await store.close();
  await pool.real.end();
}, 120_000);

it("STORE-05 STORE-06 moves the registry in the same transaction, and nothing of it under an epoch that is over", async () => {
  const schema = place();
  const pool = watchedPool(url);
  const store = await openPostgres(pool, { schema });
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
    return waitsFor[0]!.approvalId!;
  };
  const first = await begin("one");
  const before = await standing(schema);
  const seen: (typeof before)[] = [];
  pool.reset({
    after: async () => {
      seen.push(await standing(schema));
      return undefined;
    },
  });
  await desk.decide(first, approve({ by }));
  await completed;
  pool.reset();
  for (const { record, revision, run } of seen) {
    expect(record === "consumed").toBe(revision > before.revision);
    expect(record === "consumed").toBe(run !== "interrupted");
  }
  expect(await standing(schema)).toMatchObject({ record: "consumed", run: "completed" });

  // Somebody else has the session by now, and the process does not know it.
  for (const table of ["approvals", "log", "runs"]) {
    await behind.query(`DELETE FROM ${schema}.${table}`);
  }
  const second = await begin("two");
  await behind.query(`UPDATE ${schema}.leases SET epoch = epoch + 1, row_version = row_version + 1
    WHERE key = 'two'`);
  const waiting = await standing(schema);
  await desk.decide(second, approve({ by }));
  await gone;
  expect(await standing(schema)).toEqual({ ...waiting, record: "decided" });
  await desk.shutdown();
  await store.close();
  await pool.real.end();
}, 120_000);
