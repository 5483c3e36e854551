import type { ApprovalFilter, Row } from "@holdpoint/approvals";
import { approve } from "@holdpoint/flow";
import { describe, expect, it } from "vitest";

import { rest } from "../timed-clock.ts";
import { dana } from "../world.ts";
import { desks, homeWith, leaseMs, supervisorStore } from "./desks.ts";

const sessions = { match: (name: string) => name !== "office", max: 3 };

/** Runs of three sessions that nobody holds, each of which was approved meanwhile. */
async function answeredMeanwhile() {
  const world = desks();
  const first = await world.activated({ sessions });
  const runIds: string[] = [];
  for (const session of ["a", "b", "c"]) {
    const { runId } = await first.start("refund", { orderId: session }, { session });
    await first.settled(runId);
    runIds.push(runId);
  }
  await first.shutdown();
  const office = await world.activated({ session: "office" });
  for (const runId of runIds) {
    const [wait] = (await office.get(runId))!.waitsFor;
    await office.decide(wait!.id, approve({ by: dana }));
  }
  return { ...world, runIds };
}

describe("sessions that are taken together", () => {
  it("WF-21 WF-30 cost one look at what was decided, whatever their number", async () => {
    const { store, open, runIds, effects } = await answeredMeanwhile();
    const lists: ApprovalFilter[] = [];
    const approvals: typeof store.approvals = Object.assign(Object.create(store.approvals), {
      list: (...how: Parameters<typeof store.approvals.list>): Promise<readonly Row[]> => {
        lists.push(how[1]);
        return store.approvals.list(...how);
      },
    });
    const next = open({ store: { ...store, approvals }, sessions });
    const { adoptions } = await next.activate();
    expect(adoptions).toEqual(runIds.map((runId) => ({ runId, did: "begun", how: "resume" })));
    expect(lists.filter(({ state }) => state === "decided")).toHaveLength(1);
    await next.waitIdle();
    expect(effects.paid).toHaveLength(3);
  });

  it("WF-32 are taken though a run that was decided can't be trusted: it is set aside", async () => {
    const { store, open, runIds, logged } = await answeredMeanwhile();
    const [broken, ...good] = runIds;
    const row = (await store.runs.get("default", broken!))!;
    const values = { ...row.values, definition: "other" };
    const write = { statement: "runs.put", scope: "default", key: broken!, expect: row.version };
    await store.runs.commit("forged", [{ ...write, values }]);
    const { adoptions } = await open({ sessions }).activate();
    expect(adoptions).toEqual(good.map((runId) => ({ runId, did: "begun", how: "resume" })));
    expect(logged).toContainEqual(expect.objectContaining({ level: "error", runId: broken }));
  });

  it("WF-30 have their runs judged side by side, eight at a time: a slow store is waited for once for all of them", async () => {
    const { home, store, open, clock } = desks();
    let isDead = false;
    const dying = homeWith(home, (...how) =>
      isDead ? new Promise(() => undefined) : home.commit(...how),
    );
    const first = open({ store: supervisorStore(dying), workers: 1 });
    await first.activate();
    const starts = Array.from({ length: 20 }, (_, at) =>
      first.start("refund", { orderId: `o${at}` }),
    );
    await Promise.all(starts);
    isDead = true; // most of them have not begun
    await clock.advance(2 * leaseMs);
    let [asked, most] = [0, 0];
    const log: typeof store.log = Object.assign(Object.create(store.log), {
      head: async (...how: Parameters<typeof store.log.head>) => {
        asked += 1;
        most = Math.max(most, asked);
        await rest();
        asked -= 1;
        return store.log.head(...how);
      },
    });
    const next = open({ store: { ...store, log } });
    const { adoptions } = await next.activate();
    expect(adoptions.length).toBeGreaterThan(8);
    expect(most).toBe(8);
    await next.waitIdle();
    const { items } = await next.list();
    expect(new Set(items.map(({ status }) => status))).toEqual(new Set(["interrupted"]));
  });

  it("WF-30 are looked at side by side for what was decided: a slow store is waited for once for several", async () => {
    const { store, open, runIds } = await answeredMeanwhile();
    let [asked, first] = [0, 0];
    const runs: typeof store.runs = Object.assign(Object.create(store.runs), {
      get: async (...how: Parameters<typeof store.runs.get>) => {
        asked += 1;
        await rest();
        if (first === 0) first = asked; // nobody was answered yet
        return store.runs.get(...how);
      },
    });
    const { adoptions } = await open({ store: { ...store, runs }, sessions }).activate();
    expect(adoptions).toHaveLength(3);
    expect(first).toBe(runIds.length);
  });
});
