import { memoryHome } from "@holdpoint/approvals";
import { describe, expect, it } from "vitest";

import { memoryOutbox, Workflows, type Delivery, type RetryPolicy } from "../../src/index.ts";
import { failing, payments, type Failing } from "../failing.ts";
import { storesOn } from "../faulty-stores.ts";
import { desks, pollMs, supervisorStore } from "../supervisor/desks.ts";
import { rest, timedClock } from "../timed-clock.ts";
import { countingIds, dana, keyring } from "../world.ts";

const input = { orderId: "A-17" };
let worlds = 0;

/** Processes over the same stores, whose definition retries by a policy. */
function world(effects: Failing, policy: RetryPolicy | undefined) {
  const clock = timedClock();
  const home = memoryHome({ clock });
  const store = storesOn({ approvals: home, log: home, runs: home });
  const prefix = `policy${(worlds += 1)}`;
  let processes = 0;
  const open = (by = policy) => {
    const ids = countingIds(`${prefix}p${(processes += 1)}`);
    return new Workflows({ store, definitions: [payments(effects, by)], keyring, clock, ids });
  };
  return { clock, open };
}

const thrice = { attempts: 3, backoffMs: 1_000 };

describe("a definition that retries its failed runs", () => {
  it("WF-29 waits as long as it says, doubling, goes on in the same run, and says when", async () => {
    const effects = failing(2, true);
    const { clock, open } = world(effects, thrice);
    const desk = open();
    const begun = clock.now();
    const { runId } = await desk.start("payment", input);
    await rest();
    const first = (await desk.get(runId))!;
    expect([first.status, first.retryAt, first.failure]).toEqual([
      "running",
      begun + 1_000,
      undefined,
    ]);
    await clock.advance(999);
    expect(effects.entered).toHaveLength(1);
    await clock.advance(1);
    expect(effects.entered).toHaveLength(2);
    expect((await desk.get(runId))!.retryAt).toBe(begun + 3_000);
    await clock.advance(2_000);
    const waits = await desk.settled(runId);
    expect([waits.status, waits.retries, waits.retryAt]).toEqual(["interrupted", 2, undefined]);
    expect([effects.looked, effects.entered.length, effects.keys.size]).toEqual([["A-17"], 3, 1]);
    expect(clock.timers).toBe(0);
  });

  it("WF-29 fails when its attempts are used up, those by hand among them", async () => {
    const effects = failing(9, true);
    const { clock, open } = world(effects, thrice);
    const desk = open();
    const { runId } = await desk.start("payment", input);
    await clock.advance(10_000);
    const failed = await desk.settled(runId);
    expect([failed.status, failed.retries, effects.entered.length]).toEqual(["failed", 2, 3]);
    await desk.retry(runId);
    const again = await desk.settled(runId);
    expect([again.status, again.retries, effects.entered.length]).toEqual(["failed", 3, 4]);
  });

  it("WF-29 retries what says retryable, or what it chose, and nothing where the choice throws", async () => {
    const tried = async (retryable: boolean, on?: RetryPolicy["on"]) => {
      const effects = failing(9, retryable);
      const { open } = world(effects, { attempts: 2, ...(on !== undefined && { on }) });
      const desk = open();
      await desk.settled((await desk.start("payment", input)).runId);
      return effects.entered.length;
    };
    expect(await tried(false)).toBe(1);
    expect(await tried(true)).toBe(2);
    expect(await tried(false, (error) => (error as Error).message === "the bank is closed")).toBe(
      2,
    );
    expect(await tried(true, () => false)).toBe(1);
    expect(
      await tried(true, () => {
        throw new Error("bad rule");
      }),
    ).toBe(1);
  });

  it("WF-29 goes on elsewhere when its process is gone, not before it is due", async () => {
    const effects = failing(1, true);
    const { clock, open } = world(effects, thrice);
    const { runId } = await open().start("payment", input); // its timer never fires: the process is gone
    await rest();
    clock.leap(400);
    const desk = open();
    expect(await desk.adoptAll()).toEqual([{ runId, did: "begun", how: "retry" }]);
    await rest();
    expect(effects.entered).toHaveLength(1);
    clock.leap(600);
    const last = open();
    await last.adoptAll();
    expect((await last.settled(runId)).status).toBe("interrupted");
    expect([effects.entered.length, effects.looked.length]).toEqual([2, 1]);
  });

  it("WF-29 is asked again after a crash: a definition without a policy lets the run fail", async () => {
    const effects = failing(1, true);
    const { open } = world(effects, thrice);
    const { runId } = await open().start("payment", input);
    await rest();
    const desk = open({ attempts: 1 });
    expect(await desk.adoptAll()).toEqual([{ runId, did: "ended", status: "failed" }]);
    expect((await desk.get(runId))!.failure?.code).toBe("node-failed");
    expect(effects.entered).toHaveLength(1);
  });

  it("WF-29 WF-26 stays failed where somebody cancels it while it waits", async () => {
    const effects = failing(2, true);
    const { clock, open } = world(effects, thrice);
    const desk = open();
    const { runId } = await desk.start("payment", input);
    await rest();
    expect((await desk.cancel(runId, { reason: "enough", by: dana })).status).toBe("failed");
    await clock.advance(10_000);
    expect([(await desk.get(runId))!.status, effects.entered.length]).toEqual(["failed", 1]);
    // Elsewhere too, where its process is gone.
    const other = await open().start("payment", input);
    await rest();
    const elsewhere = open();
    expect((await elsewhere.cancel(other.runId, { reason: "enough" })).status).toBe("failed");
  });

  it("WF-29 makes at least one attempt and at most a hundred", () => {
    for (const attempts of [0, 101, 1.5, Number.NaN]) {
      expect(() => payments(failing(), { attempts })).toThrow(
        expect.objectContaining({ code: "definition-invalid" }),
      );
    }
  });

  it("WF-29 waits an hour at most, and no negative time", async () => {
    for (const [backoffMs, waitMs] of [
      [() => Number.POSITIVE_INFINITY, 3_600_000],
      [() => -5, 0],
      [() => Number.NaN, 0],
    ] as const) {
      const effects = failing(1, true);
      const { clock, open } = world(effects, { attempts: 2, backoffMs });
      await open().start("payment", input);
      await rest();
      await clock.advance(Math.max(waitMs - 1, 0));
      expect(effects.entered).toHaveLength(waitMs === 0 ? 2 : 1);
      await clock.advance(1);
      expect(effects.entered).toHaveLength(2);
    }
  });
});

