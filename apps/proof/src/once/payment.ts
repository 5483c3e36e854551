/** What is raced for: an approval of a run that pays, and then waits for another one, so that it never ends. */
import { appendFileSync, existsSync, readFileSync } from "node:fs";

import { DeferredApproval, type ApprovalStore } from "@holdpoint/approvals";
import { flow, FlowRunner, type RunLog } from "@holdpoint/flow";
import { createKeyring } from "@holdpoint/seal";
import { nodeMac } from "@holdpoint/seal/node";
import { defineTool } from "@holdpoint/tools";
import { z } from "zod";

const keyring = createKeyring({
  current: { id: "k1", key: new Uint8Array(32).fill(7) },
  mac: nodeMac,
});

/** A runner over a store, and its records. `paid`: where each payment leaves a line. */
export function payments(
  store: { readonly approvals: ApprovalStore; readonly log: RunLog },
  paid: string,
) {
  const pay = defineTool({
    name: "pay",
    description: "Pays.",
    input: z.object({ order: z.string() }),
    execute: ({ order }) => appendFileSync(paid, `${order}\n`),
  });
  const State = z.object({ order: z.string() });
  const payment = flow("payment", State)
    .gate("review", { payload: ({ order }) => ({ order }) })
    .call("pay", pay, { args: ({ order }) => ({ order }), into: () => ({}) })
    .gate("after", { payload: ({ order }) => ({ order }) })
    .path("review", "pay", "after")
    .build();
  const approvals = new DeferredApproval(store.approvals, { keyring });
  const runner = new FlowRunner({ approvals, log: store.log, keyring });
  return { payment, runner, records: approvals.records };
}

export function paidFor(paid: string): readonly string[] {
  return existsSync(paid) ? readFileSync(paid, "utf8").split("\n").filter(Boolean) : [];
}
