import { commitKnown, reached } from "../registry/commit.ts";
import type { RunRecord } from "../registry/record.ts";
import type { Parts } from "./parts.ts";

/**
 * Ends what was filed for a run and is not in its log, because its process or its store was lost in between: a run that goes on
 * finds it again by its call, one that ends never would, and people would go on being asked. Nobody may work on the run.
 * @throws WorkflowError `store-unavailable`
 */
export async function withdrawOrphans(
  { approvals: { records }, access: { scope }, newId }: Parts,
  { facts: { id: runId }, waits }: RunRecord,
): Promise<void> {
  const known = new Set(waits.map(({ approvalId }) => approvalId));
  for (const state of ["pending", "decided"] as const) {
    let cursor: string | undefined;
    do {
      const from = cursor === undefined ? {} : { cursor };
      const page = await reached(records.list(scope, { filter: { state, runId }, ...from }));
      for (const { id } of page.items) {
        if (known.has(id)) continue;
        const attemptId = newId();
        const how = { scope, id, attemptId, reason: "cancelled" } as const;
        // Refused: somebody decides it in this moment, and finds at the next look that the run has ended.
        await commitKnown(records.store, attemptId, await reached(records.withdraw(how)));
      }
      cursor = page.cursor;
    } while (cursor !== undefined);
  }
}
