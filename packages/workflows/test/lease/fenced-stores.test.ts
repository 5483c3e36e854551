import { memoryHome } from "@holdpoint/approvals";
import { expect, it } from "vitest";

import { fencedStores } from "../../src/lease/fenced-stores.ts";
import { Tenure } from "../../src/lease/tenure.ts";
import { memoryLeaseStore } from "../../src/index.ts";
import { storesOn } from "../faulty-stores.ts";
import { timedClock } from "../timed-clock.ts";
import { countingIds } from "../world.ts";

const leaseMs = 30_000;

it("WF-33 WF-23 sends nothing any more once one write came too late, whatever clocks and renewals say then", async () => {
  const clock = timedClock();
  const home = memoryHome({ clock });
  const ids = countingIds();
  const lessee = { store: memoryLeaseStore(home), scope: "s", owner: "one", clock, ids, leaseMs };
  const acquired = await Tenure.acquire(lessee, "desk");
  if (acquired.status !== "held") throw new Error("it is free");
  const { tenure } = acquired;
  const told: string[] = [];
  const { approvals, log, runs } = fencedStores(
    storesOn({ approvals: home, log: home, runs: home }),
    {
      tenure,
      turn: () => undefined,
      onLost: () => void told.push("lost"),
      onTold: () => undefined,
    },
  );
  expect(await log.commit("in-time", [])).toMatchObject({ status: "done" });
  expect(told).toEqual([]);

  clock.step(leaseMs);
  const late = { code: "lease-lost", data: { session: "desk" } };
  await expect(approvals.commit("late", [])).rejects.toMatchObject(late);
  expect(told).toEqual(["lost"]);

  // What it was refused for would be put on record as the run's own failure.
  clock.step(-leaseMs);
  expect(await tenure.renew()).toBe(false);
  for (const store of [log, runs, approvals]) {
    await expect(store.commit("after", [])).rejects.toMatchObject(late);
  }
});
