/**
 * When a definition's failed runs are retried by themselves (WF-29): none, unless it says so.
 *
 * P1 A policy is asked of what is on record alone, the failure and how often the run was retried: by whoever takes the run up,
 *    it is answered the same.
 * P2 What it throws is a no: the run has failed.
 */

import type { Retry } from "@holdpoint/flow";
import { rebuildError, type ErrorInfo } from "@holdpoint/tools";

import { WorkflowError } from "../errors.ts";
import { policyAttemptsMax, policyBackoffMsMax } from "../limits.ts";

/**
 * As a node's: `attempts` in all, the first included; `on` is asked about the first failure of the round that failed, by
 * default whether it says `retryable`; `backoffMs` doubles each time, up to an hour. Pure: it is asked again after a crash.
 */
export type RetryPolicy = Retry;

/** How long after a failure the run is retried; `undefined`: it is not. */
export function retryAfterMs(
  policy: RetryPolicy | undefined,
  error: ErrorInfo,
  retries: number,
): number | undefined {
  if (policy === undefined || retries + 1 >= policy.attempts) return undefined;
  const first = firstFailure(error);
  try {
    const wanted = policy.on === undefined ? first.retryable : policy.on(rebuildError(first));
    if (!wanted) return undefined;
    const { backoffMs = 0 } = policy;
    const count = retries + 1;
    const waitMs = typeof backoffMs === "function" ? backoffMs(count) : backoffMs * 2 ** retries;
    return Math.min(Math.max(waitMs, 0) || 0, policyBackoffMsMax); // neither negative nor no number
  } catch {
    return undefined; // P2
  }
}

/** A run fails by its nodes' failures: the first in declaration order is what it failed for. */
function firstFailure(error: ErrorInfo): ErrorInfo {
  const data = error.attributes["data"] as
    | { readonly errors?: readonly { readonly error: ErrorInfo }[] }
    | undefined;
  return data?.errors?.[0]?.error ?? error;
}

/** @throws WorkflowError `definition-invalid` */
export function checkPolicy(definition: string, policy: RetryPolicy | undefined): void {
  const attempts = policy?.attempts ?? 1;
  if (Number.isSafeInteger(attempts) && attempts >= 1 && attempts <= policyAttemptsMax) return;
  const message = `the retry policy of '${definition}' makes 1 to ${policyAttemptsMax} attempts`;
  throw new WorkflowError("definition-invalid", message, { definition });
}
