import type { CancelTimer, Clock } from "@holdpoint/approvals";

import { WorkflowError } from "../errors.ts";
import { abortedMsMax } from "../limits.ts";
import type { Hold } from "./hold.ts";
import type { Wiring } from "./wiring.ts";

/** What a shutdown left. */
export interface Shutdown {
  /** Sessions that were given back; whoever stands by has them at once. */
  readonly released: readonly string[];
  /** Sessions that lapse by themselves: something of them is still under way, or the store could not be told. */
  readonly lapsing: readonly string[];
  /** Runs that were cut off: whoever takes their session goes on with them. */
  readonly cutOff: readonly string[];
}

/**
 * Ends holds within `timeoutMs`: first by waiting for their runs, then by telling them to stop (WF-27). A lease is given back
 * only where nothing under it can write any more.
 */
export async function shutDown(
  { base: { clock, logger } }: Wiring,
  holds: readonly Hold[],
  timeoutMs: number,
): Promise<Shutdown> {
  const idle = Promise.all(holds.map(({ parts }) => parts.lanes.allIdle()));
  const stopMs = Math.min(abortedMsMax, timeoutMs / 2);
  await within(clock, timeoutMs - stopMs, idle);
  const cutOff = holds.flatMap(({ parts }) => parts.lanes.runs);
  const reason = new WorkflowError("not-active", "the supervisor is being shut down");
  for (const { parts } of holds) parts.lanes.close(reason);
  await within(clock, stopMs, idle);
  const released: string[] = [];
  const lapsing: string[] = [];
  for (const hold of holds) {
    const { session } = hold;
    const isQuiet = hold.parts.lanes.runs.length === 0;
    const isFree = isQuiet && (await givenBack(hold));
    if (!isFree) hold.lose();
    (isFree ? released : lapsing).push(session);
  }
  for (const session of lapsing)
    logger.warn("a session was not given back, and lapses", { session });
  return { released, lapsing, cutOff };
}

async function givenBack(hold: Hold): Promise<boolean> {
  try {
    await hold.release();
    return true;
  } catch {
    return false; // the store is away
  }
}

/** Waits for a promise, but no longer than this. */
function within(clock: Clock, ms: number, promise: Promise<unknown>): Promise<void> {
  return new Promise((resolve) => {
    let cancel: CancelTimer = () => undefined;
    const done = (): void => {
      cancel();
      resolve();
    };
    cancel = clock.timer(ms, done);
    void promise.finally(done);
  });
}
