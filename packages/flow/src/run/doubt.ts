/**
 * Calls of which nobody knows whether they ran: begun, and without an end on record (FLOW-76).
 *
 * B1 Such a call is never entered again by itself, unless its tool was and is idempotent.
 * B2 A person says what became of it: it ran, and gave this; it did not run, and may be entered; or it counts as failed.
 * B3 Each doubt has an id of its own, so that a late answer to an earlier one answers nothing.
 */
import { digestText } from "@holdpoint/seal";

import { identityText } from "./identity.ts";
import type { Started } from "./journal.ts";
import type { LiveRun } from "./live.ts";
import type { InDoubtWait } from "./wait.ts";

/**
 * Puts a doubt on record. `asked`: whether the code, run again, still asks for the call; `order`: its place among what the
 * execution asked for.
 */
export function raiseDoubt(
  live: LiveRun,
  visit: string,
  started: Started,
  { asked, order }: { readonly asked: boolean; readonly order: number },
): void {
  const callId = doubtIdOf(live.state.seed.runId, visit, started);
  const requestedAt = live.parts.clock.now();
  const wait: InDoubtWait = { kind: "in-doubt", callId, started, asked, order, requestedAt };
  live.emit({ type: "in-doubt", visit, wait });
}

/** B3 */
function doubtIdOf(runId: string, visit: string, { id, doubts = 0 }: Started): string {
  return digestText(`doubt\0${runId}\0${visit}\0${identityText(id)}\0${doubts}`);
}
