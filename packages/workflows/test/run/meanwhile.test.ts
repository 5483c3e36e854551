import type { CommitOutcome, MemoryHome, Write } from "@holdpoint/approvals";
import { approve } from "@holdpoint/flow";
import { describe, expect, it } from "vitest";

import { Workflows, type WorkflowStore } from "../../src/index.ts";
import { storesOn } from "../faulty-stores.ts";
import { countingIds, dana, keyring, refunds, world } from "../world.ts";

const input = { orderId: "A-17" };

/** Stores that call `before` ahead of each commit. */
function watched(
  home: MemoryHome,
  before: (writes: readonly Write[]) => Promise<void>,
): WorkflowStore {
  const commit = async (attemptId: string, writes: readonly Write[]): Promise<CommitOutcome> => {
    await before(writes);
    return home.commit(attemptId, writes);
  };
  const slow = Object.assign(Object.create(home) as MemoryHome, { commit });
  return storesOn({ approvals: slow, log: slow, runs: slow });
}

const movesTo = (writes: readonly Write[], status: string): boolean =>
  writes.some(({ statement, values }) => statement === "runs.put" && values["status"] === status);

describe("what happens while a run is worked on", () => {
  it("WF-24 R035 resumes by itself for a decision that came before the pause", async () => {
    const here = world();
    const elsewhere = here.open().desk;
    const taken: unknown[] = [];
    const store = watched(here.homes.log, async (writes) => {
      if (!movesTo(writes, "interrupted")) return;
      const [request] = here.homes.approvals.rows("approvals", "default");
      taken.push(await elsewhere.decide(request!.key, approve({ by: dana })));
      await elsewhere.waitIdle();
    });
    const { desk } = here.open(store);
    const { runId } = await desk.start("refund", input);
    expect((await desk.settled(runId)).status).toBe("completed");
    expect(taken).toEqual([{ status: "accepted", runId }]);
    expect(here.effects.paid).toHaveLength(1);
  });

  it("WF-32 answers readers at once, whatever its writer waits for", async () => {
    const here = world();
    let release: () => void = () => undefined;
    const held = new Promise<void>((resolve) => (release = resolve));
    let reached: () => void = () => undefined;
    const reaching = new Promise<void>((resolve) => (reached = resolve));
    const store = watched(here.homes.log, async (writes) => {
      if (!movesTo(writes, "interrupted")) return;
      reached();
      await held;
    });
    const { desk } = here.open(store);
    const { runId } = await desk.start("refund", input);
    await reaching;
    expect((await desk.get(runId))?.status).toBe("running");
    expect((await desk.list()).items).toHaveLength(1);
    expect((await desk.history(runId)).at(0)?.type).toBe("run-started");
    release();
    expect((await desk.settled(runId)).status).toBe("interrupted");
  });

  it("WF-31 tells the operator of a run that was left, without anything that it holds", async () => {
    const here = world();
    const told: unknown[] = [];
    let away = false;
    const store = watched(here.homes.log, async (writes) => {
      away ||= movesTo(writes, "running");
      if (away) throw new Error("the store is away, with A-17 in its message");
    });
    const desk = new Workflows({
      store,
      definitions: [refunds(here.effects)],
      keyring,
      clock: here.clock,
      ids: countingIds("told"),
      logger: { warn: () => undefined, error: (message, data) => told.push({ message, ...data }) },
    });
    const { runId } = await desk.start("refund", input);
    await desk.waitIdle();
    expect(told).toEqual([
      { message: "a run was left as its log stands", runId, code: expect.any(String) },
    ]);
    expect(JSON.stringify(told)).not.toContain("A-17");
    expect((await desk.get(runId))?.status).toBe("pending");
  });
});
