// A process that dies around the writes of a start (W1, W2): whoever is asked again under its key finds the one run.
import { approve } from "@holdpoint/flow";
import { describe, expect, it } from "vitest";

import { rest } from "../timed-clock.ts";
import { dana } from "../world.ts";
import { desks, homeWith, leaseMs, supervisorStore } from "./desks.ts";

const input = { orderId: "A-17" };
const moments = ["before", "after"] as const;
const deaths = [1, 2, 3, 4].flatMap((commit) => moments.map((moment) => ({ commit, moment })));

describe("a start whose process dies", () => {
  it.each(deaths)(
    "R001 WF-12 WF-31 is found under its key, and completes once, killed $moment write $commit",
    async ({ commit, moment }) => {
      const { home, open, clock, effects } = desks();
      let left = Infinity;
      let isDead = false;
      const dying = homeWith(home, async (attemptId, writes) => {
        if (isDead) return new Promise(() => undefined);
        left -= 1;
        isDead = left === 0;
        if (isDead && moment === "before") return new Promise(() => undefined);
        const outcome = await home.commit(attemptId, writes);
        return isDead ? new Promise(() => undefined) : outcome;
      });
      const first = open({ store: supervisorStore(dying) });
      await first.activate();
      left = commit;
      let told: string | undefined;
      void first.start("refund", input, { key: "k" }).then(({ runId }) => (told = runId));
      await rest();
      expect(isDead).toBe(true);
      clock.leap(leaseMs);
      const second = open();
      await second.activate();
      const { runId } = await second.start("refund", input, { key: "k" });
      expect([undefined, runId]).toContain(told); // who was told of a run was told of this one
      const { waitsFor } = await second.settled(runId);
      await second.decide(waitsFor[0]!.id, approve({ by: dana }));
      await rest();
      expect((await second.get(runId))?.status).toBe("completed");
      expect((await second.list()).items).toHaveLength(1);
      expect(effects.paid).toHaveLength(1);
      expect((await second.start("refund", input, { key: "k" })).runId).toBe(runId);
    },
  );
});
