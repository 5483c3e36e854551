import { flow } from "@holdpoint/flow";
import { createKeyring } from "@holdpoint/seal";
import { nodeMac } from "@holdpoint/seal/node";
import { defineWorkflow } from "@holdpoint/workflows";
import { z } from "zod";

export const keyring = createKeyring({
  current: { id: "k1", key: new Uint8Array(32).fill(7) },
  mac: nodeMac,
});

const State = z.object({ order: z.string(), sent: z.boolean().optional() });

/** An order that waits for somebody's word, as 100,000 others may. */
export const orders = defineWorkflow({
  name: "orders",
  version: "1",
  input: z.object({ order: z.string() }),
  flow: flow("orders", State)
    .gate("review", { payload: ({ order }) => ({ order }) })
    .node("send", () => ({ sent: true }))
    .path("review", "send")
    .build(),
});
