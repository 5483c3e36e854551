import { canonicalize } from "@holdpoint/seal";
import type { SealedRecords } from "@holdpoint/approvals";

import type { Effects } from "./effects.ts";
import type { StoreBook } from "./store-book.ts";

/** What ran with an approval ran with the arguments that were shown, or with those that a person put in their place (A7). */
export async function checkShown(
  effects: Effects,
  book: StoreBook,
  records: SealedRecords,
  scope: string,
): Promise<void> {
  for (const { tool, runId, callId, args } of effects.toCheck.splice(0)) {
    const approvalId = book.log(runId).answers.get(callId)?.answer.approvalId;
    const standing = approvalId === undefined ? undefined : book.standingFor(approvalId);
    const view = standing === undefined ? undefined : await records.show(scope, standing);
    const effective = view?.arguments().effective;
    if (view?.state !== "consumed" || canonicalize(effective) !== canonicalize(JSON.parse(args)))
      effects.faults.push(`run ${runId}: '${tool}' ran with other arguments than were approved`);
  }
}
