import { describe, expect, it } from "vitest";

import { desks, homeWith, leaseMs, pollMs, supervisorStore } from "./desks.ts";
import { rest } from "../timed-clock.ts";

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
