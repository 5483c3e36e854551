import { approve, type RunEvent } from "@holdpoint/flow";
import { expect, it } from "vitest";

import { activityOf, revisionAfter, type Activity } from "../../src/run/activity.ts";
import { dana, world } from "../world.ts";

it("WF-13 reads the same while it happens and later, in every process, without a gap", async () => {
  const here = world();
  const first = here.open().desk;
  const { runId } = await first.start("refund", { orderId: "SECRET-17" });
  const { waitsFor } = await first.settled(runId);
  const live = await first.history(runId, { limit: 500 });
  const second = here.open().desk;
  await second.decide(waitsFor[0]!.id, approve({ by: dana, note: "SECRET note" }));
  await second.settled(runId);
  const later = await here.open().desk.history(runId, { limit: 500 });
  expect(later.slice(0, live.length)).toEqual(live);
  expect(later.map(({ revision }) => revision)).toEqual(later.map((_, at) => at + 1));
  expect(later.map(({ id }) => id)).toEqual(later.map((_, at) => `${runId}/${at + 1}`));
  const texts = later.map(({ text }) => text);
  expect(texts).toContain("asks for approval of node:refund.review");
  expect(texts).toContain("approved by dana");
  expect(texts).toContain("called look_up");
  expect(texts.at(-1)).toBe("completed");
  expect(JSON.stringify(later)).not.toContain("SECRET");
  expect(JSON.stringify(later)).not.toContain("20000");
});

it("WF-13 is paged after a revision or after an event, and by nothing else", async () => {
  const { desk } = world().open();
  const { runId } = await desk.start("refund", { orderId: "A-17" });
  await desk.settled(runId);
  const all = await desk.history(runId, { limit: 500 });
  expect(await desk.history(runId, { after: 3, limit: 2 })).toEqual(all.slice(3, 5));
  expect(await desk.history(runId, { after: all[2]!.id, limit: 2 })).toEqual(all.slice(3, 5));
  expect(await desk.history(runId, { after: all.at(-1)!.id })).toEqual([]);
  for (const after of ["", "3", "run-2/3", `${runId}/`, `${runId}/03`, `${runId}/3x`, -1, 0.5]) {
    await expect(desk.history(runId, { after })).rejects.toMatchObject({ code: "cursor-invalid" });
  }
  expect(revisionAfter("a/b", "a/b/7")).toBe(7);
});

it("WF-13 keeps a line short, whatever is in it", () => {
  const by = { id: "x".repeat(5_000), assurance: "none" } as const;
  const decision = { approved: false, by, at: 1 };
  const answer = {
    kind: "approval" as const,
    visit: "a#1",
    callId: "c",
    approvalId: undefined,
    argumentsDigest: "d",
    decision,
  };
  const event = { type: "answered", at: 1, attemptId: "a", answers: [answer] } as const;
  expect(activityOf(event, "run-1", 7).text).toHaveLength(512);
});

const stamp = { at: 1, attemptId: "a" } as const;
const person = { id: "dana", assurance: "verified" } as const;
const call = { name: "pay", key: "k" };

it.each<readonly [RunEvent, Partial<Activity>]>([
  [
    eventOf({ type: "call-dropped", visit: "pay#1", callId: "c", tool: "pay" }),
    { text: "dropped pay", visit: "pay#1" },
  ],
  [
    eventOf({ type: "in-doubt", visit: "pay#1", wait: { started: { id: call } } }),
    { text: "does not know whether it called pay", visit: "pay#1", tool: "pay" },
  ],
  [eventOf({ type: "cancelled", reason: "SECRET", by: person }), { text: "cancelled", by: "dana" }],
  [eventOf({ type: "cancelled", reason: "SECRET" }), { text: "cancelled" }],
  [eventOf({ type: "run-retried", by: person }), { text: "retried", by: "dana" }],
  [eventOf({ type: "answered", answers: [] }), { text: "" }],
  [
    eventOf({
      type: "answered",
      answers: [{ kind: "interrupt", visit: "ask#1", callId: "c", payload: "SECRET", by: person }],
    }),
    { text: "answered by dana", visit: "ask#1", by: "dana" },
  ],
  [
    eventOf({
      type: "answered",
      answers: [{ kind: "interrupt", visit: "ask#1", callId: "c", payload: "SECRET" }],
    }),
    { text: "answered", visit: "ask#1" },
  ],
])(
  "WF-13 says what happened, by whom and where, and nothing of what it was about: %j",
  (event, says) => {
    const told = activityOf(event, "run-1", 7);
    expect(told).toEqual({ id: "run-1/7", revision: 7, at: 1, type: event.type, ...says });
    expect(JSON.stringify(told)).not.toContain("SECRET");
  },
);

/** An event of which only what is told matters here. */
function eventOf(event: object): RunEvent {
  return { ...stamp, ...event } as RunEvent;
}
