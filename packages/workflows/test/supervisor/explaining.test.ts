import { approve } from "@holdpoint/flow";
import { expect, it } from "vitest";

import { Workflows } from "../../src/index.ts";
import { rest } from "../timed-clock.ts";
import { countingIds, dana, keyring, refunds } from "../world.ts";
import { desks, homeWith, leaseMs, supervisorStore } from "./desks.ts";
import { slowWork } from "./slow-work.ts";

const input = { orderId: "A-17" };

it("WF-34 explains a run that waits: for whom, what is missing, until when", async () => {
  const { activated } = desks();
  const desk = await activated();
  const { runId } = await desk.start("refund", input);
  const { waitsFor } = await desk.settled(runId);
  expect(await desk.explain(runId)).toEqual({
    runId,
    status: "interrupted",
    why: "waits-for-people",
    because: "it is interrupted under 'refund' of version 1: a person has to decide",
    movedBy: ["a decision on what it waits for"],
    questions: [
      {
        approvalId: waitsFor[0]!.id,
        tool: "node:refund.review",
        visit: "review#1",
        missing: 1,
        expiresAt: undefined,
      },
    ],
  });
  await desk.decide(waitsFor[0]!.id, approve({ by: dana }));
  await rest();
  expect(await desk.explain(runId)).toMatchObject({ why: "ended", movedBy: [], questions: [] });
  await expect(desk.explain("run-0")).rejects.toMatchObject({ code: "run-not-found" });
});

it("WF-34 explains a run at work, one that waits for its turn, and one that ends", async () => {
  const { definition, begun } = slowWork();
  const { openOf } = desks();
  const desk = openOf([definition], { workers: 1 });
  await desk.activate();
  const { runId: first } = await desk.start("slow", { order: "a" });
  const { runId: second } = await desk.start("slow", { order: "b" });
  await rest();
  expect((await desk.explain(first)).why).toBe("executing");
  expect((await desk.explain(second)).why).toBe("waits-for-a-slot");
  begun[0]!.end();
  await rest();
  expect((await desk.explain(second)).why).toBe("executing");
  await desk.cancel(second, { reason: "enough" });
  await rest();
  expect((await desk.explain(second)).why).toBe("ended");
});

it("WF-34 explains a run that nobody here moves: of another process, of nobody, of no session, skipped", async () => {
  const { activated, store, clock, effects, open, openOf } = desks();
  const owner = await activated();
  const { runId } = await owner.start("refund", input);
  const { waitsFor } = await owner.settled(runId);
  const other = await activated();
  expect((await other.explain(runId)).why).toBe("waits-for-people");
  const newer = openOf([refunds(effects, "2")], { session: "night" });
  expect(await newer.explain(runId)).toMatchObject({ why: "unknown-definition" });
  await owner.shutdown();
  expect(await open({ session: "night" }).explain(runId)).toMatchObject({
    why: "session-of-nobody",
    movedBy: ["any supervisor of that session"],
  });
  const ids = countingIds("inbox");
  const byHand = new Workflows({ store, definitions: [refunds(effects)], keyring, clock, ids });
  const { runId: loose } = await byHand.start("refund", input);
  await byHand.settled(loose);
  expect(await other.explain(loose)).toMatchObject({ why: "no-session" });
  await byHand.decide(waitsFor[0]!.id, approve({ by: dana }));
  await clock.advance(leaseMs);
  expect((await other.explain(runId)).why).toBe("ended");
});

it("WF-34 explains a run that is stuck, by the code of what it ran into", async () => {
  const { home, open } = desks();
  let isAway = false;
  const flaky = homeWith(home, (attemptId, writes) => {
    const isLog = writes.some(({ statement }) => statement === "log.append");
    return isAway && isLog
      ? Promise.reject(new Error("planned: away, with A-17 in its message"))
      : home.commit(attemptId, writes);
  });
  const desk = open({ store: supervisorStore(flaky) });
  await desk.activate();
  isAway = true;
  const { runId } = await desk.start("refund", input);
  await rest();
  const found = await desk.explain(runId);
  expect(found).toMatchObject({ why: "tried-again-later", status: "pending" });
  expect(found.because).toContain("it was left 1 times, the last for");
  expect(JSON.stringify(found)).not.toContain("A-17");
});
