import type { Clock } from "@holdpoint/approvals";

import { SqliteStoreError } from "./errors.ts";
import { limits } from "./limits.ts";
import { isBusy } from "./unavailable.ts";

/** What waiting for a lock needs. */
export interface Patience {
  readonly clock: Clock;
  /** In [0, 1). */
  random(): number;
  readonly lockWaitMs: number;
}

/**
 * Runs `work` until no lock is in its way. Each try blocks the thread for `busyTimeoutMs` at most; between two of them the
 * event loop is free, for a time that doubles and is drawn at random, so that processes that met once don't meet again.
 *
 * @throws SqliteStoreError `store-unavailable`, reason `busy`, after `lockWaitMs`
 */
export async function retrying<T>(patience: Patience, work: () => T): Promise<T> {
  const { clock, lockWaitMs } = patience;
  const started = clock.monotonic();
  for (
    let pauseMs: number = limits.pauseMsFirst;
    ;
    pauseMs = Math.min(pauseMs * 2, limits.pauseMsMax)
  ) {
    try {
      return work();
    } catch (error) {
      if (!isBusy(error)) throw error;
      const waitedMs = clock.monotonic() - started;
      if (waitedMs >= lockWaitMs) {
        const message = `another process held the file for ${Math.round(waitedMs)} ms`;
        throw new SqliteStoreError("store-unavailable", message, { reason: "busy", cause: error });
      }
    }
    await pause(clock, Math.ceil(pauseMs * (0.5 + patience.random() / 2)));
  }
}

function pause(clock: Clock, ms: number): Promise<void> {
  return new Promise((resolve) => void clock.timer(ms, resolve));
}
