import { StoreUnavailable } from "@holdpoint/approvals";
import { describe, expect, it } from "vitest";

import { desks, homeWith, leaseMs, pollMs, supervisorStore } from "./desks.ts";
import { rest } from "../timed-clock.ts";
import { slowWork } from "./slow-work.ts";

const input = { orderId: "A-17" };

type Home = ReturnType<typeof desks>["home"];

/** A home whose next commit, once told so, stands sooner or later, and whose caller hears that the store is away. */
function forgetful(home: Home) {
  let arrives: ((commit: () => Promise<unknown>) => void) | undefined;
  const store = supervisorStore(
    homeWith(home, async (attemptId, writes) => {
      const now = arrives;
      if (now === undefined) return home.commit(attemptId, writes);
      arrives = undefined;
      now(() => home.commit(attemptId, writes));
      throw new Error("planned: the connection is gone");
    }),
  );
  return { store, forget: (how: typeof arrives): void => void (arrives = how) };
}

describe("what a caller was told nothing of", () => {
  it("WF-31 WF-12 is executed by the session's owner all the same, once, though nobody asks again", async () => {
    const { home, activated, clock, effects } = desks();
    const { store, forget } = forgetful(home);
    const desk = await activated({ store });
    forget((commit) => void commit());
    const refused = { code: "store-unavailable" };
    await expect(desk.start("refund", input, { key: "k" })).rejects.toMatchObject(refused);
    await rest();
    expect((await desk.list()).items).toMatchObject([{ status: "pending" }]);
    await clock.advance(pollMs);
    const { items } = await desk.list();
    expect(items).toMatchObject([{ status: "interrupted" }]);
    expect(effects.looked).toEqual(["A-17"]);
    const again = await desk.start("refund", input, { key: "k" });
    expect(again.runId).toBe(items[0]!.runId);
    await clock.advance(leaseMs);
    expect(effects.looked).toEqual(["A-17"]);
  });

  it("WF-31 is found where it arrives a while after its caller went away", async () => {
    const { home, activated, clock } = desks();
    const { store, forget } = forgetful(home);
    const desk = await activated({ store });
    let late: (() => Promise<unknown>) | undefined;
    forget((commit) => void (late = commit));
    await expect(desk.start("refund", input)).rejects.toMatchObject({ code: "store-unavailable" });
    await clock.advance(2 * pollMs);
    expect((await desk.list()).items).toEqual([]);
    await late!();
    await clock.advance(pollMs);
    expect((await desk.list()).items).toMatchObject([{ status: "interrupted" }]);
  });
});

describe("a run that is asked after while it is at work", () => {
  it("WF-23 WF-30 is waited for by no round: other sessions are looked for meanwhile", async () => {
    const { definition, begun } = slowWork();
    const { home, openOf, clock } = desks();
    let isAway = false;
    const store = supervisorStore(
      homeWith(home, async (attemptId, writes) => {
        if (isAway) throw new StoreUnavailable("planned: the store is away");
        return home.commit(attemptId, writes);
      }),
    );
    const sessions = { match: () => true, max: 2 };
    const night = openOf([definition], { session: "night" });
    await night.activate();
    const desk = openOf([definition], { store, sessions });
    await desk.activate();
    await desk.start("slow", { order: "a" }, { session: "day" });
    isAway = true; // the run is left, and tried again
    await rest();
    const refused = { code: "store-unavailable" };
    await expect(desk.start("slow", { order: "b" }, { session: "day" })).rejects.toMatchObject(
      refused, // so that all runs of its session are looked through
    );
    isAway = false;
    await clock.advance(2 * pollMs);
    expect(begun).toHaveLength(1);
    await night.shutdown();
    await clock.advance(pollMs);
    expect(desk.ready().sessions).toMatchObject([
      { session: "day", status: "held" },
      { session: "night", status: "held" },
    ]);
    expect(begun).toHaveLength(1);
    begun[0]!.end();
    await desk.waitIdle();
    expect((await desk.list()).items).toMatchObject([{ status: "completed" }]);
  });

  it("WF-21 WF-25 is looked at once when it stops, however often it was asked after", async () => {
    const { definition, begun } = slowWork();
    const { home, openOf, clock } = desks();
    const { store, forget } = forgetful(home);
    let looks = 0;
    const runs = Object.assign(Object.create(store.runs) as typeof store.runs, {
      get: (scope: string, runId: string) => {
        looks += 1;
        return store.runs.get(scope, runId);
      },
    });
    const desk = openOf([definition], { store: { ...store, runs } });
    await desk.activate();
    await desk.start("slow", { order: "a" });
    await rest();
    forget(() => undefined);
    await expect(desk.start("slow", { order: "b" })).rejects.toMatchObject({
      code: "store-unavailable",
    });
    await clock.advance(leaseMs); // it is looked through with each round
    looks = 0;
    begun[0]!.end();
    await desk.waitIdle();
    expect(looks).toBe(1);
    expect((await desk.list()).items).toMatchObject([{ status: "completed" }]);
  });
});
