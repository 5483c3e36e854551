/**
 * A supervisor as a process of its own, to be killed and stopped: it says what it does by lines of JSON, and ends with its
 * standard input.
 */
import { appendFileSync } from "node:fs";
import process from "node:process";
import { setTimeout } from "node:timers/promises";

import { systemClock, type Clock } from "@holdpoint/approvals";
import { isWorkflowError, Supervisor } from "@holdpoint/workflows";

import { journeys, keyring } from "./journey.ts";
import type { Order, Said } from "./order.ts";
import { storeAt } from "./store.ts";

const order = JSON.parse(process.argv[2] ?? "{}") as Order;
const say = (said: Said): void => appendFileSync(order.saidFile, `${JSON.stringify(said)}\n`);

// A machine that stands still takes its clocks along: then nothing but the store can tell that the lease ran out.
const standing = { now: systemClock.now(), monotonic: systemClock.monotonic() };
const clock: Clock =
  order.clocks === "run"
    ? systemClock
    : { ...systemClock, now: () => standing.now, monotonic: () => standing.monotonic };

const { sessions, sessionsMax = sessions.length, workers, leaseMs, pollMs } = order;
const definition = journeys(order.effectsFile, order.stepMs, order.holdAt);
const desk = new Supervisor({
  store: await storeAt(order.place),
  definitions: [definition],
  keyring,
  sessions: { match: (session) => sessions.includes(session), max: sessionsMax },
  clock,
  workers,
  leaseMs,
  pollMs,
});

/** The epoch under which this process writes in a session, or wrote a moment ago. */
function epochOf(session: string): number {
  return desk.ready().sessions.find((each) => each.session === session)?.epoch ?? 0;
}

/** Runs that are started and have not ended: more of them would only queue, and be taken over by the hundred. */
const openMax = 1;

/** Starts runs without an end, whoever has the session, and says which of them were taken. */
async function storm(session: string): Promise<void> {
  const open = new Set<Promise<unknown>>();
  for (;;) {
    if (open.size >= openMax) await Promise.race([...open, setTimeout(50)]);
    const since = Date.now();
    try {
      const { runId } = await desk.start("journey", {}, { session });
      const ended = desk.settled(runId).finally(() => open.delete(ended));
      open.add(ended);
      say({ kind: "accepted", session, epoch: epochOf(session), since, at: Date.now() });
    } catch (error) {
      if (!isWorkflowError(error)) throw error;
      const { code } = error;
      say({ kind: "refused", session, epoch: epochOf(session), since, at: Date.now(), code });
    }
    await setTimeout(order.stepMs);
  }
}

process.stdin.on("end", () => process.exit(0)).resume();
await desk.activate();
for (const session of order.startIn) {
  for (let at = 0; at < order.runs; at += 1) {
    await desk.start("journey", {}, { session, key: `${session}-${at}` });
  }
}
say({ kind: "up", at: Date.now() });
if (order.storms) for (const session of sessions) void storm(session);
