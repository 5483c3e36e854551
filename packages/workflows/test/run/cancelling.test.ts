import { approve, flow } from "@holdpoint/flow";
import { defineTool } from "@holdpoint/tools";
import { describe, expect, it } from "vitest";
import { z } from "zod";

import { defineWorkflow, Workflows } from "../../src/index.ts";
import { faultyStores, storesOn } from "../faulty-stores.ts";
import { slowWork } from "../supervisor/slow-work.ts";
import { rest } from "../timed-clock.ts";
import { countingIds, dana, keyring, rita, world } from "../world.ts";

const input = { orderId: "A-17" };

describe("cancelling a run", () => {
  it("WF-26 CASE-144 ends a waiting run and withdraws what waits in one commit", async () => {
    const { open, homes, effects } = world();
    const first = open().desk;
    const { runId } = await first.start("refund", input);
    const { waitsFor } = await first.settled(runId);
    const { desk } = open();
    const commits: string[][] = [];
    homes.runs.watch((applied) => commits.push(applied.map(({ table }) => table)));
    const view = await desk.cancel(runId, { reason: "duplicate", by: rita });
    expect(view).toMatchObject({
      status: "cancelled",
      cancelled: { reason: "duplicate", by: { id: "rita" } },
      waitsFor: [],
    });
    expect(commits).toHaveLength(1);
    expect(new Set(commits[0])).toEqual(new Set(["approvals", "approvalAudit", "log", "runs"]));
    await expect(desk.decide(waitsFor[0]!.id, approve({ by: dana }))).rejects.toMatchObject({
      code: "approval-already-decided",
    });
    expect(effects.paid).toEqual([]);
  });

  it("WF-26 leaves a run that has ended, and answers how", async () => {
    const { open } = world();
    const { desk } = open();
    const { runId } = await desk.start("refund", input);
    await desk.settled(runId);
    const first = await desk.cancel(runId, { reason: "first" });
    expect(await desk.cancel(runId, { reason: "second" })).toEqual(first);
    expect(first.cancelled).toEqual({ reason: "first", by: undefined });
  });

  it("WF-10 cancels a run that nobody began, without a log", async () => {
    const here = world();
    const { store, died } = faultyStores(here.homes, 1, "die-after");
    void here.open(store).desk.start("refund", input);
    await died;
    const { desk } = here.open();
    const [{ runId } = { runId: "" }] = (await desk.list()).items;
    expect((await desk.cancel(runId, { reason: "x".repeat(600) })).cancelled?.reason).toHaveLength(
      512,
    );
    expect(await here.store.log.head("default", runId)).toBe(0);
    expect(await desk.adoptAll()).toEqual([]);
  });

  it("WF-26 stops a run at work: its tool is told, and it ends cancelled", async () => {
    const { store, clock } = world();
    const signals: AbortSignal[] = [];
    let began: () => void = () => undefined;
    const beginning = new Promise<void>((resolve) => (began = resolve));
    const slow = defineTool({
      name: "slow",
      description: "Waits until it is told to stop.",
      input: z.object({}),
      execute: (_, { signal }) => {
        signals.push(signal);
        began();
        return new Promise<void>((_resolve, reject) => {
          signal.addEventListener("abort", () => reject(new Error("stopped")));
        });
      },
    });
    const definition = defineWorkflow({
      name: "slow",
      version: "1",
      input: z.object({}),
      flow: flow("slow", z.object({})).call("wait", slow, { args: {} }).build(),
    });
    const desk = new Workflows({
      store,
      definitions: [definition],
      keyring,
      clock,
      ids: countingIds("slow"),
    });
    const { runId } = await desk.start("slow", {});
    await beginning;
    expect(await desk.cancel(runId, { reason: "enough" })).toMatchObject({
      status: "cancelled",
      cancelled: { reason: "enough" },
    });
    expect(signals[0]?.aborted).toBe(true);
    expect(await desk.settled(runId)).toMatchObject({ status: "cancelled" });
  });
});

describe("cancelling by hand, and a crash", () => {
  it("WF-26 keeps the wish over it: whoever adopts the run ends it, for that reason", async () => {
    const here = world();
    let isDead = false;
    const dying = Object.assign(Object.create(here.homes.log) as typeof here.homes.log, {
      commit: async (...[attemptId, writes]: Parameters<typeof here.homes.log.commit>) => {
        if (isDead) return new Promise<never>(() => undefined);
        isDead = writes.length === 1 && writes[0]!.values["status"] === "running"; // the wish alone
        return here.homes.log.commit(attemptId, writes);
      },
    });
    const { definition } = slowWork();
    const over = (home: typeof here.homes.log, prefix: string) =>
      new Workflows({
        store: storesOn({ approvals: home, log: home, runs: home }),
        definitions: [definition],
        keyring,
        clock: here.clock,
        ids: countingIds(prefix),
      });
    const first = over(dying, "first");
    const { runId } = await first.start("slow", { order: "a" });
    await rest();
    void first.cancel(runId, { reason: "enough", by: rita });
    await rest();
    expect(isDead).toBe(true);
    const second = over(here.homes.log, "second");
    expect(await second.adoptAll()).toEqual([{ runId, did: "ended", status: "cancelled" }]);
    expect((await second.get(runId))?.cancelled).toMatchObject({ reason: "enough" });
  });
});

describe("resuming with a payload", () => {
  it("WF-04 WF-22 refuses one, by code, and spends nothing", async () => {
    const { open, effects } = world();
    const { desk, refund } = open();
    const { runId } = await desk.start("refund", input);
    const payload = {} as never;
    await expect(desk.resume(refund, runId, payload)).rejects.toMatchObject({
      code: "status-wrong",
    });
    const waiting = await desk.settled(runId);
    await expect(desk.resume(refund, runId, payload)).rejects.toMatchObject({
      code: "resume-not-taken",
    });
    await expect(desk.resume(refund, "run-0", payload)).rejects.toMatchObject({
      code: "run-not-found",
    });
    expect(await desk.get(runId)).toEqual(waiting);
    expect(effects.paid).toEqual([]);
  });
});
