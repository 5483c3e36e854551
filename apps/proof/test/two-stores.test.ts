// Approvals in one database and runs in another, either of them gone from any call on: nothing is stranded, nothing runs twice.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";

import { approve, DeferredApproval, unverified } from "@holdpoint/approvals";
import type { ApprovalStore } from "@holdpoint/approvals";
import { flow, FlowRunner, replies } from "@holdpoint/flow";
import type { RunLog } from "@holdpoint/flow";
import { openPostgres } from "@holdpoint/postgres";
import type { PostgresPool } from "@holdpoint/postgres";
import { keyringOf } from "@holdpoint/seal";
import { openSqlite } from "@holdpoint/sqlite";
import { struckHandle } from "@holdpoint/testing";
import { defineTool } from "@holdpoint/tools";
import { Pool } from "pg";
import { afterAll, describe, expect, inject, it } from "vitest";
import { z } from "zod";

import type {} from "../../../scripts/postgres/global-setup.ts";

const real = new Pool({ connectionString: inject("postgresUrl"), max: 3 });
const folder = mkdtempSync(join(tmpdir(), "holdpoint-two-stores-"));
let made = 0;
afterAll(async () => {
  await real.end();
  rmSync(folder, { recursive: true, force: true });
});

interface Ports {
  readonly approvals: ApprovalStore;
  readonly log: RunLog;
}

/** A database that is gone from its n-th call on, until it is back. */
interface Losable {
  readonly store: Ports;
  goneFrom(call: number): void;
  /** It is there again: as the next process opens it. */
  back(): Promise<Ports>;
  readonly wasMissed: boolean;
}

function loss(error: Error) {
  let left = Infinity;
  let wasMissed = false;
  return {
    end: () => void (left = Infinity),
    meet: (): void => {
      left -= 1;
      if (left > 0) return;
      wasMissed = true;
      throw error;
    },
    switches: {
      goneFrom: (call: number) => void (left = call),
      get wasMissed() {
        return wasMissed;
      },
    },
  };
}

async function postgres(): Promise<Losable> {
  const { meet, end, switches } = loss(new Error("connect ECONNREFUSED"));
  const pool: PostgresPool = {
    async connect() {
      meet();
      return real.connect();
    },
  };
  const schema = `two_stores_${process.pid}_${(made += 1)}`;
  const store = await openPostgres(pool, { schema, behindPooler: true });
  const back = async (): Promise<Ports> => {
    end();
    return store;
  };
  return Object.assign(switches, { store, back });
}

async function file(): Promise<Losable> {
  const error = Object.assign(new Error("disk I/O error"), {
    code: "ERR_SQLITE_ERROR",
    errcode: 10,
  });
  const { meet, end, switches } = loss(error);
  const path = join(folder, `${(made += 1)}.db`);
  const strike = { before: meet, after: () => undefined };
  const handle = new DatabaseSync(path);
  const store = openSqlite(struckHandle(handle, strike));
  const back = async (): Promise<Ports> => {
    end();
    if (handle.isOpen) handle.close();
    return openSqlite(path);
  };
  return Object.assign(switches, { store, back });
}

const keyring = keyringOf(new Uint8Array(32).fill(7));

/** A desk's tools and flow, with what was paid; a runner of it on any stores. */
function desk() {
  const paid = new Set<string>();
  let runs = 0;
  const pay = defineTool({
    name: "pay",
    description: "Pays money back.",
    input: z.object({ orderId: z.string() }),
    output: z.object({ refundId: z.string() }),
    idempotent: true,
    execute: ({ orderId }, { idempotencyKey }) => {
      paid.add(idempotencyKey);
      runs += 1;
      return { refundId: `r-${orderId}` };
    },
  });
  const refund = flow("refund", z.object({ orderId: z.string(), refundId: z.string().optional() }))
    .gate("review", { payload: (state) => ({ orderId: state.orderId }) })
    .call("pay", pay, {
      args: (state) => ({ orderId: state.orderId }),
      into: (result) => ({ refundId: result.refundId }),
    })
    .path("review", "pay")
    .build();
  const runnerOn = (approvals: ApprovalStore, log: RunLog) =>
    new FlowRunner({ approvals: new DeferredApproval(approvals, { keyring }), log, keyring });
  return { refund, runnerOn, paid, ran: () => runs };
}

/** Carries a run on, as whoever comes next does, until it is over. */
async function finished({ refund }: ReturnType<typeof desk>, runner: FlowRunner) {
  for (let tries = 0; tries < 4; tries += 1) {
    const at = await runner.adopt(refund, "run-1");
    if (at.status !== "paused") return at;
    const yes = replies({ [at.pending.id]: approve({ by: unverified("dana") }) });
    const next = await runner.resume(refund, "run-1", yes);
    if (next.status !== "paused") return next;
  }
  throw new Error("the run goes round");
}

const layouts = [
  {
    name: "approvals in a file, runs in Postgres",
    make: async () => ({ approvals: await file(), log: await postgres() }),
  },
  {
    name: "approvals in Postgres, runs in a file",
    make: async () => ({ approvals: await postgres(), log: await file() }),
  },
];

describe.each(layouts)("$name", ({ make }) => {
  it.each(["approvals", "log"] as const)(
    "STORE-13 the store of the %s gone from any call of a resume on: the run ends once it is back, paid once",
    async (which) => {
      for (let call = 1, wasMissed = true; wasMissed; call += 1) {
        const stores = await make();
        const { approvals, log } = stores;
        const { [which]: losable } = stores;
        const at = desk();
        const runner = at.runnerOn(approvals.store.approvals, log.store.log);
        const paused = await runner.run(at.refund, { orderId: "A-17" }, { runId: "run-1" });
        if (paused.status !== "paused") throw new Error(paused.status);
        const { id } = paused.pending;
        losable.goneFrom(call);
        const yes = replies({ [id]: approve({ by: unverified("dana") }) });
        const interrupted = await runner.resume(at.refund, "run-1", yes).then(
          ({ status }) => status,
          () => "thrown",
        );
        expect(["completed", "thrown"]).toContain(interrupted);
        ({ wasMissed } = losable);
        expect(interrupted === "completed" || wasMissed).toBe(true);
        const [first, second] = [await approvals.back(), await log.back()];
        const done = await finished(at, at.runnerOn(first.approvals, second.log));
        expect(done).toMatchObject({ status: "completed", state: { refundId: "r-A-17" } });
        expect(at.paid.size).toBe(1);
        expect(at.ran()).toBeLessThanOrEqual(2); // the same call again, by its key, where its end was not on record
        const record = await first.approvals.get("default", id);
        expect(record?.values["state"]).toBe("consumed");
        const pending = await first.approvals.list(
          "default",
          { state: "pending" },
          { order: "oldest", limit: 10 },
        );
        expect(pending).toEqual([]);
        expect(call).toBeLessThan(100);
      }
    },
  );
});
