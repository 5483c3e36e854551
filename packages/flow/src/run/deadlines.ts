/**
 * What ends by itself at a moment that is on record: a sleep, and a question that may be answered until then (WF-28).
 *
 * D1 The moment ends it once, in the commit that says so, whoever resumes the run at or after it, and whatever else is answered.
 * D2 At that very moment it is over: an answer that comes then is refused, and nothing is spent.
 */
import { errorInfo } from "@holdpoint/tools";

import { FlowError } from "../errors.ts";
import type { Settled } from "./journal.ts";
import type { LiveRun, NewEvent } from "./live.ts";
import { timeOf } from "./sleeping.ts";
import type { InterruptWait, SleepWait, Wait, Waiting } from "./wait.ts";

/** A wait that ends by itself. */
export type TimedWait = SleepWait | (InterruptWait & { readonly until: number });

/** What of this is over. */
export async function dueWaits(
  live: LiveRun,
  waits: readonly Waiting[],
): Promise<readonly Waiting<TimedWait>[]> {
  const timed = waits.filter(isTimed);
  if (timed.length === 0) return timed;
  const now = await timeOf(live);
  return timed.filter(({ wait }) => wait.until <= now);
}

/** What says so. */
export function firedBy(due: readonly Waiting<TimedWait>[]): NewEvent[] {
  return due.map(({ path, wait: { callId } }) => ({ type: "deadline-fired", visit: path, callId }));
}

/** D2 @throws FlowError `answer-expired` */
export function assertInTime(
  answered: readonly Waiting[],
  due: readonly Waiting<TimedWait>[],
  runId: string,
): void {
  for (const { path: node, wait } of answered) {
    const { callId: id } = wait;
    const over = due.find((each) => each.wait === wait);
    if (over === undefined) continue;
    const until = new Date(over.wait.until).toISOString();
    const message = `the answer to ${id} comes too late, and nothing is spent: it could be given until ${until}`;
    throw new FlowError("answer-expired", message, { runId, node, id });
  }
}

/** When it ends by itself; `undefined`: it does not. */
export function untilOf(wait: Wait): number | undefined {
  return wait.kind === "sleep" || wait.kind === "interrupt" ? wait.until : undefined;
}

/** What the code gets: a sleep is over, and nobody answered a question. */
export function endOf(wait: Wait, node: string): Settled | undefined {
  if (wait.kind === "sleep") return { ok: true, result: { form: "value", value: undefined } };
  if (wait.kind !== "interrupt" || wait.until === undefined) return undefined;
  const { name } = wait.id;
  const message = `nobody answered '${name}', which ${node} asked, in time`;
  const error = new FlowError("answer-expired", message, { node, interrupt: name });
  return { ok: false, error: errorInfo(error) };
}

function isTimed(waiting: Waiting): waiting is Waiting<TimedWait> {
  return untilOf(waiting.wait) !== undefined;
}
