import { memoryHome } from "@holdpoint/approvals";
import { approve, flow, FlowRunner, type RunEvent } from "@holdpoint/flow";
import { describe, expect, it } from "vitest";
import { z } from "zod";

import { workflowFacts } from "../../src/definition/facts.ts";
import { defineWorkflow, Workflows, type WorkflowStore } from "../../src/index.ts";
import { failing, payments } from "../failing.ts";
import { faultyStores, storesOn, type FaultKind, type Homes } from "../faulty-stores.ts";
import { countingIds, dana, handClock, keyring } from "../world.ts";

const input = { orderId: "A-17" };
type How = "together" | "apart";
let worlds = 0;

/** A world whose processes come and go, with a run that failed in it. */
function world(how: How, effects = failing()) {
  const clock = handClock();
  const one = memoryHome({ clock });
  const another = () => (how === "together" ? one : memoryHome({ clock }));
  const homes: Homes = { approvals: one, log: another(), runs: another() };
  const store = storesOn(homes);
  const prefix = `retry${(worlds += 1)}`;
  let processes = 0;
  const open = (over: WorkflowStore = store) => {
    const payment = payments(effects);
    const ids = countingIds(`${prefix}p${(processes += 1)}`);
    return new Workflows({ store: over, definitions: [payment], keyring, clock, ids });
  };
  const history = async (runId: string): Promise<readonly RunEvent[]> => {
    const runner = new FlowRunner({ log: store.log, keyring });
    return runner.history(workflowFacts(payments(effects)).flow, runId);
  };
  return { homes, store, effects, open, history };
}

const count = (events: readonly RunEvent[], type: RunEvent["type"]): number =>
  events.filter((event) => event.type === type).length;

describe.each(["together", "apart"] as const)("a failed run, stores %s", (how) => {
  it(`WF-10 WF-29 goes on by a retry alone, under its id, stores ${how}`, async () => {
    const { open, effects, history } = world(how);
    const desk = open();
    const { runId } = await desk.start("payment", input, { key: "k" });
    const failed = await desk.settled(runId);
    expect([failed.status, failed.failure?.code, failed.retries]).toEqual([
      "failed",
      "node-failed",
      0,
    ]);
    // Nothing else moves it.
    expect(await desk.adoptAll()).toEqual([]);
    expect(await desk.adopt(runId)).toEqual({ runId, did: "ended", status: "failed" });
    expect((await desk.start("payment", input, { key: "k" })).status).toBe("failed");
    expect((await desk.cancel(runId, { reason: "late" })).status).toBe("failed");

    const taken = await desk.retry(runId, { by: dana });
    expect(taken).toEqual({ status: "accepted", runId });
    const waits = await desk.settled(runId);
    expect([waits.status, waits.retries, waits.failure]).toEqual(["interrupted", 1, undefined]);
    expect(waits.waitsFor.map(({ tool }) => tool)).toEqual(["node:payment.review"]);
    await desk.decide(waits.waitsFor[0]!.id, approve({ by: dana }));
    expect((await desk.settled(runId)).status).toBe("completed");
    expect([effects.looked, effects.entered, effects.keys.size]).toEqual([
      ["A-17"],
      ["pay(700)", "pay(700)"],
      1,
    ]);
    const events = await history(runId);
    expect([count(events, "failed"), count(events, "run-retried")]).toEqual([1, 1]);
    const shown = await desk.history(runId, { limit: 100 });
    expect(shown.find(({ type }) => type === "run-retried")).toMatchObject({
      text: "retried",
      by: "dana",
    });
  });

  it(`WF-10 WF-29 is refused a retry in every other status, stores ${how}`, async () => {
    const { open } = world(how, failing(0));
    const desk = open();
    const { runId } = await desk.start("payment", input);
    const waits = await desk.settled(runId);
    const wrong = { code: "status-wrong", data: { runId } };
    await expect(desk.retry(runId)).rejects.toMatchObject(wrong);
    await desk.decide(waits.waitsFor[0]!.id, approve({ by: dana }));
    expect((await desk.settled(runId)).status).toBe("completed");
    await expect(desk.retry(runId)).rejects.toMatchObject(wrong);
    const gone = await desk.start("payment", input);
    await desk.settled(gone.runId);
    await desk.cancel(gone.runId, { reason: "enough" });
    await expect(desk.retry(gone.runId)).rejects.toMatchObject({ code: "status-wrong" });
    await expect(desk.retry("nobody")).rejects.toMatchObject({ code: "run-not-found" });
  });

  it(`WF-29 is retried once where several ask at once, stores ${how}`, async () => {
    const { open, effects, history } = world(how);
    const desk = open();
    const { runId } = await desk.start("payment", input);
    await desk.settled(runId);
    const asked = await Promise.allSettled([1, 2, 3].map(() => desk.retry(runId)));
    expect(asked.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "rejected"]);
    await desk.waitIdle();
    expect(count(await history(runId), "run-retried")).toBe(1);
    expect(effects.entered).toHaveLength(2);
  });

  it(`WF-29 stays failed where its retry can't begin, and says why, stores ${how}`, async () => {
    const { open, store } = world(how);
    const desk = open();
    const { runId } = await desk.start("payment", input);
    const failed = await desk.settled(runId);
    const elsewhere = new Workflows({ store, definitions: [], keyring });
    await expect(elsewhere.retry(runId)).rejects.toMatchObject({ code: "unknown-definition" });
    const changed = defineWorkflow({
      name: "payment",
      version: "1",
      input: z.object({ orderId: z.string() }),
      flow: flow("payment", z.object({ orderId: z.string() }))
        .node("other", () => {})
        .build(),
    });
    const other = new Workflows({ store, definitions: [changed], keyring });
    await expect(other.retry(runId)).rejects.toMatchObject({ code: "graph-version-mismatch" });
    const after = await desk.settled(runId);
    expect([after.status, after.failure]).toEqual(["failed", failed.failure]);
    await desk.retry(runId);
    expect((await desk.settled(runId)).status).toBe("interrupted");
  });

  it(`WF-29 WF-26 can be cancelled again once it was retried, stores ${how}`, async () => {
    const { open } = world(how);
    const desk = open();
    const { runId } = await desk.start("payment", input);
    await desk.settled(runId);
    await desk.retry(runId);
    await desk.settled(runId);
    expect((await desk.cancel(runId, { reason: "enough" })).cancelled?.reason).toBe("enough");
  });
});

