import {
  approve,
  DeferredApproval,
  memoryApprovalStore,
  memoryHome,
  unverified,
} from "@holdpoint/approvals";
import { keyringOf } from "@holdpoint/seal";
import { defineTool } from "@holdpoint/tools";
import { describe, expect, it } from "vitest";
import { z } from "zod";

import { flow, FlowRunner, memoryRunLog, replies, type RunResult } from "../../src/index.ts";

const keyring = keyringOf(new Uint8Array(32).fill(7));
const yes = () => approve({ by: unverified("dana") });

function desk() {
  const paid: number[] = [];
  const pay = defineTool({
    name: "pay",
    description: "Pays.",
    input: z.object({ cents: z.int() }),
    confirm: true,
    execute: ({ cents }) => void paid.push(cents),
  });
  const refund = flow("refund", z.object({ cents: z.int() }))
    .gate("review", { payload: ({ cents }) => ({ cents }) })
    .call("pay", pay, { args: ({ cents }) => ({ cents }) })
    .path("review", "pay")
    .build();
  const home = memoryHome();
  const store = memoryApprovalStore(home);
  const log = memoryRunLog(home);
  const runner = () =>
    new FlowRunner({ approvals: new DeferredApproval(store, { keyring }), keyring, log });
  return { paid, refund, runner };
}

function paused(result: RunResult) {
  if (result.status !== "paused") throw new Error(result.status);
  return result;
}

describe("a durable run", () => {
  it("CASE-022 takes no bare answer by its id: a second click would answer what nobody was shown", async () => {
    const { paid, refund, runner } = desk();
    const first = paused(await runner().run(refund, { cents: 5 }, { runId: "r" }));
    await expect(runner().resume(refund, "r", yes())).rejects.toMatchObject({
      code: "answer-ambiguous",
      data: { ids: [first.pending.id] },
    });
    const reply = () => replies({ [first.pending.id]: yes() });
    const second = paused(await runner().resume(refund, "r", reply()));
    expect(second.pending.tool).toBe("pay");
    await expect(runner().resume(refund, "r", reply())).rejects.toMatchObject({
      code: "answer-unknown",
    });
    expect(paid).toEqual([]);
    await runner().resume(refund, "r", replies({ [second.pending.id]: yes() }));
    expect(paid).toEqual([5]);
  });

  it("FLOW-54 goes on in its log from the checkpoint that is passed back, once", async () => {
    const { paid, refund, runner } = desk();
    const first = paused(await runner().run(refund, { cents: 5 }, { runId: "r" }));
    const second = paused(await runner().resume(refund, first.checkpoint, yes()));
    await expect(runner().resume(refund, first.checkpoint, yes())).rejects.toMatchObject({
      code: "approval-already-decided",
    });
    expect(paid).toEqual([]);
    const text = runner().dumpCheckpoint(second.checkpoint);
    const done = await runner().resume(refund, runner().loadCheckpoint(refund, text), yes());
    expect(done.status).toBe("completed");
    await expect(runner().resume(refund, second.checkpoint, yes())).rejects.toMatchObject({
      code: "resume-terminal",
    });
    const events = await runner().history(refund, "r");
    expect(events.filter((event) => event.type === "answered")).toHaveLength(2);
    expect(paid).toEqual([5]);
  });

  it("FLOW-54 refuses a checkpoint that is newer than its log", async () => {
    const { refund, runner } = desk();
    const first = paused(await runner().run(refund, { cents: 5 }, { runId: "r" }));
    const second = paused(await runner().resume(refund, first.checkpoint, yes()));
    const other = desk();
    await other.runner().run(refund, { cents: 5 }, { runId: "r" });
    await expect(other.runner().resume(refund, second.checkpoint, yes())).rejects.toMatchObject({
      code: "checkpoint-rolled-back",
    });
  });

  it("FLOW-60 refuses the checkpoint of a run that was cancelled", async () => {
    const { refund, runner } = desk();
    const first = paused(await runner().run(refund, { cents: 5 }, { runId: "r" }));
    await runner().cancel(refund, "r", { reason: "no need" });
    await expect(runner().resume(refund, first.checkpoint, yes())).rejects.toMatchObject({
      code: "resume-terminal",
    });
  });
});

describe("what is passed by mistake", () => {
  it("refuses misspelt options, run ids that are no texts, and inputs that can't be read", async () => {
    const { refund, runner } = desk();
    // @ts-expect-error -- a misspelt option
    expect(() => new FlowRunner({ keyrin: keyring })).toThrow(/no option 'keyrin'/);
    for (const runId of [5, null, ["a"], Symbol("r")]) {
      const run = runner().run(refund, { cents: 5 }, { runId: runId as never });
      await expect(run).rejects.toMatchObject({ code: "input-invalid" });
    }
    const trap = {
      get cents(): number {
        throw new Error("no");
      },
    };
    await expect(runner().run(refund, trap)).rejects.toMatchObject({ code: "input-invalid" });
  });
});
