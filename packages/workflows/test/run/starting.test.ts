import { memoryHome } from "@holdpoint/approvals";
import { approve, flow } from "@holdpoint/flow";
import { processKeyring } from "@holdpoint/seal";
import { describe, expect, it } from "vitest";
import { z } from "zod";

import { defineWorkflow, Workflows } from "../../src/index.ts";
import { storesOn } from "../faulty-stores.ts";
import { countingIds, dana, handClock, keyring, rita, world } from "../world.ts";

const input = { orderId: "A-17" };

describe("starting a run", () => {
  it("WF-12 answers the same key and input with the same run, whoever asks", async () => {
    const { open, effects } = world();
    const { desk } = open();
    const first = await desk.start("refund", input, { key: "k" });
    const again = await desk.start("refund", { orderId: "A-17" }, { key: "k" });
    const elsewhere = await open().desk.start("refund", input, { key: "k" });
    expect([again.runId, elsewhere.runId]).toEqual([first.runId, first.runId]);
    await desk.settled(first.runId);
    expect(effects.looked).toEqual(["A-17"]);
    expect((await desk.list()).items).toHaveLength(1);
    const other = await desk.start("refund", input, { key: "k2" });
    expect(other.runId).not.toBe(first.runId);
  });

  it("WF-12 refuses the same key with another input, and names the run that has it", async () => {
    const { open } = world();
    const { desk } = open();
    const { runId } = await desk.start("refund", input, { key: "k" });
    const other = desk.start("refund", { orderId: "B-1" }, { key: "k" });
    await expect(other).rejects.toMatchObject({ code: "start-key-taken", data: { runId } });
    await expect(other).rejects.toThrow(expect.not.objectContaining({ message: /B-1/ }));
    expect((await desk.list()).items).toHaveLength(1);
  });

  it("WF-12 R040 puts one run on record where many start under one key at once, and refuses the one with another input", async () => {
    const { open, effects } = world();
    const desks = Array.from({ length: 32 }, () => open().desk);
    const starts = desks.map((desk) => desk.start("refund", input, { key: "k" }));
    const other = open()
      .desk.start("refund", { orderId: "B-2" }, { key: "k" })
      .catch((error: unknown) => error);
    const views = await Promise.all(starts);
    expect(await other).toMatchObject({ code: "start-key-taken" });
    expect(new Set(views.map(({ runId }) => runId)).size).toBe(1);
    await Promise.all(desks.map((desk) => desk.waitIdle()));
    expect(effects.looked).toEqual(["A-17"]);
  });

  it("WF-12 has the run on record before anything executes", async () => {
    const { open, effects, store } = world();
    const { desk } = open();
    const { runId } = await desk.start("refund", input);
    const row = await store.runs.get("default", runId);
    expect(row?.values["status"]).toBe("pending");
    expect(effects.looked).toEqual([]);
    await desk.settled(runId);
    expect(effects.looked).toEqual(["A-17"]);
  });

  it("WF-02 sees to an input before the flow does", async () => {
    const { open, effects } = world();
    const { desk } = open();
    const wrong = { orderId: 7 } as never;
    await expect(desk.start("refund", wrong)).rejects.toMatchObject({
      code: "input-invalid",
      boundary: "input",
    });
    const more = { orderId: "A", note: "" } as never;
    await expect(desk.start("refund", more)).rejects.toMatchObject({ code: "input-invalid" });
    const odd = { orderId: () => "A" } as never;
    await expect(desk.start("refund", odd)).rejects.toMatchObject({
      issues: [{ path: "orderId" }],
    });
    expect((await desk.list()).items).toEqual([]);
    expect(effects.looked).toEqual([]);
  });

  it("WF-01 starts the newest version for a name, and an exact one for a definition", async () => {
    const clock = handClock();
    const home = memoryHome({ clock });
    const State = z.object({ by: z.string().optional() });
    const versions = ["1.9", "1.10"].map((version) =>
      defineWorkflow({
        name: "echo",
        version,
        input: z.object({}),
        flow: flow("echo", State, { version })
          .node("say", () => ({ by: version }))
          .build(),
      }),
    );
    const desk = new Workflows({
      store: storesOn({ approvals: home, log: home, runs: home }),
      definitions: versions,
      keyring,
      clock,
      ids: countingIds("versions"),
    });
    const newest = await desk.start("echo", {});
    const exact = await desk.start(versions[0]!, {});
    await desk.waitIdle();
    expect(await desk.output(versions[1]!, newest.runId)).toEqual({ by: "1.10" });
    expect(await desk.output(versions[0]!, exact.runId)).toEqual({ by: "1.9" });
    await expect(desk.output(versions[0]!, newest.runId)).rejects.toMatchObject({
      code: "run-not-completed",
    });
  });

  it("WF-11 keeps who started a run, and the rule that excludes them", async () => {
    const { open } = world();
    const { desk } = open();
    const looks = { ...rita } as never;
    await expect(desk.start("refund", input, { requestedBy: looks })).rejects.toMatchObject({
      code: "actor-not-authentic",
    });
    const { runId } = await desk.start("refund", input, { requestedBy: rita });
    expect((await desk.get(runId))?.startedBy).toEqual({ id: "rita", assurance: "none" });
  });

  it("WF-11 makes a run that can't begin a failed one, with its code", async () => {
    const clock = handClock();
    const home = memoryHome({ clock });
    const odd = defineWorkflow({
      name: "odd",
      version: "1",
      input: z.object({}),
      flow: flow("odd", z.object({}))
        .node("go", () => ({}))
        .build(),
      begin: () => {
        throw new Error("no order today");
      },
    });
    const desk = new Workflows({
      store: storesOn({ approvals: home, log: home, runs: home }),
      definitions: [odd],
      keyring,
      clock,
      ids: countingIds("odd"),
    });
    const { runId } = await desk.start("odd", {});
    expect(await desk.settled(runId)).toMatchObject({
      status: "failed",
      failure: { code: "begin-failed" },
    });
  });

  it("WF-12 refuses a start key, scope or session of another form", async () => {
    const { open, store } = world();
    const { desk } = open();
    await expect(desk.start("refund", input, { key: "a b" })).rejects.toMatchObject({
      code: "option-invalid",
    });
    for (const wrong of [{ scope: "a b" }, { session: "" }]) {
      const make = () => new Workflows({ store, definitions: [], keyring, ...wrong });
      expect(make).toThrow(expect.objectContaining({ code: "option-invalid" }));
    }
  });

  it("APR-28 refuses a key of this process where a store outlives it", () => {
    const home = memoryHome();
    const stores = storesOn({ approvals: home, log: home, runs: home });
    for (const name of ["approvals", "log", "runs"] as const) {
      const store = { ...stores, [name]: { ...stores[name], durable: true } };
      for (const own of [{}, { keyring: processKeyring() }]) {
        const make = () => new Workflows({ store, definitions: [], ...own });
        expect(make).toThrow(expect.objectContaining({ code: "key-required" }));
      }
    }
  });
});

describe("what another process does meanwhile", () => {
  it("WF-24 resumes a run once where two processes hear of one decision", async () => {
    const { open, effects } = world();
    const [one, two] = [open().desk, open().desk];
    const { runId } = await one.start("refund", input);
    const { waitsFor } = await one.settled(runId);
    const id = waitsFor[0]!.id;
    const taken = await Promise.all([
      one.decide(id, approve({ by: dana })),
      two.decide(id, approve({ by: dana })),
    ]);
    expect(taken.map(({ status }) => status).toSorted()).toEqual(["accepted", "already"]);
    const settled = await Promise.allSettled([one.settled(runId), two.settled(runId)]);
    expect(settled.some(({ status }) => status === "fulfilled")).toBe(true);
    await Promise.all([one.waitIdle(), two.waitIdle()]);
    expect((await one.get(runId))?.status).toBe("completed");
    expect(effects.paid).toHaveLength(1);
  });
});
