import { PostgresStoreError } from "./errors.ts";
import { limits } from "./limits.ts";
import type { Timers } from "./sessions.ts";
import { isConflict } from "./unavailable.ts";

/** What trying again needs. */
export interface Patience {
  readonly timers: Timers;
  /** In [0, 1). */
  random(): Promise<number>;
}

/** A row moved between the statement that it stood in the way of and the one that asked why. */
export class MovedMeanwhile extends Error {}

/**
 * Runs `work` again while the server takes it back because it met others (a deadlock, or not serializable): after a pause that
 * doubles and is drawn at random, so that those who met once don't meet again (STORE-11).
 *
 * @throws PostgresStoreError `store-unavailable`, reason `busy`, after `conflictsMax` tries
 */
export async function retrying<T>(patience: Patience, work: () => Promise<T>): Promise<T> {
  let pauseMs: number = limits.pauseMsFirst;
  for (let tries = 1; ; tries += 1) {
    try {
      return await work();
    } catch (error) {
      if (!isConflict(error) && !(error instanceof MovedMeanwhile)) throw error;
      if (tries >= limits.conflictsMax) {
        const message = `other commits were in the way ${tries} times`;
        throw new PostgresStoreError("store-unavailable", message, {
          reason: "busy",
          cause: error,
        });
      }
    }
    const drawnMs = Math.ceil(pauseMs * (0.5 + (await patience.random()) / 2));
    await new Promise<void>((resolve) => void patience.timers.timer(drawnMs, resolve));
    pauseMs = Math.min(pauseMs * 2, limits.pauseMsMax);
  }
}
