import { cancelTriesMax } from "../limits.ts";
import { commitKnown, reached } from "../registry/commit.ts";
import type { WaitingFor } from "../registry/record.ts";
import type { Parts } from "./parts.ts";

/**
 * What was filed for a run and is not among what its log waits for, because its process or its store was lost in between, by
 * id. A run that goes on finds it again by its call; one that has ended never would, and people would go on being asked.
 * @throws WorkflowError `store-unavailable`
 */
export async function orphansOf(
  { approvals: { records }, access: { scope } }: Parts,
  runId: string,
  waits: readonly WaitingFor[] = [],
): Promise<readonly string[]> {
  const known = new Set(waits.map(({ approvalId }) => approvalId));
  const orphans: string[] = [];
  for (const state of ["pending", "decided"] as const) {
    let cursor: string | undefined;
    do {
      const from = cursor === undefined ? {} : { cursor };
      const page = await reached(records.list(scope, { filter: { state, runId }, ...from }));
      orphans.push(...page.items.map(({ id }) => id).filter((id) => !known.has(id)));
      cursor = page.cursor;
    } while (cursor !== undefined);
  }
  return orphans;
}

/**
 * Ends records that nobody will use. Of one that somebody moved at every try the operator is told: people go on being asked.
 * @throws WorkflowError `store-unavailable`
 */
export async function withdrawOrphans(
  parts: Parts,
  runId: string,
  ids: readonly string[],
): Promise<void> {
  for (const approvalId of ids) {
    if (await withdrawn(parts, approvalId)) continue;
    const message = "an approval of a cancelled run could not be taken back";
    parts.logger.error(message, { runId, approvalId });
  }
}

async function withdrawn({ approvals, access, newId }: Parts, id: string): Promise<boolean> {
  const { records } = approvals;
  // Refused: somebody decided it in this very moment, which it does not outlive either.
  for (let tries = 0; tries < cancelTriesMax; tries += 1) {
    const attemptId = newId();
    const how = { scope: access.scope, id, attemptId, reason: "cancelled" } as const;
    const writes = await reached(records.withdraw(how));
    const known = await commitKnown(records.store, attemptId, writes);
    if (known.status === "done") return true;
  }
  return false;
}