describe("a supervisor and a failed run", () => {
  it("WF-29 WF-34 retries it by hand, tells of each end, and says what would move it", async () => {
    const { clock, openOf, home } = desks();
    const effects = failing(1);
    const told: Delivery[] = [];
    const store = { ...supervisorStore(home), outbox: memoryOutbox(home) };
    const payment = payments(effects);
    const desk = openOf([payment], { store, notify: (delivery) => void told.push(delivery) });
    await expect(desk.retry("nobody")).rejects.toMatchObject({ code: "run-not-found" });
    await desk.activate();
    const { runId } = await desk.start("payment", input);
    const failed = await desk.settled(runId);
    expect(failed.status).toBe("failed");
    expect(await desk.explain(runId)).toMatchObject({
      why: "ended",
      movedBy: ["`retry`, by hand"],
    });
    expect(await desk.retry(runId, { by: dana })).toEqual({ status: "accepted", runId });
    expect((await desk.settled(runId)).status).toBe("interrupted");
    await clock.advance(pollMs);
    expect(told.map(({ kind, status }) => [kind, status])).toEqual([
      ["ended", "failed"],
      ["waiting", "interrupted"],
    ]);
    await desk.shutdown();
    await expect(desk.retry(runId)).rejects.toMatchObject({ code: "not-active" });
  });

  it("WF-29 WF-20 retries nothing of a session that another process has", async () => {
    const { openOf } = desks();
    const effects = failing(1);
    const payment = payments(effects);
    const owner = openOf([payment]);
    await owner.activate();
    const { runId } = await owner.start("payment", input);
    await owner.settled(runId);
    const other = openOf([payment]);
    await other.activate();
    await expect(other.retry(runId)).rejects.toMatchObject({ code: "session-owned" });
    await owner.shutdown();
    await other.shutdown();
    expect(effects.entered).toHaveLength(1);
  });

  it("WF-29 WF-36 retries by policy once it is due, also after a takeover, and tells of no end before the last", async () => {
    const { clock, openOf, home } = desks();
    const effects = failing(2, true);
    const told: Delivery[] = [];
    const store = { ...supervisorStore(home), outbox: memoryOutbox(home) };
    const payment = payments(effects, { attempts: 3, backoffMs: 60_000 });
    const more = { store, notify: (delivery: Delivery) => void told.push(delivery) };
    const first = openOf([payment], more);
    await first.activate();
    const { runId } = await first.start("payment", input);
    await rest();
    const why = await first.explain(runId);
    expect([why.why, why.status]).toEqual(["tried-again-later", "running"]);
    expect(why.because).toContain("node-failed");
    const down = first.shutdown({ timeoutMs: 0 });
    await clock.advance(0);
    await down;
    expect((await first.get(runId))!.status).toBe("running");
    const second = openOf([payment], more);
    await second.activate();
    await clock.advance(59_999);
    expect(effects.entered).toHaveLength(1);
    await clock.advance(1 + pollMs);
    expect(effects.entered).toHaveLength(2);
    await clock.advance(120_000 + pollMs);
    expect((await second.get(runId))!.status).toBe("interrupted");
    expect(told.map(({ kind }) => kind)).toEqual(["waiting"]);
    await second.shutdown();
  });
});
