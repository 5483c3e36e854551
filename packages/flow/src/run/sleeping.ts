/**
 * A pause that a deadline ends (WF-28).
 *
 * T1 When it ends is worked out once, and on record: a re-run waits for that very moment, whatever the clock says by then.
 * T2 Nothing waits in this process: the run pauses, and whoever resumes it at or after that moment goes on.
 * T3 With a log the time is the store's, which all processes share; without one, the process's.
 */
import { digestText } from "@holdpoint/seal";
import { errorInfo } from "@holdpoint/tools";

import { FlowError } from "../errors.ts";
import type { Made } from "./identity.ts";
import type { LiveRun } from "./live.ts";
import type { Begin } from "./scope.ts";
import type { SleepWait } from "./wait.ts";

/** Where a sleep begins. */
interface SleepSite {
  readonly live: LiveRun;
  readonly visit: string;
  /** Whether the execution is over, or cut off. */
  readonly over: boolean;
}

/** The last moment that a date can name, in milliseconds since 1970. */
const latest = 8.64e15;

/** T3 */
export async function timeOf({ parts }: LiveRun): Promise<number> {
  return parts.log === undefined ? parts.clock.now() : parts.log.now();
}

/** Sleeps until a moment, or for so many milliseconds from now; no time at all ends at once. */
export function beginSleeping(site: SleepSite, until: Date | number): Begin {
  // Taken now: a date can be changed.
  const isDate = until instanceof Date;
  const span = isDate ? until.getTime() : until;
  return async (made, { wait }) => {
    if (wait !== undefined) return undefined; // T1
    const now = await timeOf(site.live);
    const at = isDate ? span : now + span;
    if (typeof span !== "number" || !(at <= latest))
      return { ok: false, error: errorInfo(noTime(site)) };
    if (at <= now) return { ok: true, result: { form: "value", value: undefined } };
    if (site.over) return undefined;
    site.live.emit({ type: "sleeping", visit: site.visit, wait: waitOf(site, made, at, now) });
    return undefined;
  };
}

function waitOf({ live, visit }: SleepSite, made: Made, until: number, now: number): SleepWait {
  const { runId } = live.state.seed;
  const callId = digestText(`sleep\0${runId}\0${visit}\0${made.number}`);
  return {
    kind: "sleep",
    id: made,
    callId,
    until: Math.ceil(until),
    requestedAt: now,
    order: made.order,
  };
}

function noTime({ visit: node }: SleepSite): FlowError {
  const message = `${node} sleeps until a moment that no date can name: give a date, or milliseconds from now`;
  return new FlowError("input-invalid", message, { node });
}
