// A run whose process died between an answer that it spent in another database and its own log.
import { memoryHome } from "@holdpoint/approvals";
import { approve } from "@holdpoint/flow";
import { expect, it } from "vitest";

import { memoryLeaseStore } from "../../src/index.ts";
import { storesOn } from "../faulty-stores.ts";
import { dana } from "../world.ts";
import { desks, homeWith, leaseMs } from "./desks.ts";

it("WF-21 STORE-13 is looked for by whoever takes its session, and goes on without asking again", async () => {
  const { clock, home, effects, activated, refund } = desks();
  const approvals = memoryHome({ clock });
  let isDead = false;
  const never = (): Promise<never> => new Promise(() => undefined);
  const rest = homeWith(home, (...how) => (isDead ? never() : home.commit(...how)));
  const dying = storesOn({
    approvals: homeWith(approvals, async (attemptId, writes) => {
      if (isDead) return never();
      const outcome = await approvals.commit(attemptId, writes);
      isDead = writes.some(({ values }) => values["state"] === "consumed");
      return isDead ? never() : outcome; // spending the approval is the last that it does
    }),
    log: rest,
    runs: rest,
  });
  const first = await activated({ store: { ...dying, leases: memoryLeaseStore(rest) } });
  const { runId } = await first.start("refund", { orderId: "A-17" });
  const { waitsFor } = await first.settled(runId);
  void first.decide(waitsFor[0]!.id, approve({ by: dana })).catch(() => undefined);
  await clock.advance(1_000);
  expect(isDead).toBe(true);
  expect(effects.paid).toEqual([]);

  await clock.advance(2 * leaseMs);
  const standing = storesOn({ approvals, log: home, runs: home });
  const second = await activated({ store: { ...standing, leases: memoryLeaseStore(home) } });
  await second.settled(runId);
  expect(await second.output(refund, runId)).toEqual({ refundId: "r-1" });
  expect(effects.paid).toHaveLength(1);
});
