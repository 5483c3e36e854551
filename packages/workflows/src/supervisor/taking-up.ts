/**
 * What is done with the runs of a session when it is taken (WF-21), and whenever something is heard of one of them.
 *
 * U1 Runs that wait for a person are not looked at, however many there are: what was decided for some, or ran out, is found by
 *    the approvals that say so; whose end somebody wishes, or whose sleep is over, by the registry's list of what is due (WF-25).
 * U2 Everything goes through adoption's one table, in the run's lane: hearing twice of one thing does nothing twice.
 * U3 Taking sessions costs what is to be done for their runs, and one look at what is decided: a session that is taken while many
 *    wait to be taken does not take longer for that (WF-30).
 */

import type { ApprovalFilter, ApprovalOrder, PagePlace, Row } from "@holdpoint/approvals";
import { placeOf } from "@holdpoint/approvals";

import { isWorkflowError } from "../errors.ts";
import { pageMax, takenUpAtOnceMax } from "../limits.ts";
import { reached } from "../registry/commit.ts";
import type { OpenRun } from "../registry/record-codec.ts";
import { viewOf } from "../registry/run-view.ts";
import { duePlaceOf, type RunPlace } from "../registry/store.ts";
import { adoptOne, adoptRun, openRuns, type AdoptHow, type Adoption } from "../run/adopting.ts";
import { inStep } from "../run/in-step.ts";
import { cancelled } from "../run/owner.ts";
import type { Parts } from "../run/parts.ts";
import type { Hold } from "./hold.ts";
import type { AdoptMode, Wiring } from "./wiring.ts";

/**
 * Takes up what nobody works on, of sessions that were just taken or are in doubt, side by side: none waits for another's runs, and
 * one that fails keeps no other from it. @throws WorkflowError `store-unavailable`, `lease-lost` of the first that failed
 */
export async function takeUpSessions(
  holds: readonly Hold[],
  wiring: Pick<Wiring, "adopt" | "turns">,
): Promise<readonly Adoption[]> {
  const fresh = holds.filter(({ takenUp }) => !takenUp); // who was there all the time has heard of each decision
  const [some] = fresh;
  const answered =
    some === undefined ? Promise.resolve([]) : answeredRuns(some.parts, fresh, wiring);
  answered.catch(() => undefined); // whoever comes so far meets it
  const done = await Promise.allSettled(holds.map((hold) => takeUpSession(hold, answered, wiring)));
  return done.flatMap((each) => {
    if (each.status === "rejected") throw each.reason;
    return each.value;
  });
}

/** `answered`: of all sessions; what was at work does not wait until that is known. */
async function takeUpSession(
  hold: Hold,
  answered: Promise<readonly OpenRun[]>,
  { adopt: mode, turns }: Pick<Wiring, "adopt" | "turns">,
): Promise<readonly Adoption[]> {
  const { parts, session } = hold;
  const { open, broken } = await openRuns(parts, ["pending", "running"], session);
  const adoptions = new Map(broken.map((each) => [each.runId, each]));
  // A time that ran out and a wish wait for no choice.
  for await (const { key: runId } of dueRows(hold)) {
    await turns.due();
    if (!adoptions.has(runId)) adoptions.set(runId, await adoptOne(parts, runId));
  }
  const takeAll = async (runs: readonly OpenRun[]): Promise<void> => {
    const chosen = runs.filter(({ record }) => !adoptions.has(record.facts.id));
    const taken = await inStep(chosen, takenUpAtOnceMax, async (opened, turn) => {
      await turns.due();
      return takeUpChosen(parts, opened, mode, turn);
    });
    for (const each of taken) adoptions.set(each.runId, each);
  };
  await takeAll(open);
  await takeAll((await answered).filter(({ record }) => record.facts.session === session));
  hold.takenUp = true;
  return [...adoptions.values()];
}

/**
 * Takes up what is due though nobody said anything here: a sleep that is over, a wish to cancel. A run at work is told of the wish.
 * @throws WorkflowError `store-unavailable`, `lease-lost`
 */
