// A run that is judged by its row as it was read on the way: what moved it since is found, and nothing is done by what it said.
import { approve } from "@holdpoint/flow";
import { describe, expect, it } from "vitest";

import { adoptRun } from "../../src/run/adopting.ts";
import { resolveParts } from "../../src/run/options.ts";
import { countingIds, dana, keyring, refunds, world } from "../world.ts";

const input = { orderId: "A-17" };

/** A run that waits, a process over its stores, and how often that reads the run's row. */
async function waiting(how: "together" | "apart") {
  const here = world(how);
  const { desk } = here.open();
  const { runId } = await desk.start("refund", input);
  const { waitsFor } = await desk.settled(runId);
  const { store, clock } = here;
  let reads = 0;
  const runs: typeof store.runs = Object.assign(Object.create(store.runs), {
    get: async (...at: Parameters<typeof store.runs.get>) => {
      reads += 1;
      return store.runs.get(...at);
    },
  });
  const parts = resolveParts({
    store: { ...store, runs },
    definitions: [refunds(here.effects)],
    keyring,
    clock,
    ids: countingIds(`taker-${how}`),
  });
  const opened = (await parts.access.load(runId))!;
  const decide = async (): Promise<void> => {
    const { records } = parts.approvals;
    const decision = approve({ by: dana });
    await records.decide({ scope: "default", id: waitsFor[0]!.id, decision });
  };
  reads = 0;
  return { ...here, desk, runId, id: waitsFor[0]!.id, parts, opened, decide, reads: () => reads };
}

describe.each(["together", "apart"] as const)(
  "a row that was read on the way, stores %s",
  (how) => {
    it("WF-21 is not read again where nobody moved it", async () => {
      const { parts, runId, opened, decide, reads, effects } = await waiting(how);
      expect(await adoptRun(parts, runId, { opened })).toEqual({ runId, did: "waits" });
      expect(reads()).toBe(0);
      await decide();
      const adopted = await adoptRun(parts, runId, { opened });
      expect(adopted).toEqual({ runId, did: "begun", how: "resume" });
      await parts.lanes.idle(runId);
      expect([effects.paid.length, reads()]).toEqual([1, 0]);
    });

    it("WF-21 FLOW-75 is read again where the run has gone on since, and what it said is not done", async () => {
      const { parts, desk, runId, opened, id, effects } = await waiting(how);
      await desk.decide(id, approve({ by: dana }));
      expect((await desk.settled(runId)).status).toBe("completed");
      const adopted = await adoptRun(parts, runId, { opened, decided: id });
      expect(adopted).toEqual({ runId, did: "ended", status: "completed" });
      expect(effects.paid).toHaveLength(1);
    });

    it("WF-26 is read again where the run was cancelled since", async () => {
      const { parts, desk, runId, opened, id, decide, effects } = await waiting(how);
      await decide();
      await desk.cancel(runId, { reason: "not wanted" });
      const adopted = await adoptRun(parts, runId, { opened, decided: id });
      expect(adopted).toEqual({ runId, did: "ended", status: "cancelled" });
      expect(effects.paid).toEqual([]);
    });

    it("WF-21 is of no use behind what is done with the run: that moves it", async () => {
      const { parts, runId, opened, decide, reads, effects } = await waiting(how);
      await decide();
      const first = adoptRun(parts, runId, { opened });
      const second = adoptRun(parts, runId, { opened });
      expect(await first).toEqual({ runId, did: "begun", how: "resume" });
      expect(await second).toEqual({ runId, did: "ended", status: "completed" });
      expect([effects.paid.length, reads()]).toEqual([1, 1]);
    });
  },
);

describe("an approval that is said to be decided", () => {
  it("WF-24 has its run gone on with; of another one the run's own are asked", async () => {
    const { parts, runId, opened, id, decide, effects } = await waiting("together");
    const other = await adoptRun(parts, runId, { opened, decided: "another-approval" });
    expect(other).toEqual({ runId, did: "waits" });
    await decide();
    const adopted = await adoptRun(parts, runId, { opened, decided: id });
    expect(adopted).toEqual({ runId, did: "begun", how: "resume" });
    await parts.lanes.idle(runId);
    expect(effects.paid).toHaveLength(1);
  });

  it("WF-24 spends nothing where it is not: the run waits on", async () => {
    const { parts, runId, opened, id, effects, desk } = await waiting("together");
    await adoptRun(parts, runId, { opened, decided: id });
    await parts.lanes.idle(runId);
    expect((await desk.get(runId))?.status).toBe("interrupted");
    expect([effects.paid, parts.faults.of(runId)]).toEqual([[], undefined]);
    await desk.decide(id, approve({ by: dana }));
    expect((await desk.settled(runId)).status).toBe("completed");
  });
});
