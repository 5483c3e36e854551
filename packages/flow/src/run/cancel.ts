import type { ActorRef } from "@holdpoint/approvals";

import { terminal } from "../checkpoint/open.ts";
import type { LiveRun } from "./live.ts";
import { openWaits } from "./pending.ts";
import { withdrawAll } from "./spend.ts";
import { giveBack, takeOnce } from "./spent.ts";

/** The longest reason that is kept, in characters. */
const reasonCharsMax = 512;

/**
 * Ends a run by hand (FLOW-78): what waits is withdrawn in the commit that says so, where one database holds both. Repeated,
 * it changes nothing. @throws FlowError `resume-terminal`
 */
export async function cancelRun(
  live: LiveRun,
  how: { readonly reason: string; readonly by?: ActorRef },
): Promise<void> {
  const { phase, seed } = live.state;
  if (phase.is === "ended") {
    if (phase.how === "cancelled") return;
    throw terminal(seed.runId, phase.how);
  }
  // A portable checkpoint has no place to say so but this process's memory, and its records.
  if (live.mac !== undefined) {
    const before = takeOnce(live.mac, { use: "cancelled" }, live.parts.clock.now());
    if (before?.use === "cancelled") return;
    if (before?.use === "resumed")
      throw terminal(seed.runId, "resumed from this checkpoint already");
  }
  try {
    const waits = openWaits(live.state).map(({ wait }) => wait);
    await withdrawAll(live, waits, "cancelled");
    live.emit({ type: "cancelled", reason: how.reason.slice(0, reasonCharsMax), by: how.by });
    await live.flush();
  } catch (error) {
    if (live.mac !== undefined) giveBack(live.mac);
    throw error;
  }
}
