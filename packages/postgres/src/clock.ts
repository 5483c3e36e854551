import type { Clock } from "@holdpoint/approvals";

/**
 * The machine's own clock: what a store reads where its caller passes none. Stores take types alone from the layers, so
 * this one file makes what `systemClock` is there.
 */
export const machineClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  timer(delayMs, fire) {
    // Every wait in this package is far below the longest delay that a timer takes.
    const handle = setTimeout(fire, delayMs);
    return () => clearTimeout(handle);
  },
};
