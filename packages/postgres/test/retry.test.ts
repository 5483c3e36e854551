import { approve, unverified, type Committer } from "@holdpoint/approvals";
import { flow } from "@holdpoint/flow";
import { keyringOf } from "@holdpoint/seal";
import { defineTool, ToolError } from "@holdpoint/tools";
import { defineWorkflow, Workflows, type WorkflowStore } from "@holdpoint/workflows";
import { expect, it } from "vitest";
import { z } from "zod";

import { opened, place } from "./place.ts";

const keyring = keyringOf(new Uint8Array(32).fill(7));
const State = z.object({ order: z.string(), paid: z.string().optional() });

/** A payment whose bank is closed the first time, beside something that a person has to allow. */
function payments() {
  const entered: string[] = [];
  let closed = true;
  const look = defineTool({
    name: "look",
    description: "Looks an order up.",
    input: z.object({ order: z.string() }),
    execute: ({ order }) => void entered.push(`look ${order}`),
  });
  const pay = defineTool({
    name: "pay",
    description: "Pays.",
    input: z.object({ order: z.string() }),
    output: z.object({ paid: z.string() }),
    idempotent: true,
    execute: ({ order }, { idempotencyKey }) => {
      entered.push(`pay ${idempotencyKey}`);
      if (closed) throw new ToolError("the bank is closed");
      return { paid: order };
    },
  });
  const built = flow("payment", State)
    .node("start", () => {})
    .node("work", async ({ order }, ctx) => {
      await ctx.call(look, { order });
      return ctx.call(pay, { order });
    })
    .gate("review", { payload: ({ order }) => ({ order }) })
    .edge("start", "work")
    .edge("start", "review")
    .build();
  const definition = defineWorkflow({
    name: "payment",
    version: "1",
    input: z.object({ order: z.string() }),
    flow: built,
  });
  return { entered, definition, open: () => void (closed = false) };
}

/** Stores of one home whose commit `at` never comes, nor anything after it. */
function dyingAt(at: number, { approvals, log, runs }: WorkflowStore) {
  let commits = 0;
  let die: () => void = () => undefined;
  const died = new Promise<"died">((resolve) => (die = () => resolve("died")));
  const dying = <S extends Committer>(store: S): S =>
    Object.assign(Object.create(store) as S, {
      commit(...how: Parameters<Committer["commit"]>) {
        commits += 1;
        if (commits < at) return store.commit(...how);
        die();
        return new Promise<never>(() => undefined);
      },
    });
  const store = { approvals: dying(approvals), log: dying(log), runs: dying(runs) };
  return { store, died };
}

it("WF-10 WF-29 retries a failed run once, whichever of its commits a process dies before", async () => {
  const begun: boolean[] = [];
  for (let at = 1; ; at += 1) {
    const { entered, definition, open } = payments();
    const desk = (store: WorkflowStore) =>
      new Workflows({ store, definitions: [definition], keyring });
    const schema = place();
    const store = await opened(schema);
    const first = desk(store);
    const { runId } = await first.start("payment", { order: "A-17" });
    expect((await first.settled(runId)).failure?.code).toBe("node-failed");
    open();
    const dying = dyingAt(at, store);
    const retrying = desk(dying.store);
    const whole = retrying.retry(runId).then(() => retrying.settled(runId));
    const end = await Promise.race([dying.died, whole]);

    const after = desk(await opened(schema));
    await after.adoptAll();
    await after.waitIdle();
    const found = (await after.settled(runId)).status;
    expect(["failed", "interrupted"]).toContain(found);
    begun.push(found !== "failed");
    if (found === "failed") await after.retry(runId);
    const { waitsFor, retries } = await after.settled(runId);
    await after.decide(waitsFor[0]!.id, approve({ by: unverified("dana") }));
    expect([(await after.settled(runId)).status, retries]).toEqual(["completed", 1]);
    expect(await after.output(definition, runId)).toEqual({ order: "A-17", paid: "A-17" });
    const [looked, ...paid] = entered;
    expect([looked, new Set(paid).size]).toEqual(["look A-17", 1]);
    expect(paid.length).toBeLessThanOrEqual(3); // twice, and once more where its process died behind it
    if (end !== "died") break;
  }
  // Before its first commit nothing has happened; from then on it goes on by itself.
  expect(begun).toEqual([false, ...begun.slice(1).map(() => true)]);
  expect(begun.length).toBeGreaterThan(3);
}, 120_000);
