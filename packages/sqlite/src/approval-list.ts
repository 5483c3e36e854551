import type { ApprovalFilter, ApprovalPage, ApprovalState, Cell } from "@holdpoint/approvals";

import type { KeysetPage } from "./keyset-page.ts";
import { noExpiry } from "./migrations.ts";
import { tables } from "./tables.ts";

const states: readonly ApprovalState[] = ["pending", "decided", "consumed"];

/** How a list of approvals is read. */
export function approvalPage(
  scope: string,
  filter: ApprovalFilter,
  { order, after, limit }: ApprovalPage,
): KeysetPage {
  const byExpiry = order === "expiring";
  const conditions: string[] = [];
  const binds: Record<string, Cell> = {};
  for (const [name, condition] of restrictions) {
    const wanted = filter[name];
    if (wanted === undefined) continue;
    // With a plus, no bound of the search: newest first, the place to go on from is the nearer one.
    const isNoBound = name === "requestedBefore" && order === "newest" && after !== undefined;
    conditions.push(isNoBound ? `+${condition}` : condition);
    binds[name] = wanted;
  }
  return {
    table: tables.approvals,
    index: indexFor(filter, byExpiry),
    statusColumn: "state",
    statuses: filter.state === undefined ? states : [filter.state],
    place: byExpiry ? "expiryPlace" : "requestedAt",
    descending: order === "newest",
    conditions,
    binds,
    scope,
    after,
    limit,
  };
}

// A run has few records: finding them and sorting is less than looking through all that wait.
function indexFor(filter: ApprovalFilter, byExpiry: boolean): string {
  if (filter.runId !== undefined) return "approvalsByRun";
  return byExpiry ? "approvalsByExpiry" : "approvalsByAge";
}

const restrictions = [
  ["tool", "tool = :tool"],
  ["runId", "runId = :runId"],
  ["requestedBefore", "requestedAt < :requestedBefore"],
  // A row without an expiry is before no time.
  ["expiresBefore", `expiryPlace < min(:expiresBefore, ${noExpiry})`],
] as const;
