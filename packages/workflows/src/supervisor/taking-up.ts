/**
 * What is done with the runs of a session when it is taken (WF-21), and whenever something is heard of one of them.
 *
 * U1 Runs that wait for a person are not looked at, however many there are: what was decided for some, or ran out, is found by
 *    the approvals that say so (WF-25).
 * U2 Everything goes through adoption's one table, in the run's lane: hearing twice of one thing does nothing twice.
 */

import type { ApprovalFilter, ApprovalOrder, PagePlace, Row } from "@holdpoint/approvals";
import { placeOf } from "@holdpoint/approvals";

import { pageMax } from "../limits.ts";
import { reached } from "../registry/commit.ts";
import type { RunRecord } from "../registry/record.ts";
import { viewOf } from "../registry/run-view.ts";
import { adoptOne, adoptRun, openRuns, type Adoption } from "../run/adopting.ts";
import type { Parts } from "../run/parts.ts";
import type { Hold } from "./hold.ts";
import type { AdoptMode, Wiring } from "./wiring.ts";

/** Takes up what nobody works on, of a session that was just taken. @throws WorkflowError `store-unavailable`, `lease-lost` */
export async function takeUpSession(
  hold: Hold,
  { adopt: mode, turns }: Pick<Wiring, "adopt" | "turns">,
): Promise<readonly Adoption[]> {
  const { parts, session } = hold;
  const { open, broken } = await openRuns(parts, ["pending", "running"], session);
  const adoptions: Adoption[] = [...broken];
  for (const record of open) {
    await turns.due();
    adoptions.push(await takeUpChosen(parts, record, mode));
  }
  for (const runId of await answeredRuns(parts)) {
    await turns.due();
    const { record } = (await parts.access.load(runId)) ?? {};
    if (record?.facts.session !== session || record.standing.status !== "interrupted") continue;
    adoptions.push(await takeUpChosen(parts, record, mode));
  }
  hold.takenUp = true;
  return adoptions;
}

async function takeUpChosen(parts: Parts, record: RunRecord, mode: AdoptMode): Promise<Adoption> {
  const runId = record.facts.id;
  const chosen = mode === "auto" || (mode !== "manual" && mode(viewOf(record)));
  if (!chosen && !parts.lanes.busy(runId)) return { runId, did: "left", reason: "not-chosen" };
  return adoptOne(parts, runId);
}

/** Takes up a run of which something was heard; what goes wrong is kept for the next try. */
export async function takeUp({ parts, over }: Hold, runId: string): Promise<void> {
  if (over) return;
  try {
    await adoptRun(parts, runId);
  } catch (fault) {
    parts.faults.put(runId, fault);
  }
}

/** Runs with an approval that is decided and not spent, or whose time ran out (U1). */
async function answeredRuns({ approvals, access }: Parts): Promise<ReadonlySet<string>> {
  const { store } = approvals.records;
  const runs = new Set<string>();
  const now = await reached(store.now());
  const answered: readonly (readonly [ApprovalFilter, ApprovalOrder])[] = [
    [{ state: "decided" }, "oldest"],
    [{ state: "pending", expiresBefore: now + 1 }, "expiring"],
  ];
  for (const [filter, order] of answered) {
    for await (const row of approvalRows({ approvals, access }, filter, order)) {
      runs.add(String(row.values["runId"]));
    }
  }
  return runs;
}

/** Rows of approvals in an order, page by page. */
export async function* approvalRows(
  { approvals, access }: Pick<Parts, "approvals" | "access">,
  filter: ApprovalFilter,
  order: ApprovalOrder,
  from?: PagePlace,
): AsyncGenerator<Row, void> {
  let after = from;
  for (;;) {
    const page = { order, limit: pageMax, ...(after !== undefined && { after }) };
    const rows = await reached(approvals.records.store.list(access.scope, filter, page));
    yield* rows;
    const last = rows.at(-1);
    if (last === undefined || rows.length < pageMax) return;
    after = placeOf(last, order);
  }
}
