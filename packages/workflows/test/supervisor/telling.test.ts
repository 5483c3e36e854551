import { approve, deny, flow } from "@holdpoint/flow";
import { describe, expect, it } from "vitest";
import { z } from "zod";

import { defineWorkflow, memoryOutbox, type Delivery, type NotifyPort } from "../../src/index.ts";
import { rest } from "../timed-clock.ts";
import { dana } from "../world.ts";
import { desks, homeWith, leaseMs, pollMs, supervisorStore } from "./desks.ts";

const input = { orderId: "SECRET-17" };

type Home = ReturnType<typeof desks>["home"];
const withOutbox = (home: Home) => ({ ...supervisorStore(home), outbox: memoryOutbox(home) });

/** A port that writes down what it is told, and fails as often as it is asked to. */
function inbox(failures = 0) {
  const told: { readonly delivery: Delivery; readonly attempt: number }[] = [];
  let left = failures;
  const notify: NotifyPort = (delivery, { attempt }) => {
    told.push({ delivery, attempt });
    if ((left -= 1) >= 0) throw new Error("planned: the mail server is away");
  };
  const kinds = () => told.map(({ delivery }) => `${delivery.kind} ${delivery.status}`);
  return { told, notify, kinds };
}

describe("telling somebody", () => {
  it("WF-36 hands over each move to waiting, decided, ended, under ids that stay, without data", async () => {
    const { home, open } = desks();
    const { told, notify, kinds } = inbox();
    const desk = open({ store: withOutbox(home), notify });
    await desk.activate();
    const { runId } = await desk.start("refund", input);
    const { waitsFor } = await desk.settled(runId);
    await rest();
    expect(kinds()).toEqual(["waiting interrupted"]);
    expect(told[0]!.delivery).toMatchObject({
      runId,
      definition: "refund",
      session: "desk",
      waitsFor: [{ id: waitsFor[0]!.id, tool: "node:refund.review" }],
    });
    await desk.decide(waitsFor[0]!.id, approve({ by: dana, note: "SECRET" }));
    await rest();
    expect(kinds().slice(1).toSorted()).toEqual(["decided running", "ended completed"]);
    const ids = told.map(({ delivery }) => delivery.id);
    expect(new Set(ids).size).toBe(3);
    for (const { delivery, attempt } of told) {
      expect(delivery.id).toBe(`${runId}/${delivery.revision}/${delivery.kind}`);
      expect(attempt).toBe(1);
    }
    expect(JSON.stringify(told)).not.toContain("SECRET");
    expect(home.rows("outbox", "default").map(({ values }) => values["state"])).toEqual(
      Array(3).fill("done"),
    );
  });

  it("WF-36 puts what is told into the commit of the move itself", async () => {
    const { home, open } = desks();
    const { notify } = inbox();
    const desk = open({ store: withOutbox(home), notify });
    await desk.activate();
    const commits: string[][] = [];
    home.watch((applied) =>
      commits.push(
        applied.map(({ table, row }) => `${table} ${String(row.values["status"] ?? "")}`),
      ),
    );
    const { runId } = await desk.start("refund", input);
    const { waitsFor } = await desk.settled(runId);
    await desk.decide(waitsFor[0]!.id, deny({ by: dana }));
    await desk.waitIdle();
    for (const status of ["interrupted", "failed"]) {
      const move = commits.find((rows) => rows.includes(`runs ${status}`));
      expect(move).toContain("outbox ");
    }
    await rest();
  });

  it("WF-36 CASE-130 hands over after a crash what was not, and again what may have been, under the same id", async () => {
    for (const dies of ["before", "after"] as const) {
      const { home, open, clock } = desks();
      let isDead = false;
      const first: string[] = [];
      const dying = homeWith(home, async (attemptId, writes) => {
        if (isDead) return new Promise(() => undefined);
        const outcome = await home.commit(attemptId, writes);
        // It dies with the move's commit, or while the port is told.
        isDead =
          dies === "before" && writes.some(({ values }) => values["status"] === "interrupted");
        return outcome;
      });
      const one = open({
        store: withOutbox(dying),
        notify: ({ id }) => {
          first.push(id);
          isDead = true;
        },
      });
      await one.activate();
      const { runId } = await one.start("refund", input);
      await rest();
      expect(first).toHaveLength(dies === "before" ? 0 : 1);
      await clock.advance(2 * leaseMs);
      const { told, notify } = inbox();
      const two = open({ store: withOutbox(home), notify });
      await two.activate();
      await rest();
      expect(told.map(({ delivery }) => delivery.kind)).toEqual(["waiting"]);
      const ids = new Set([...first, told[0]!.delivery.id]);
      expect(ids.size).toBe(1);
      expect(told[0]!.delivery.runId).toBe(runId);
    }
  });

  it("WF-36 asks a failing port again after a pause that doubles, and holds no run for it", async () => {
    const { home, open, clock, logged } = desks();
    const { told, notify } = inbox(3);
    const desk = open({ store: withOutbox(home), notify, pollMs: 500 });
    await desk.activate();
    const { runId } = await desk.start("refund", input);
    expect((await desk.settled(runId)).status).toBe("interrupted");
    const at: number[] = [];
    for (let step = 0; step < 40; step += 1) {
      const { length } = told;
      await clock.advance(500);
      if (told.length > length) at.push(clock.now());
    }
    const attempts = told.map(({ attempt }) => attempt);
    expect(attempts).toEqual([1, 2, 3, 4]);
    expect(new Set(told.map(({ delivery }) => delivery.id)).size).toBe(1);
    const [a = 0, b = 0, c = 0] = at;
    expect([b - a, c - b]).toEqual([2_000, 4_000]);
    expect(logged.filter(({ message }) => message.includes("a delivery failed"))).toHaveLength(3);
    expect(JSON.stringify(logged)).not.toContain("mail server");
  });

  it("WF-36 gives up on a port that hangs, tells it so, and asks it again", async () => {
    const { home, open, clock } = desks();
    const signals: AbortSignal[] = [];
    const notify: NotifyPort = (_, { signal }) => {
      signals.push(signal);
      return signals.length === 1 ? new Promise<void>(() => undefined) : undefined;
    };
    const desk = open({ store: withOutbox(home), notify });
    await desk.activate();
    const { runId } = await desk.start("refund", input);
    await desk.settled(runId);
    await clock.advance(29_999);
    expect(signals.map(({ aborted }) => aborted)).toEqual([false]);
    await clock.advance(2 * pollMs);
    expect(signals.map(({ aborted }) => aborted)).toEqual([true, false]);
  });

  it("WF-36 WF-27 tells nobody after its supervisor ended, though it had taken the row, and another tells it", async () => {
    const { home, open, clock } = desks();
    const { told, notify } = inbox();
    let end: (() => void) | undefined;
    const ending = homeWith(home, async (attemptId, writes) => {
      const known = await home.commit(attemptId, writes);
      if (writes.some(({ values }) => values["tries"] === 1)) end?.();
      return known;
    });
    const desk = open({ store: withOutbox(ending), notify });
    await desk.activate();
    end = () => void desk.shutdown();
    const { runId } = await desk.start("refund", input);
    await desk.settled(runId);
    await clock.advance(pollMs);
    expect(told).toEqual([]);
    end = undefined;
    await open({ store: withOutbox(home), notify }).activate();
    await clock.advance(2 * 60_000);
    expect(told.map(({ delivery, attempt }) => [delivery.runId, attempt])).toEqual([[runId, 2]]);
  });

  it("WF-36 has one of several supervisors hand a move over", async () => {
    const { home, open, clock } = desks();
    const { told, notify } = inbox(5); // the first five fail, and fall due for both at the same look
    const [one, two] = [
      open({ store: withOutbox(home), notify }),
      open({ store: withOutbox(home), notify }),
    ];
    await one.activate();
    await two.activate();
    for (let at = 0; at < 5; at += 1) await one.start("refund", { orderId: `A-${at}` });
    await clock.advance(3 * pollMs);
    expect(told.map(({ attempt }) => attempt)).toEqual([1, 1, 1, 1, 1, 2, 2, 2, 2, 2]);
    expect(new Set(told.map(({ delivery }) => delivery.id)).size).toBe(5);
  });

  it("WF-36 tells that a time ran out, and how a run ended that nobody could trust", async () => {
    const { home, openOf, clock } = desks();
    const State = z.object({ end: z.string().optional() });
    const gated = flow("gated", State)
      .gate("review", { payload: () => ({}), expiresInMs: 60_000 })
      .build();
    const definition = defineWorkflow({ name: "gated", version: "1", input: State, flow: gated });
    const { told, notify } = inbox();
    const desk = openOf([definition], { store: withOutbox(home), notify });
    await desk.activate();
    await desk.start("gated", {});
    const { runId: broken } = await desk.start("gated", {});
    await rest();
    const [entry] = home.rows("log", "default", { prefix: `${broken}/` });
    const forged = {
      ...entry!.values,
      text: String(entry!.values["text"]).replace("gated", "g4ted"),
    };
    const put = { statement: "log.append", scope: "default", key: entry!.key };
    await home.commit("forger", [{ ...put, expect: entry!.version, values: forged }]);
    await clock.advance(60_000 + pollMs);
    const kinds = told.map(({ delivery }) => `${delivery.kind} ${delivery.status}`).toSorted();
    expect(kinds).toEqual([
      "ended failed",
      "ended failed",
      "expired running",
      "waiting interrupted",
      "waiting interrupted",
    ]);
    const [last] = told.filter(({ delivery }) => delivery.runId === broken).slice(-1);
    expect(last?.delivery.kind).toBe("ended");
  });

  it("WF-36 hands over nothing whose row was changed", async () => {
    const { home, open, clock, logged } = desks();
    const { told, notify } = inbox(1);
    const desk = open({ store: withOutbox(home), notify });
    await desk.activate();
    const { runId } = await desk.start("refund", input);
    await desk.settled(runId);
    await rest();
    const [row] = home.rows("outbox", "default");
    const sealed = String(row!.values["sealed"]).replace("waiting", "decided");
    const put = { statement: "outbox.put", scope: "default", key: row!.key, expect: row!.version };
    await home.commit("forger", [{ ...put, values: { ...row!.values, sealed } }]);
    await clock.advance(10 * pollMs);
    expect(told).toHaveLength(1);
    expect(logged).toContainEqual(expect.objectContaining({ code: "record-tampered" }));
  });

  it("WF-36 is refused without an outbox beside the log", () => {
    const { open, home } = desks();
    const { notify } = inbox();
    expect(() => open({ notify })).toThrow(expect.objectContaining({ code: "option-invalid" }));
    const store = { ...supervisorStore(home), outbox: memoryOutbox() };
    expect(() => open({ store, notify })).toThrow(
      expect.objectContaining({ code: "option-invalid" }),
    );
  });
});
