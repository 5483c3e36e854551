// Questions that may be answered for so long, under a supervisor (WF-28).
import { defineInterrupt, flow, isFlowError } from "@holdpoint/flow";
import { describe, expect, it } from "vitest";
import { z } from "zod";

import { defineWorkflow, memoryOutbox, type Delivery } from "../../src/index.ts";
import { rest } from "../timed-clock.ts";
import { desks, homeWith, pollMs, supervisorStore } from "./desks.ts";

const dayMs = 86_400_000;
const Evidence = defineInterrupt({ name: "evidence", answer: z.strictObject({ url: z.string() }) });
const State = z.object({ end: z.string().optional() });

/** Asks for so long; nobody in time: it takes an edge, or fails. */
function claim(expiresInMs: number, elsewise: "edge" | "fail" = "edge") {
  const built = flow("claim", State)
    .node(
      "collect",
      async (_, ctx) => {
        try {
          return { end: (await ctx.ask(Evidence, undefined, { expiresInMs })).url };
        } catch (error) {
          if (elsewise === "fail" || !isFlowError(error, "answer-expired")) throw error;
          return { end: "late" };
        }
      },
      { asks: [Evidence] },
    )
    .node("remind", () => ({ end: "reminded" }))
    .node("file", () => ({}))
    .route("collect", ["remind", "file"], ({ end }) => (end === "late" ? "remind" : "file"))
    .build();
  const resume = z.strictObject({ url: z.string() });
  return defineWorkflow({ name: "claim", version: "1", input: State, resume, flow: built });
}

const payload = { url: "https://example.test/photo" };

describe("a question with a deadline, under a supervisor", () => {
  it("WF-28 R136 CASE-120 leads along its edge once, after 40 days and not before; row and log settle together", async () => {
    const definition = claim(40 * dayMs);
    const { openOf, clock, home } = desks();
    const desk = openOf([definition], { pollMs: 60_000, leaseMs: 3_600_000 });
    await desk.activate();
    const { runId } = await desk.start("claim", {});
    const { waitsFor } = await desk.settled(runId);
    const until = clock.now() + 40 * dayMs;
    expect(waitsFor).toMatchObject([{ kind: "interrupt", tool: "ask:evidence", until }]);
    expect(await desk.explain(runId)).toMatchObject({
      why: "waits-for-people",
      questions: [{ tool: "ask:evidence", expiresAt: until }],
    });
    const commits: string[][] = [];
    home.watch((applied) => commits.push(applied.map(({ table }) => table)));
    clock.leap(40 * dayMs - 3_600_000); // its lease is gone by then, and taken again at the next look
    await clock.advance(3_600_000 - 60_000);
    expect((await desk.get(runId))?.status).toBe("interrupted");
    expect(commits.filter((tables) => tables.includes("log"))).toEqual([]);
    await clock.advance(120_000);
    expect(await desk.output(definition, runId)).toEqual({ end: "reminded" });
    const [firing] = commits.filter((tables) => tables.includes("log"));
    expect(new Set(firing)).toEqual(new Set(["log", "runs"]));
    const fired = (await desk.history(runId)).filter(({ type }) => type === "deadline-fired");
    expect(fired).toHaveLength(1);
  });

  it("WF-28 R137 ends a run at activation, where nobody was running at that time and its code does not catch it", async () => {
    const definition = claim(60_000, "fail");
    const { openOf, clock } = desks();
    const first = openOf([definition]);
    await first.activate();
    const { runId } = await first.start("claim", {});
    await first.settled(runId);
    await first.shutdown();
    await clock.advance(dayMs);
    const second = openOf([definition]);
    const { adoptions } = await second.activate();
    expect(adoptions).toEqual([{ runId, did: "begun", how: "resume" }]);
    const { failure, waitsFor } = await second.settled(runId);
    expect(failure).toMatchObject({ code: "node-failed" });
    expect(failure?.message).toContain("nobody answered 'evidence'");
    expect(waitsFor).toEqual([]);
  });

  it("WF-28 WF-22 loses to an answer that came before it, and refuses one that comes after, before anybody looked", async () => {
    for (const isLate of [false, true]) {
      const definition = claim(60_000);
      const { openOf, clock } = desks();
      const desk = openOf([definition], { leaseMs: 600_000 });
      await desk.activate();
      const { runId } = await desk.start("claim", {});
      await desk.settled(runId);
      clock.leap(isLate ? 60_000 : 59_999);
      const said = await desk.resume(definition, runId, payload).then(
        ({ status }) => status,
        (error: { readonly code: string }) => error.code,
      );
      expect(said).toBe(isLate ? "answer-expired" : "accepted");
      const { status } = await desk.settled(runId);
      expect(status).toBe(isLate ? "interrupted" : "completed");
      await clock.advance(pollMs);
      await rest();
      const end = isLate ? "reminded" : payload.url;
      expect(await desk.output(definition, runId)).toEqual({ end });
    }
  });

  it("WF-28 WF-36 is told as expired, from the commit that says so; a sleep that is over is not told", async () => {
    const { openOf, clock, home } = desks();
    const nap = flow("nap", State)
      .node("nap", async (_, ctx) => {
        await ctx.sleep(60_000);
        return {};
      })
      .build();
    const naps = defineWorkflow({ name: "nap", version: "1", input: State, flow: nap });
    const told: Delivery[] = [];
    const watched = homeWith(home, (...how) => home.commit(...how));
    const store = { ...supervisorStore(watched), outbox: memoryOutbox(watched) };
    const notify = (delivery: Delivery) => void told.push(delivery);
    const desk = openOf([claim(60_000), naps], { store, notify });
    await desk.activate();
    const asked = await desk.start("claim", {});
    const slept = await desk.start("nap", {});
    await desk.waitIdle();
    await clock.advance(60_000 + pollMs);
    await desk.waitIdle();
    await rest();
    const kinds = (of: string) =>
      told.filter(({ runId }) => runId === of).map(({ kind, status }) => `${kind} ${status}`);
    expect(kinds(asked.runId).toSorted()).toEqual([
      "ended completed",
      "expired running",
      "waiting interrupted",
    ]);
    expect(kinds(slept.runId).toSorted()).toEqual(["ended completed", "waiting interrupted"]);
    expect(told.find(({ kind }) => kind === "expired")?.waitsFor).toEqual([]);
  });
});
