import {
  DeferredApproval,
  memoryApprovalStore,
  memoryHome,
  type Write,
} from "@holdpoint/approvals";
import { describe, expect, it } from "vitest";
import { z } from "zod";

import { flow, FlowRunner, memoryRunLog, replies, type RunLog } from "../../src/index.ts";
import { asAnotherProcess, dana, keyring, paused, rejection, yes } from "../support/world.ts";

const built = flow("two", z.object({ n: z.number() }))
  .node("split", () => ({}))
  .gate("left", { payload: ({ n }) => ({ n }) })
  .gate("right", { payload: ({ n }) => ({ n }) })
  .route("split", ["left", "right"], () => ["left", "right"])
  .path("left", "right")
  .build();

const how = { reason: "no more", by: dana };

/** A run that waits at two gates; its log is seen through, and where it has none it is portable. */
async function waiting(kind: "durable" | "portable") {
  const home = memoryHome();
  const inner = memoryRunLog(home);
  const commits: (readonly Write[])[] = [];
  const log: RunLog = {
    ...inner,
    commit: (attemptId, writes) => {
      commits.push(writes);
      return inner.commit(attemptId, writes);
    },
  };
  const approvals = new DeferredApproval(memoryApprovalStore(home), { keyring });
  const open = () => new FlowRunner({ approvals, keyring, ...(kind === "durable" && { log }) });
  const runner = open();
  const { checkpoint, pending } = paused(await runner.run(built, { n: 1 }, { runId: "run-1" }));
  const text = runner.dumpCheckpoint(checkpoint);
  const records = async () => {
    const { items } = await approvals.records.list("default");
    return Promise.all(items.map(({ id }) => approvals.records.show("default", id)));
  };
  commits.length = 0;
  return { runner, open, checkpoint, text, pending, commits, records };
}

describe("cancelling a durable run", () => {
  it("FLOW-78 withdraws all that waits in the commit that ends it, and is safe to repeat", async () => {
    const { runner, open, commits, records } = await waiting("durable");
    await runner.cancel(built, "run-1", how);
    expect(commits).toHaveLength(1);
    const written = commits[0]!.map(({ statement }) => statement).toSorted();
    expect(written).toContain("log.append");
    expect(written.filter((name) => name === "approvals.put")).toHaveLength(2);
    for (const record of await records()) {
      expect(record).toMatchObject({ state: "consumed", outcome: "cancelled" });
      expect(record?.decision).toMatchObject({ approved: false, reason: "cancelled" });
    }
    await runner.cancel(built, "run-1", how);
    await open().cancel(built, "run-1", { reason: "another" });
    expect(commits).toHaveLength(1);
    const history = await runner.history(built, "run-1");
    expect(history.at(-1)).toMatchObject({ type: "cancelled", reason: "no more" });
    const resumed = await rejection(open().resume(built, "run-1"));
    expect(resumed).toMatchObject({ name: "ResumeTerminalError", data: { status: "cancelled" } });
  });

  it("FLOW-78 lets one of a cancel and a resume through, and the other changes nothing", async () => {
    const { open, pending, records } = await waiting("durable");
    const [cancelled, resumed] = await Promise.allSettled([
      open().cancel(built, "run-1", how),
      open().resume(built, "run-1", replies({ [pending.id]: yes() })),
    ]);
    expect([cancelled.status, resumed.status].toSorted()).toEqual(["fulfilled", "rejected"]);
    const states = (await records()).map((record) => record?.decision?.approved);
    expect(states.includes(true)).toBe(cancelled.status === "rejected");
    expect(states.every((approved) => approved === false)).toBe(cancelled.status === "fulfilled");
  });

  it("FLOW-78 refuses a run that has completed", async () => {
    const { runner, open, checkpoint } = await waiting("durable");
    let result = paused(await open().resume(built, checkpoint, bothOf(checkpoint.pendings)));
    for (;;) {
      const next = await open().resume(built, result.checkpoint, bothOf(result.pendings));
      if (next.status === "completed") break;
      result = paused(next);
    }
    const error = await rejection(runner.cancel(built, "run-1", how));
    expect(error).toMatchObject({ name: "ResumeTerminalError", data: { status: "completed" } });
  });
});

function bothOf(pendings: readonly { readonly id: string }[]) {
  return replies(Object.fromEntries(pendings.map(({ id }) => [id, yes()])));
}

describe("cancelling a portable run", () => {
  it("FLOW-78 withdraws its records and spends its checkpoint, and is safe to repeat", async () => {
    const { runner, open, checkpoint, text, records } = await waiting("portable");
    await runner.cancel(built, checkpoint, how);
    await runner.cancel(built, runner.loadCheckpoint(built, text), how);
    for (const record of await records())
      expect(record?.decision).toMatchObject({ approved: false, reason: "cancelled" });
    const here = await rejection(
      runner.resume(built, runner.loadCheckpoint(built, text), bothOf(checkpoint.pendings)),
    );
    expect(here).toMatchObject({ name: "ResumeTerminalError" });
    asAnotherProcess();
    const elsewhere = open();
    const there = await rejection(
      elsewhere.resume(built, elsewhere.loadCheckpoint(built, text), bothOf(checkpoint.pendings)),
    );
    expect(there).toMatchObject({ code: "approval-already-decided" });
  });
});
