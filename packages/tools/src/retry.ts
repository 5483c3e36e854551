import type { ErrorInfo } from "./error-info.ts";
import { attemptsMax, backoffMsMax } from "./limits.ts";

/** Trying a failed call again, under the same idempotency key (TOOL-13). */
export interface Retry {
  /** How often `execute` is entered at most; 1 to 100. */
  readonly attempts: number;
  /**
   * The wait before the second attempt, in milliseconds (default 0); doubled for each one after it,
   * to a minute at most.
   */
  readonly backoffMs?: number;
  /** Which failures are tried again; absent: those that say `retryable`. */
  readonly on?: (failure: ErrorInfo) => boolean;
}

/** A failed attempt, as far as trying again depends on it. */
export interface FailedAttempt {
  readonly error: ErrorInfo;
  /** Counted from 1. */
  readonly attempt: number;
  /**
   * Whether the effect may have taken place all the same: the attempt was left before it settled.
   */
  readonly inDoubt: boolean;
}

/** How long to wait before the next attempt, or `undefined` when there is none. */
export function nextAttemptInMs(
  retry: Retry | undefined,
  failed: FailedAttempt,
  idempotent: boolean,
): number | undefined {
  if (retry === undefined || failed.attempt >= Math.min(retry.attempts, attemptsMax))
    return undefined;
  // TOOL-13: running it again might do it twice.
  if (failed.inDoubt && !idempotent) return undefined;
  const again = retry.on === undefined ? failed.error.retryable : retry.on(failed.error);
  if (!again) return undefined;
  return Math.min((retry.backoffMs ?? 0) * 2 ** (failed.attempt - 1), backoffMsMax);
}
