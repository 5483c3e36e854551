import type { ApprovalView } from "@holdpoint/approvals";

import type { Outcome } from "./books.ts";
import type { Desk, Standing } from "./desk.ts";
import type { RefundRequest } from "./requests.ts";

/** How each request stands, by its run and its records; nothing goes on because it was looked at. */
export async function outcomesOf(
  desk: Desk,
  requests: readonly RefundRequest[],
  approvals: readonly ApprovalView[],
): Promise<ReadonlyMap<string, Outcome>> {
  const denied = new Set(
    approvals.filter(({ decision }) => decision?.approved === false).map(({ runId }) => runId),
  );
  const outcomes = new Map<string, Outcome>();
  for (const { id } of requests) outcomes.set(id, outcomeOf(await desk.look(id), denied.has(id)));
  return outcomes;
}

function outcomeOf(standing: Standing, denied: boolean): Outcome {
  if (standing.status === "set-aside") return standing;
  if (standing.status === "paused") return { status: "waiting" };
  const { payment, amount } = standing.state;
  if (payment === undefined || amount === undefined) {
    return { status: denied ? "denied" : "refused" };
  }
  return { status: "paid", payment, amount };
}

/**
 * Calls that a run's code made again after a pause and that were answered from its log: each call that stood finished in a
 * visit when a person's answer let that visit's code run again from its top.
 */
export async function replayedCalls(
  desk: Desk,
  requests: readonly RefundRequest[],
): Promise<number> {
  let replayed = 0;
  for (const { id } of requests) {
    const finished = new Map<string, number>();
    for (const event of await desk.history(id)) {
      if (event.type === "call-finished") {
        finished.set(event.visit, (finished.get(event.visit) ?? 0) + 1);
      }
      if (event.type !== "answered") continue;
      for (const { visit } of event.answers) replayed += finished.get(visit) ?? 0;
    }
  }
  return replayed;
}

/** Payments that the bank has made and the desk's log does not know of: at most the one that a crash cut off. */
export async function unknownPayments(
  desk: Desk,
  payments: readonly { readonly id: string; readonly request: string }[],
): Promise<readonly string[]> {
  const unknown: string[] = [];
  for (const { id, request } of payments) {
    const events = await desk.history(request);
    const known = events.some(
      (event) => event.type === "call-finished" && event.call.name === "pay_back",
    );
    if (!known) unknown.push(id);
  }
  return unknown;
}
