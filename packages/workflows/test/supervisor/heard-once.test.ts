import { approve } from "@holdpoint/flow";
import { StoreUnavailable } from "@holdpoint/approvals";
import { describe, expect, it } from "vitest";

import type { SupervisorStore } from "../../src/index.ts";
import { rest } from "../timed-clock.ts";
import { dana } from "../world.ts";
import { desks } from "./desks.ts";

/** A store whose trail is read a moment later, as from a server, with its looks at runs and approvals counted. */
function watched(store: SupervisorStore) {
  const looks = { runs: 0, approvals: 0, heads: 0 };
  let fails = 0;
  const approvals: SupervisorStore["approvals"] = Object.assign(Object.create(store.approvals), {
    changes: async (...how: Parameters<typeof store.approvals.changes>) => {
      await rest();
      return store.approvals.changes(...how);
    },
    get: async (...how: Parameters<typeof store.approvals.get>) => {
      looks.approvals += 1;
      return store.approvals.get(...how);
    },
  });
  const runs: SupervisorStore["runs"] = Object.assign(Object.create(store.runs), {
    get: async (...how: Parameters<typeof store.runs.get>) => {
      looks.runs += 1;
      if (fails > 0 && (fails -= 1) >= 0) throw new StoreUnavailable("planned: it is away");
      return store.runs.get(...how);
    },
  });
  const log: SupervisorStore["log"] = Object.assign(Object.create(store.log), {
    head: async (...how: Parameters<typeof store.log.head>) => {
      looks.heads += 1;
      return store.log.head(...how);
    },
  });
  return {
    store: { ...store, approvals, runs, log },
    looks,
    failNext: (times: number) => void (fails = times),
  };
}

/** A run that waits for one approval, in a process whose looks are counted. */
async function waiting() {
  const world = desks();
  const { store, looks, failNext } = watched(world.store);
  const desk = await world.activated({ store });
  const { runId } = await desk.start("refund", { orderId: "A-17" });
  const { waitsFor } = await desk.settled(runId);
  await rest(); // the trail has told of the question
  return { ...world, desk, runId, id: waitsFor[0]!.id, looks, failNext, counted: store };
}

describe("a decision that is taken in the process of its run's session", () => {
  it("WF-24 costs one look at the run, and none when the trail tells of it too", async () => {
    const { desk, runId, id, looks, effects, store } = await waiting();
    Object.assign(looks, { runs: 0, approvals: 0, heads: 0 });
    await desk.decide(id, approve({ by: dana }));
    await desk.waitIdle();
    await rest();
    expect((await store.runs.get("default", runId))?.values["status"]).toBe("completed");
    expect(effects.paid).toHaveLength(1);
    // The run's row once; the record for deciding, spending, and nothing besides; its log is read, and not asked for its end.
    expect(looks).toEqual({ runs: 1, approvals: 2, heads: 0 });
  });

  it("WF-24 is taken up by the trail, where its run could not be looked at right then", async () => {
    const { desk, runId, id, failNext, store, effects } = await waiting();
    failNext(1);
    expect((await desk.decide(id, approve({ by: dana }))).status).toBe("accepted");
    await rest();
    await rest();
    expect((await store.runs.get("default", runId))?.values["status"]).toBe("completed");
    expect(effects.paid).toHaveLength(1);
  });

  it("WF-27 is waited for by whoever waits for the run, from the answer on", async () => {
    const { desk, runId, id } = await waiting();
    await desk.decide(id, approve({ by: dana }));
    expect((await desk.settled(runId)).status).toBe("completed");
  });

  it("WF-27 is waited for by whoever waits until nothing is done any more", async () => {
    const { desk, id, effects } = await waiting();
    await desk.decide(id, approve({ by: dana }));
    await desk.waitIdle();
    expect(effects.paid).toHaveLength(1);
  });

  it("WF-24 is heard of from another process by the trail, and looked at by its own", async () => {
    const { open, runId, id, store, effects } = await waiting();
    const office = open({ session: "office" });
    await office.activate();
    await office.decide(id, approve({ by: dana }));
    await rest();
    await rest();
    expect((await store.runs.get("default", runId))?.values["status"]).toBe("completed");
    expect(effects.paid).toHaveLength(1);
  });
});