export async function takeUpDue(hold: Hold, { turns }: Pick<Wiring, "turns">): Promise<void> {
  const { lanes } = hold.parts;
  for await (const row of dueRows(hold)) {
    await turns.due();
    const runId = row.key;
    if (!lanes.busy(runId)) await takeUp(hold, runId);
    else if (isWished(hold, row)) lanes.interrupt(runId, cancelled(runId));
  }
}

/** What is due of a session, page by page; what is tried again later, and what can't be moved here, is left out. */
async function* dueRows(hold: Hold): AsyncGenerator<Row, void> {
  const { session, parts, backlog, foreign } = hold;
  let after: RunPlace | undefined;
  for (;;) {
    const page = { limit: pageMax, ...(after !== undefined && { after }) };
    const rows = await parts.access.due(session, page);
    for (const row of rows) {
      if (foreign.has(row.key) || backlog.of(row.key)?.dueAt !== undefined) continue;
      yield row;
    }
    const last = rows.at(-1);
    if (last === undefined || rows.length < pageMax) return;
    after = duePlaceOf(last);
  }
}

function isWished({ parts: { access } }: Hold, row: Row): boolean {
  if (row.values["dueAt"] !== 0) return false; // its time has come, and it is being taken up
  try {
    return access.codec.open(access.scope, row).record.cancel !== undefined;
  } catch (error) {
    if (!isWorkflowError(error, "record-tampered")) throw error;
    return false; // a row that nobody can trust wishes nothing
  }
}

async function takeUpChosen(
  parts: Parts,
  opened: OpenRun,
  mode: AdoptMode,
  turn: Promise<void>,
): Promise<Adoption> {
  const runId = opened.record.facts.id;
  const chosen = mode === "auto" || (mode !== "manual" && mode(viewOf(opened)));
  if (chosen) return adoptOne(parts, runId, { turn, opened });
  if (parts.lanes.busy(runId)) return { runId, did: "held" };
  return { runId, did: "left", reason: "not-chosen" };
}

/** Takes up a run of which something was heard; what goes wrong is kept for the next try. */
export async function takeUp(
  { parts, over, foreign }: Hold,
  runId: string,
  how?: AdoptHow,
): Promise<void> {
  if (over) return;
  try {
    const { did } = await adoptRun(parts, runId, how);
    if (did === "left") foreign.add(runId);
  } catch (fault) {
    parts.faults.put(runId, fault);
  }
}

/**
 * Waiting runs of these sessions with an approval that is decided and not spent, or whose time ran out (U1). Approvals are listed for
 * all sessions at once: each session for itself would read those of all the others again (U3).
 */
async function answeredRuns(
  parts: Parts,
  holds: readonly Hold[],
  { turns }: Pick<Wiring, "turns">,
): Promise<readonly OpenRun[]> {
  const { approvals, access } = parts;
  const { store } = approvals.records;
  const sessions = new Set(holds.map(({ session }) => session));
  const runIds = new Set<string>();
  const now = await reached(store.now());
  const lists: readonly (readonly [ApprovalFilter, ApprovalOrder])[] = [
    [{ state: "decided" }, "oldest"],
    [{ state: "pending", expiresBefore: now + 1 }, "expiring"],
  ];
  for (const [filter, order] of lists) {
    for await (const row of approvalRows({ approvals, access }, filter, order))
      runIds.add(String(row.values["runId"]));
  }
  const opened = await inStep(runIds, takenUpAtOnceMax, async (runId) => {
    await turns.due();
    return trusted(parts, runId);
  });
  return opened.filter(
    (run): run is OpenRun =>
      run?.record.standing.status === "interrupted" &&
      sessions.has(String(run.record.facts.session)),
  );
}

/** A run as it stands; one that nobody can trust is set aside, and holds up none of the others (WF-32). */
export async function trusted(
  { access, logger }: Pick<Parts, "access" | "logger">,
  runId: string,
): Promise<OpenRun | undefined> {
  try {
    return await access.load(runId);
  } catch (error) {
    if (!isWorkflowError(error, "record-tampered")) throw error;
    logger.error("a run is set aside: its record can't be trusted", { runId });
    return undefined;
  }
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
