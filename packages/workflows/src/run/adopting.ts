/**
 * Taking up runs that nobody holds, by hand: one pass over what is not terminal (WF-21).
 *
 * A1 The log is right, the registry follows; what neither says is never invented: no payload, no decision.
 * A2 A run of a definition that is not here is left as it is, and said so; it never fails for that.
 * A3 A run that can't be read is reported and set aside: the others go on (WF-32).
 * A4 What is done with a run already may end without going on with it, as a resume does whose payload was given before: it is
 *    judged again then, or nobody would.
 * A5 A row that was read on the way is good for judging a run: what is done by it expects that very version, and where it had
 *    moved the run is judged by its row as it stands. A wish to cancel that came meanwhile is found as one that comes later.
 */

import type { RunReading } from "@holdpoint/flow";
import { errorInfo } from "@holdpoint/tools";

import { isWorkflowError, WorkflowError } from "../errors.ts";
import { pageMax, takenUpAtOnceMax } from "../limits.ts";
import { listRuns } from "../registry/listing.ts";
import { isTerminal, mayReach } from "../registry/moves.ts";
import type { OpenRun } from "../registry/record-codec.ts";
import type { RunRecord, WaitingFor } from "../registry/record.ts";
import type { RunStatus } from "../registry/store.ts";
import { endCancelled } from "./cancelling.ts";
import { inStep } from "./in-step.ts";
import { failRun, readLog } from "./log-reading.ts";
import type { Parts } from "./parts.ts";
import { reconcile, type LogStatus, type Reconciled } from "./reconcile.ts";
import { anyDecided, workOn, type Begin } from "./work.ts";

/**
 * What adoption did about a run. `begun`: it is worked on now, `settled` waits for its next stop. `waits`: for a person.
 * `held`: this process works on it already. `ended`: the registry says so now. `left`: untouched, for `reason`. `broken`: it
 * can't be read; see `error`.
 */
export type Adoption = { readonly runId: string } & (
  | { readonly did: "begun"; readonly how: Begin }
  | { readonly did: "waits" | "held" }
  | { readonly did: "ended"; readonly status: RunStatus }
  | { readonly did: "left"; readonly reason: "unknown-definition" | "not-chosen" }
  | { readonly did: "broken"; readonly error: unknown }
);

/** What whoever takes a run up knows of it already. */
export interface AdoptHow {
  /** Nothing of it is begun before that has settled. */
  readonly turn?: Promise<void>;
  /** Its row, as it was just read. */
  readonly opened?: OpenRun | undefined;
  /** An approval that is decided: a run that waits for it goes on. */
  readonly decided?: string | undefined;
}

/**
 * Resolves once it is known what is to be done; what is begun goes on in the run's lane, in its turn.
 * @throws WorkflowError
 */
export function adoptRun(parts: Parts, runId: string, how: AdoptHow = {}): Promise<Adoption> {
  const { turn, decided } = how;
  const seen = parts.lanes.busy(runId) ? undefined : how.opened; // what is at work there moves it
  return new Promise((resolve, reject) => {
    parts.lanes
      .enter(runId, async (signal) => {
        const known = seen && (await unlessMoved(judged(parts, seen, decided))); // A5
        const found = known ?? (await judged(parts, await parts.access.require(runId), decided));
        const { adoption, begin, current, reading } = found;
        if (turn !== undefined) await turn;
        resolve(adoption);
        if (begin === undefined) return;
        parts.faults.clear(runId);
        await workOn(parts, current, begin, signal, { reading }).catch((fault: unknown) =>
          parts.faults.put(runId, fault),
        );
      })
      .catch(reject);
  });
}

/** What was found out by a row that was read before; `undefined`: somebody moved it since. */
async function unlessMoved(judging: Promise<Judged>): Promise<Judged | undefined> {
  try {
    return await judging;
  } catch (error) {
    if (isWorkflowError(error, "run-moved")) return undefined;
    throw error;
  }
}

/**
 * Goes on with a run in its lane if it waits for something that is decided; one that is on its way finds it at its pause. Its
 * log says how: it may have gone further than the registry saw, where a store was lost in the middle of a settle.
 */
export function wakeRun(parts: Parts, runId: string, decided?: string): void {
  const which = ({ record }: OpenRun): boolean => record.standing.status === "interrupted";
  const work = parts.lanes.enter(runId, (signal) => goOn(parts, runId, signal, { which, decided }));
  work.catch((fault: unknown) => parts.faults.put(runId, fault));
}

/** Has a run at work judged again when it stops, and gone on with: once, however often that is asked for meanwhile (A4). */
export function lookAgain(parts: Parts, runId: string): void {
  const work = parts.lanes.look(runId, (signal) => goOn(parts, runId, signal));
  work.catch((fault: unknown) => parts.faults.put(runId, fault));
}

/** Judges a run in its lane, and goes on with it unless it is none of `which`. */
async function goOn(
  parts: Parts,
  runId: string,
  signal: AbortSignal,
  {
    which = () => true,
    decided,
  }: {
    readonly which?: (opened: OpenRun) => boolean;
    readonly decided?: string | undefined;
  } = {},
): Promise<void> {
  const opened = await parts.access.load(runId);
  if (opened === undefined || !which(opened)) return;
  const { begin, current, reading } = await judged(parts, opened, decided);
  if (begin === undefined) return;
  parts.faults.clear(runId);
  await workOn(parts, current, begin, signal, { reading });
}

