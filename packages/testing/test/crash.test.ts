import { DatabaseSync } from "node:sqlite";

import { DeferredApproval, memoryApprovalStore, memoryHome } from "@holdpoint/approvals";
import { approve, flow, FlowRunner, memoryRunLog, replies, type RunLog } from "@holdpoint/flow";
import { defineTool } from "@holdpoint/tools";
import { describe, expect, it } from "vitest";
import { z } from "zod";

import {
  atEvent,
  crashAt,
  faultyStore,
  struckHandle,
  verified,
  type CrashPoint,
  type FaultControl,
} from "../src/index.ts";

/** One world: a flow that looks up, asks, and pays; what it did outlives whatever runs it. */
function world() {
  const paid: string[] = [];
  const pay = defineTool({
    name: "pay",
    description: "Pays.",
    input: z.object({ cents: z.int() }),
    output: z.object({ ref: z.string() }),
    confirm: true,
    idempotent: true,
    execute: ({ cents }, { idempotencyKey }) => {
      if (!paid.includes(idempotencyKey)) paid.push(idempotencyKey); // as a payment service does
      return { ref: `ref ${cents}` };
    },
  });
  const bill = flow("bill", z.object({ cents: z.int(), ref: z.string().optional() }))
    .node("assess", async ({ cents }, ctx) => ({ cents: await ctx.step("fee", () => cents + 1) }))
    .call("pay", pay, { args: ({ cents }) => ({ cents }), into: ({ ref }) => ({ ref }) })
    .path("assess", "pay")
    .build();
  const home = memoryHome();
  const approvals = new DeferredApproval(memoryApprovalStore(home));
  const log = memoryRunLog(home);
  const over = (under: RunLog) => new FlowRunner({ approvals, log: under });
  return { paid, bill, log, over };
}

type World = ReturnType<typeof world>;

/** Carries a bill from wherever it stands to its end, as a process does that begins with nothing in its memory. */
async function carryOut({ bill, log, over }: World, under: RunLog = log) {
  const runner = over(under);
  const stands = (await log.head("default", "bill-1")) > 0;
  let result = stands
    ? await runner.adopt(bill, "bill-1")
    : await runner.run(bill, { cents: 4 }, { runId: "bill-1" });
  while (result.status === "paused") {
    const decision = approve({ by: await verified("dana") });
    result = await runner.resume(bill, "bill-1", replies({ [result.pending.id]: decision }));
  }
  return result.state;
}

/** Lets a process work until it ends or dies. */
async function untilDeath(work: Promise<unknown>, { died }: FaultControl): Promise<void> {
  await Promise.race([work, died]);
}

const whole = { cents: 5, ref: "ref 5" };

async function eventsOfOne(): Promise<number> {
  const calm = world();
  expect(await carryOut(calm)).toEqual(whole);
  return calm.log.head("default", "bill-1");
}

describe("a run", async () => {
  const events = await eventsOfOne();
  const cases = (["die-before", "die-after"] as const).flatMap((kind) =>
    Array.from({ length: events }, (_, at) => ({ kind, event: at + 1 })),
  );

  it.each(cases)(
    "TEST-03 that crashes at event $event, $kind, starts again over the same store",
    async ({ kind, event }) => {
      const here = world();
      const { store, control } = faultyStore(here.log, [{ at: atEvent(event), kind }]);
      await untilDeath(carryOut(here, store), control);
      expect(control.dead).toBe(true);
      const head = await here.log.head("default", "bill-1");
      expect(head >= event).toBe(kind === "die-after");
      expect(await carryOut(here)).toEqual(whole);
      expect(here.paid).toHaveLength(1);
    },
  );

  it("TEST-03 TEST-06 pauses, crashes at each of its writes and is carried to its end, in under a second", async () => {
    const began = process.cpuUsage();
    for (let write = 1; ; write += 1) {
      const here = world();
      const { store, control } = faultyStore(here.log, [{ at: write, kind: "die-after" }]);
      await untilDeath(carryOut(here, store), control);
      if (!control.dead) break; // there was no such write
      expect(await carryOut(here)).toEqual(whole);
      expect(here.paid).toHaveLength(1);
    }
    const { user, system } = process.cpuUsage(began); // its own work, however busy the machine is
    expect((user + system) / 1000).toBeLessThan(1_000);
  });
});

/** Three commits on a handle, of two rows each, ended by a crash at a point. */
function killed(point: CrashPoint): { readonly rows: number; readonly commits: number } {
  const real = new DatabaseSync(":memory:");
  real.exec("CREATE TABLE t (n INTEGER)");
  const strike = crashAt(point, () => {
    throw new Error("crash");
  });
  const handle = struckHandle(real, strike);
  const insert = handle.prepare("INSERT INTO t VALUES (?)");
  const commits = (): void => {
    for (let n = 1; n <= 3; n += 1) {
      handle.exec("BEGIN IMMEDIATE");
      insert.run(n);
      insert.run(-n);
      handle.exec("COMMIT");
    }
  };
  expect(commits).toThrow("crash");
  if (handle.isTransaction) real.exec("ROLLBACK"); // as the next to open the file would find it
  const { rows } = real.prepare("SELECT count(*) AS rows FROM t").get() as { rows: number };
  handle.close();
  return { rows, commits: strike.commits };
}

describe("a handle", () => {
  it.each([
    [
      { commit: 2, moment: "before" },
      { rows: 2, commits: 2 },
    ],
    [
      { commit: 2, moment: "inside" },
      { rows: 2, commits: 2 },
    ],
    [
      { commit: 2, moment: "after" },
      { rows: 4, commits: 2 },
    ],
    [
      { call: 8, moment: "before" },
      { rows: 2, commits: 2 },
    ],
    [
      { call: 8, moment: "after" },
      { rows: 4, commits: 2 },
    ],
  ] as const)("TEST-03 that crashes at %j leaves what was committed", (point, left) => {
    expect(killed(point)).toEqual(left);
  });
});
