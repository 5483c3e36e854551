import { commitKnown, reached } from "../registry/commit.ts";
import type { Parts } from "./parts.ts";

/**
 * Withdraws what was filed for a run and is not in its log, because its process or its store was lost in between. A run that
 * goes on finds it again by its call; one that has ended never would, and people would go on being asked.
 * @throws WorkflowError `store-unavailable`
 */
export async function withdrawOrphans(
  { approvals: { records }, access: { scope }, newId }: Parts,
  runId: string,
): Promise<void> {
  for (const state of ["pending", "decided"] as const) {
    let cursor: string | undefined;
    do {
      const from = cursor === undefined ? {} : { cursor };
      const page = await reached(records.list(scope, { filter: { state, runId }, ...from }));
      for (const { id } of page.items) {
        const attemptId = newId();
        const how = { scope, id, attemptId, reason: "cancelled" } as const;
        const writes = await reached(records.withdraw(how));
        // Refused: somebody decides it in this very moment. Nothing can run by it any more.
        await commitKnown(records.store, attemptId, writes);
      }
      cursor = page.cursor;
    } while (cursor !== undefined);
  }
}