describe("a run that failed before its log said so", () => {
  it("WF-29 begins by a retry where it could not begin before", async () => {
    for (const how of ["together", "apart"] as const) {
      const { open: _, store } = world(how);
      let breaks = true;
      const echo = defineWorkflow({
        name: "echo",
        version: "1",
        input: z.object({ n: z.number() }),
        begin: ({ n }) => {
          if (breaks) throw new Error("no way");
          return { n };
        },
        flow: flow("echo", z.object({ n: z.number() }))
          .node("say", ({ n }) => ({ n: n + 1 }))
          .build(),
      });
      const desk = new Workflows({ store, definitions: [echo], keyring });
      const { runId } = await desk.start("echo", { n: 1 });
      expect((await desk.settled(runId)).failure?.code).toBe("begin-failed");
      await expect(desk.retry(runId)).rejects.toMatchObject({ code: "begin-failed" });
      expect((await desk.settled(runId)).failure?.code).toBe("begin-failed");
      breaks = false;
      expect(await desk.retry(runId)).toEqual({ status: "accepted", runId });
      expect((await desk.settled(runId)).status).toBe("completed");
      expect(await desk.output(echo, runId)).toEqual({ n: 2 });
    }
  });

  it("WF-29 WF-23 goes on from where its log stands once that can be read again", async () => {
    const { open, store } = world("together", failing(0));
    const desk = open();
    const { runId } = await desk.start("payment", input);
    const waits = await desk.settled(runId);
    const changed = defineWorkflow({
      name: "payment",
      version: "1",
      input: z.object({ orderId: z.string() }),
      flow: flow("payment", z.object({ orderId: z.string() }))
        .node("other", () => {})
        .build(),
    });
    const other = new Workflows({ store, definitions: [changed], keyring });
    await other.decide(waits.waitsFor[0]!.id, approve({ by: dana }));
    expect((await other.settled(runId)).failure?.code).toBe("graph-version-mismatch");
    await desk.retry(runId);
    expect((await desk.settled(runId)).status).toBe("completed");
  });

  it("WF-29 never begins anew where its log is gone", async () => {
    const { open, homes } = world("together");
    const desk = open();
    const { runId } = await desk.start("payment", input);
    await desk.settled(runId);
    const empty = { ...homes, log: memoryHome() };
    await expect(open(storesOn(empty)).retry(runId)).rejects.toMatchObject({ code: "log-missing" });
  });
});

const kinds: readonly FaultKind[] = ["die-before", "die-after", "fail", "lose-answer"];

async function failedRun(how: How) {
  const here = world(how);
  const desk = here.open();
  const { runId } = await desk.start("payment", input);
  await desk.settled(runId);
  return { ...here, runId };
}

/** How many commits a retry takes up to its next stop, undisturbed. */
async function commitsOfOne(how: How): Promise<number> {
  const { homes, open, runId } = await failedRun(how);
  const { store, commits } = faultyStores(homes, 0, "fail");
  const desk = open(store);
  await desk.retry(runId);
  await desk.settled(runId);
  return commits();
}

describe.each(["together", "apart"] as const)(
  "a retry whose process ends at any write",
  async (how) => {
    const commits = await commitsOfOne(how);
    const cases = kinds.flatMap((kind) =>
      Array.from({ length: commits }, (_, at) => ({ kind, at: at + 1 })),
    );

    it.each(cases)(
      `WF-29 WF-31 is retried or not, and never twice, after $kind at write $at, stores ${how}`,
      async ({ kind, at }) => {
        const { homes, open, effects, history, runId } = await failedRun(how);
        const faulty = faultyStores(homes, at, kind);
        const first = open(faulty.store);
        let told = false;
        const ended = first.retry(runId).then(
          () => ((told = true), first.waitIdle()),
          () => first.waitIdle(),
        );
        await Promise.race([faulty.died, ended]);

        const desk = open();
        await desk.adoptAll();
        await desk.waitIdle();
        const found = await desk.settled(runId);
        const retries = count(await history(runId), "run-retried");
        // What a caller was told stands; a retry that was not told may have begun all the same.
        expect(found.status).toBe(retries === 1 ? "interrupted" : "failed");
        expect(retries).toBeGreaterThanOrEqual(told ? 1 : 0);
        if (retries === 0) await desk.retry(runId);
        const waits = await desk.settled(runId);
        await desk.decide(waits.waitsFor[0]!.id, approve({ by: dana }));
        expect((await desk.settled(runId)).status).toBe("completed");
        expect([effects.looked, effects.keys.size]).toEqual([["A-17"], 1]);
        expect(count(await history(runId), "run-retried")).toBe(1);
      },
    );
  },
);