/** Every run that is not terminal, once, oldest first. */
export async function adoptAll(parts: Parts): Promise<readonly Adoption[]> {
  const { open, broken } = await openRuns(parts, ["pending", "running", "interrupted"]);
  const adopted = await inStep(open, takenUpAtOnceMax, (opened, turn) =>
    adoptOne(parts, opened.record.facts.id, { turn, opened }),
  );
  return [...broken, ...adopted];
}

/** One of several, judged beside them and begun in its turn: a broken one is an answer. @throws `store-unavailable` of whichever store was away */
export async function adoptOne(
  parts: Parts,
  runId: string,
  how?: Pick<AdoptHow, "turn" | "opened">,
): Promise<Adoption> {
  if (parts.lanes.busy(runId)) {
    lookAgain(parts, runId);
    return { runId, did: "held" };
  }
  try {
    return await adoptRun(parts, runId, how);
  } catch (error) {
    // Of whichever layer or store it is: it says nothing about the run, and whoever asked comes again (WF-23).
    if (errorInfo(error).code === "store-unavailable") throw error;
    return { runId, did: "broken", error }; // A3
  }
}

/**
 * The runs of these statuses, of one session or all, oldest first. All of them before the first is touched: an adopted run
 * changes its status, and with it its place.
 */
export async function openRuns(
  { access }: Parts,
  statuses: readonly RunStatus[],
  session?: string,
): Promise<{ readonly open: readonly OpenRun[]; readonly broken: readonly Adoption[] }> {
  const open: OpenRun[] = [];
  const broken: Adoption[] = [];
  for (const status of statuses) {
    const filter = session === undefined ? { status } : { status, session };
    let cursor: string | undefined;
    do {
      const from = cursor === undefined ? {} : { cursor };
      const page = await listRuns(access, { filter, order: "oldest", limit: pageMax, ...from });
      open.push(...page.items);
      broken.push(...page.broken.map((each) => ({ ...each, did: "broken" as const }))); // A3
      cursor = page.cursor;
    } while (cursor !== undefined);
  }
  return { open, broken };
}

/** Whether a run whose log says so can still be cancelled. */
function isOpen(log: LogStatus): boolean {
  return log !== "completed" && log !== "failed" && log !== "cancelled";
}

/** What is to be done with a run, once its registry says what its log says. */
export interface Judged {
  readonly adoption: Adoption;
  readonly begin?: Begin;
  readonly current: OpenRun;
  /** Its log, where it was read for this. */
  readonly reading?: RunReading | undefined;
}

/** `answered`: an approval that is decided. @throws WorkflowError `run-moved`, `store-unavailable` */
export async function judged(parts: Parts, opened: OpenRun, answered?: string): Promise<Judged> {
  const { facts, standing, waits } = opened.record;
  const runId = facts.id;
  if (isTerminal(standing.status)) return ended(opened);
  const definition = parts.definitions.find(facts.definition, facts.version);
  if (definition === undefined) {
    return { adoption: { runId, did: "left", reason: "unknown-definition" }, current: opened }; // A2
  }
  const goesOn = isAmong(waits, answered);
  const logged = await readLog(parts, definition, opened, { goesOn });
  if ("failed" in logged) return ended(logged.failed);
  const { log, record } = logged;
  const { cancel } = record;
  if (cancel !== undefined && isOpen(log)) {
    return ended(await endCancelled(parts, opened, cancel)); // WF-26
  }
  const isAnswered = isAmong(record.waits, answered);
  const decided = log === "paused" && (isAnswered || (await anyDecided(parts, record.waits)));
  const next = reconcile({ log, registry: standing.status, decided });
  const current = await followed(parts, opened, record, next);
  return { ...(await acted(parts, current, next)), reading: logged.reading };
}

function isAmong(waits: readonly WaitingFor[], answered: string | undefined): boolean {
  return answered !== undefined && waits.some(({ approvalId }) => approvalId === answered);
}

async function acted(parts: Parts, current: OpenRun, next: Reconciled): Promise<Judged> {
  const runId = current.record.facts.id;
  switch (next.do) {
    case "start":
    case "adopt":
    case "resume":
    case "retry":
      return { adoption: { runId, did: "begun", how: next.do }, begin: next.do, current };
    case "wait":
      return { adoption: { runId, did: "waits" }, current };
    case "done":
      return ended(current);
    case "fail": {
      const message = `the registry saw run ${runId} execute, and its log is gone`;
      const failure = { code: "log-missing", message };
      return ended(await failRun(parts, current, failure));
    }
  }
}

function ended(current: OpenRun): Judged {
  const { facts, standing } = current.record;
  return { adoption: { runId: facts.id, did: "ended", status: standing.status }, current };
}

/** Moves the registry to where the log is. */
async function followed(
  parts: Parts,
  opened: OpenRun,
  seen: RunRecord,
  next: Reconciled,
): Promise<OpenRun> {
  const { follow: to } = next;
  const { standing } = opened.record;
  if (to === undefined || to === standing.status) {
    // What is due to be retried says since when, and for what.
    const current = next.do === "retry" ? seen : { ...seen, standing };
    // It waits, and for something else than the registry knows: whoever asks what it waits for has to be told (A1).
    const knowsLess = seen.revision > opened.record.revision || opened.outdated === true;
    const isBehind = standing.status === "interrupted" && knowsLess;
    if (isBehind) return parts.access.put(current, opened.version);
    return { record: current, version: opened.version };
  }
  if (!mayReach(standing.status, to)) throw unreachable(opened.record, to);
  return parts.access.put(seen, opened.version);
}

function unreachable({ facts, standing }: RunRecord, to: RunStatus): WorkflowError {
  const message = `run ${facts.id} is ${standing.status}, and its log says ${to}`;
  return new WorkflowError("status-wrong", message, { runId: facts.id });
}
