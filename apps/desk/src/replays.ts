import type { Desk } from "./desk.ts";
import type { Payment } from "./provider.ts";

/**
 * Calls that a run's code made again after a pause and that were answered from its log: each call that stood finished in a
 * visit when a person's answer let that visit's code run again from its top.
 */
export async function replayedCalls(desk: Desk): Promise<number> {
  let replayed = 0;
  for (const runId of (await desk.runIds()).values()) {
    const finished = new Map<string, number>();
    for (const { type, visit = "" } of await desk.history(runId)) {
      const before = finished.get(visit) ?? 0;
      if (type === "call-finished") finished.set(visit, before + 1);
      if (type === "answered") replayed += before;
    }
  }
  return replayed;
}

/** How many payments the desk knows of: those whose end is in the log of their run. */
export async function knownPayments(desk: Desk, payments: readonly Payment[]): Promise<number> {
  const runIds = await desk.runIds();
  let known = 0;
  for (const { request } of payments) {
    const history = await desk.history(runIds.get(request) ?? request);
    const ended = history.some(
      ({ type, visit }) => type === "call-finished" && visit?.startsWith("pay#"),
    );
    if (ended) known += 1;
  }
  return known;
}
