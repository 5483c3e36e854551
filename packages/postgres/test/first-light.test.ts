import { approve, DeferredApproval, unverified } from "@holdpoint/approvals";
import { flow, FlowRunner, replies } from "@holdpoint/flow";
import { keyringOf } from "@holdpoint/seal";
import { defineTool } from "@holdpoint/tools";
import { expect, it } from "vitest";
import { z } from "zod";

import { type PostgresStore } from "../src/index.ts";
import { opened, place } from "./place.ts";

const keyring = keyringOf(new Uint8Array(32).fill(7));
const dana = unverified("dana");

function refundDesk() {
  const paid: unknown[] = [];
  const pay = defineTool({
    name: "pay",
    description: "Pays money back.",
    input: z.object({ orderId: z.string(), cents: z.int() }),
    output: z.object({ refundId: z.string() }),
    confirm: () => true,
    execute: ({ orderId }, { idempotencyKey }) => {
      paid.push(idempotencyKey);
      return { refundId: `r-${orderId}` };
    },
  });
  const State = z.object({ orderId: z.string(), refundId: z.string().optional() });
  const refund = flow("refund", State)
    .gate("review", { payload: (state) => ({ orderId: state.orderId }) })
    .call("pay", pay, {
      args: (state) => ({ orderId: state.orderId, cents: 4_200 }),
      into: (result) => ({ refundId: result.refundId }),
    })
    .path("review", "pay")
    .build();
  return { paid, refund };
}

const yesTo = ({ id }: { readonly id: string }) => replies({ [id]: approve({ by: dana }) });

const runnerOn = (store: PostgresStore) =>
  new FlowRunner({
    approvals: new DeferredApproval(store.approvals, { keyring }),
    log: store.log,
    keyring,
  });

it("STORE-01 STORE-05 pauses a run, and resumes it from the schema alone, paying once", async () => {
  const schema = place();
  const { paid, refund } = refundDesk();
  const first = await opened(schema);
  const paused = await runnerOn(first).run(refund, { orderId: "A-17" }, { runId: "run-1" });
  if (paused.status !== "paused") throw new Error(paused.status);
  await first.close();

  const second = await opened(schema);
  const again = await runnerOn(second).resume(refund, "run-1", yesTo(paused.pending));
  if (again.status !== "paused") throw new Error(again.status);
  await second.close();

  const third = await opened(schema);
  const done = await runnerOn(third).resume(refund, "run-1", yesTo(again.pending));
  expect(done).toMatchObject({ status: "completed", state: { refundId: "r-A-17" } });
  expect(paid).toHaveLength(1);
  const events = await runnerOn(third).history(refund, "run-1");
  expect(events.at(-1)?.type).toBe("completed");
  expect(await third.log.head("default", "run-1")).toBeGreaterThan(0);
});
