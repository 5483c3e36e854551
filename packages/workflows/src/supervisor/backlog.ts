import type { Clock } from "@holdpoint/approvals";

import { retryMsMax } from "../limits.ts";

/** A run to be tried again. */
export interface Retry {
  readonly tries: number;
  /** On the monotonic clock; undefined: it is being tried. */
  readonly dueAt: number | undefined;
  /** When the last try began, on the same clock. */
  readonly triedAt?: number;
}

/**
 * Runs that were left because a store was away, or because what they ran into says nothing about them (WF-23): tried again,
 * after a pause that doubles. One that was at work since for longer than any pause had gone on: what takes it now is another thing.
 */
export class Backlog {
  readonly #runs = new Map<string, Retry>();
  readonly #clock: Clock;
  readonly #firstMs: number;

  constructor(clock: Clock, firstMs: number) {
    this.#clock = clock;
    this.#firstMs = firstMs;
  }

  /** A run was left, once more. */
  note(runId: string): void {
    const now = this.#clock.monotonic();
    const { tries: before = 0, triedAt = now } = this.#runs.get(runId) ?? {};
    const tries = now - triedAt > retryMsMax ? 1 : before + 1;
    const pauseMs = Math.min(this.#firstMs * 2 ** (tries - 1), retryMsMax);
    this.#runs.set(runId, { tries, dueAt: now + pauseMs });
  }

  of(runId: string): Retry | undefined {
    return this.#runs.get(runId);
  }

  /** Takes out what is to be tried now; runs that went on meanwhile (`isBusy` no more) are forgotten. */
  take(isBusy: (runId: string) => boolean): readonly string[] {
    const now = this.#clock.monotonic();
    const due: string[] = [];
    for (const [runId, { tries, dueAt }] of this.#runs) {
      if (dueAt === undefined) {
        if (!isBusy(runId)) this.#runs.delete(runId);
      } else if (dueAt <= now) {
        this.#runs.set(runId, { tries, dueAt: undefined, triedAt: now });
        due.push(runId);
      }
    }
    return due;
  }
}
