import type { Committer, Refusal, Write } from "@holdpoint/approvals";

import { FlowError } from "../errors.ts";
import { unknownTriesMax } from "../limits.ts";

export type Known =
  | { readonly status: "done" }
  | { readonly status: "refused"; readonly write: number; readonly refusal: Refusal };

/**
 * Commits until the outcome is known: a lost answer is asked for again under the same attempt id (APR-26), and nothing
 * runs before that. @throws FlowError `store-unavailable` with the cause, when even that gave no answer.
 */
export async function commitKnown(
  store: Committer,
  attemptId: string,
  writes: readonly Write[],
): Promise<Known> {
  let cause: unknown;
  for (let tries = 0; tries < unknownTriesMax; tries++) {
    const outcome = await store.commit(attemptId, writes);
    if (outcome.status !== "unknown") return outcome;
    cause = outcome.cause;
  }
  throw new FlowError(
    "store-unavailable",
    "the store gave no answer to a commit: whether it stands is not known",
    { attemptId },
    cause,
  );
}
