import type { Committer, Refusal, Write } from "@holdpoint/approvals";

import { isWorkflowError, WorkflowError } from "../errors.ts";
import { unknownTriesMax } from "../limits.ts";

/** What became of a commit whose outcome is known. */
export type Known =
  | { readonly status: "done" }
  | { readonly status: "refused"; readonly write: number; readonly refusal: Refusal };

/**
 * Commits until the outcome is known: a lost answer is asked for again under the same attempt id (APR-26).
 * @throws WorkflowError `store-unavailable`, `lease-lost`
 */
export async function commitKnown(
  store: Committer,
  attemptId: string,
  writes: readonly Write[],
): Promise<Known> {
  let cause: unknown;
  for (let tries = 0; tries < unknownTriesMax; tries += 1) {
    const outcome = await reached(store.commit(attemptId, writes));
    if (outcome.status !== "unknown") return outcome;
    cause = outcome.cause;
  }
  throw unavailable("gave no answer to a commit: whether it stands is not known", cause);
}

/** An answer of a store of this layer. @throws WorkflowError `store-unavailable`, `lease-lost` */
export async function reached<T>(answer: Promise<T>): Promise<T> {
  try {
    return await answer;
  } catch (cause) {
    if (isWorkflowError(cause)) throw cause; // nothing was sent
    throw unavailable("could not be reached", cause);
  }
}

function unavailable(what: string, cause: unknown): WorkflowError {
  return new WorkflowError("store-unavailable", `the registry of runs ${what}`, {}, cause);
}
