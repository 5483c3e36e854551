import { approve, memoryRunLog, unverified } from "@holdpoint/flow";
import { memoryApprovalStore, memoryHome } from "@holdpoint/approvals";
import { createKeyring } from "@holdpoint/seal";
import { memoryRunRegistry, Workflows } from "@holdpoint/workflows";

import { refund } from "./first-run.ts";

const home = memoryHome();
const open = () =>
  new Workflows({
    store: {
      approvals: memoryApprovalStore(home),
      log: memoryRunLog(home),
      runs: memoryRunRegistry(home),
    },
    definitions: [refund],
    keyring: createKeyring({ current: { id: "2026", key: new Uint8Array(32).fill(7) } }),
  });

// One process starts a run, and ends.
const before = open();
const started = await before.start("refund", { orderId: "B-2" });
await before.waitIdle();

// Another one opens the same stores, takes up what nobody holds, and leaves what waits waiting.
const after = open();
export const adopted = await after.adoptAll();
const [run] = (await after.list({ filter: { status: "interrupted" } })).items;
await after.decide(run!.waitsFor[0]!.id, approve({ by: unverified("dana") }));
export const done = await after.settled(started.runId);
export const history = await after.history(started.runId);
