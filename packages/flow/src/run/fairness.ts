import { eventLoopTurn, type Clock } from "@holdpoint/approvals";

/**
 * How long this thread works on durable runs before everything else in the process gets its turn, in milliseconds. A store
 * in the process answers at once, so a queue of runs would otherwise keep a server from answering until it is empty.
 */
const workMs = 5;

/** When the event loop last had a turn; there is one loop, whatever the number of runners. */
let turnedAt = 0;

/** A turn of the event loop, where one is due; else nothing to wait for. */
export function fairTurn(clock: Clock): Promise<void> | undefined {
  const now = clock.monotonic();
  const worked = now - turnedAt;
  // A clock that reads less than before is another clock: nothing is known of it.
  if (worked >= 0 && worked < workMs) return undefined;
  turnedAt = now;
  return eventLoopTurn();
}
