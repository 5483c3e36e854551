import type { ApprovalFilter, ApprovalPage, ApprovalState, Cell } from "@holdpoint/approvals";

import type { KeysetPage } from "./keyset-page.ts";
import { indexedCharacters, noExpiry } from "./migrations.ts";
import { tables } from "./tables.ts";

const states: readonly ApprovalState[] = ["pending", "decided", "consumed"];

/** How a list of approvals is read. */
export function approvalPage(
  scope: string,
  filter: ApprovalFilter,
  { order, after, limit }: ApprovalPage,
): KeysetPage {
  const conditions: string[] = [];
  const binds: Record<string, Cell> = {};
  for (const [name, condition] of restrictions) {
    const wanted = filter[name];
    if (wanted === undefined) continue;
    conditions.push(condition);
    binds[name] = wanted;
  }
  return {
    table: tables.approvals,
    statusColumn: "state",
    statuses: filter.state === undefined ? states : [filter.state],
    place: order === "expiring" ? "expiry_place" : "requested_at",
    descending: order === "newest",
    conditions,
    binds,
    scope,
    after,
    limit,
  };
}

const restrictions = [
  // The index holds the beginning; most rows of another tool are told by it.
  ["tool", `left(tool, ${indexedCharacters}) = left(:tool, ${indexedCharacters}) AND tool = :tool`],
  ["runId", "run_id = :runId"],
  ["requestedBefore", "requested_at < :requestedBefore::bigint"],
  // A row without an expiry is before no time.
  ["expiresBefore", `expiry_place < least(:expiresBefore::bigint, ${noExpiry})`],
] as const;
