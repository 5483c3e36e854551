/**
 * Why a run stands where it stands, and what would move it (WF-34). Reads, and changes nothing.
 */

import { errorInfo } from "@holdpoint/tools";

import { leaseOf } from "../lease/store.ts";
import { reached } from "../registry/commit.ts";
import { dueOf, type RunRecord } from "../registry/record.ts";
import type { RunStatus } from "../registry/store.ts";
import { placeOf } from "../run/reading.ts";
import type { Parts } from "../run/parts.ts";
import { anyDecided } from "../run/work.ts";
import type { Hold } from "./hold.ts";
import type { Wiring } from "./wiring.ts";

/** Why a run does not go on by itself right now, or that it does. Closed: a new one is a minor release. */
export type Why =
  | "ended"
  | "executing"
  | "waits-for-a-slot"
  | "waits-for-people"
  | "sleeps"
  | "answered"
  | "cancel-requested"
  | "unknown-definition"
  | "tried-again-later"
  | "session-elsewhere"
  | "session-of-nobody"
  | "no-session"
  | "not-taken-up";

/** What a person may do about one thing that a run waits for. */
export interface OpenQuestion {
  readonly approvalId: string | undefined;
  readonly tool: string;
  readonly visit: string;
  /** People who have yet to approve; undefined where its port keeps no records. */
  readonly missing: number | undefined;
  /** When it is denied by itself, milliseconds since 1970. */
  readonly expiresAt: number | undefined;
}

export interface Explanation {
  readonly runId: string;
  readonly status: RunStatus;
  readonly why: Why;
  /** One sentence for a person: where it stands, and why. */
  readonly because: string;
  /** One sentence each: what would move it. Empty where nothing has to. */
  readonly movedBy: readonly string[];
  readonly questions: readonly OpenQuestion[];
}

/** @throws WorkflowError `run-not-found`, `record-tampered`, `store-unavailable` */
export async function explainRun(
  wiring: Wiring,
  parts: Parts,
  hold: Hold | undefined,
  runId: string,
): Promise<Explanation> {
  const { record } = await parts.access.require(runId);
  const found = await whyOf(wiring, parts, hold, record);
  const questions = found.why === "waits-for-people" ? await questionsOf(parts, record) : [];
  const { status } = record.standing;
  const because = `it is ${placeOf(record)}: ${found.because}`;
  return { runId, status, why: found.why, because, movedBy: found.movedBy, questions };
}

interface Found {
  readonly why: Why;
  readonly because: string;
  readonly movedBy: readonly string[];
}

async function whyOf(
  wiring: Wiring,
  parts: Parts,
  hold: Hold | undefined,
  record: RunRecord,
): Promise<Found> {
  const { facts, standing, cancel, waits } = record;
  if (standing.status === "completed" || standing.status === "cancelled") {
    return said("ended", "it has ended, and stays so");
  }
  if (standing.status === "failed") {
    return said("ended", `it failed with ${standing.failure.code}`, "`retry`, by hand");
  }
  if (parts.definitions.find(facts.definition, facts.version) === undefined) {
    const what = "a process that has that definition and version";
    return said("unknown-definition", "no such definition is registered here", what);
  }
  if (standing.status === "running" && standing.retry !== undefined) {
    const { at, failure } = standing.retry;
    const because = `it failed with ${failure.code}, and its definition retries it`;
    return said("tried-again-later", because, `its owner, at ${new Date(at).toISOString()}`);
  }
  if (hold !== undefined) {
    const here = whyHere(wiring, hold, facts.id);
    if (here !== undefined) return here;
  } else {
    const elsewhere = await whyElsewhere(wiring, facts.session);
    if (standing.status !== "interrupted" || elsewhere.why !== "session-elsewhere")
      return elsewhere;
  }
  if (cancel !== undefined) {
    return said("cancel-requested", "somebody cancelled it", "the next round of its owner");
  }
  if (standing.status !== "interrupted") {
    return said("not-taken-up", "nobody works on it", "its owner's adoption: see `adopt`");
  }
  if (await anyDecided(parts, waits)) {
    return said("answered", "what it waits for is decided", "its owner, who resumes it by itself");
  }
  return whyWaiting(record);
}

/** Of a run for which nothing is decided yet. */
function whyWaiting(record: RunRecord): Found {
  const due = dueOf(record);
  const wakes = due === undefined ? [] : [`its owner, at ${new Date(due).toISOString()}`];
  if (record.waits.every(({ kind }) => kind === "sleep")) {
    return said("sleeps", "it sleeps, and nobody has to do anything", ...wakes);
  }
  return said(
    "waits-for-people",
    "a person has to decide",
    "a decision on what it waits for",
    ...wakes,
  );
}

function whyHere({ slots }: Wiring, { parts, backlog }: Hold, runId: string): Found | undefined {
  if (parts.lanes.busy(runId)) {
    return slots.isWaiting(runId)
      ? said("waits-for-a-slot", "as many runs execute as may", "a run that stops")
      : said("executing", "it is at work in this process");
  }
  const retry = backlog.of(runId);
  if (retry?.dueAt === undefined) return undefined;
  const { code } = errorInfo(parts.faults.of(runId));
  return said(
    "tried-again-later",
    `it was left ${retry.tries} times, the last for ${code}`,
    "the next try, which comes by itself",
  );
}

async function whyElsewhere(
  { lessee: { store, scope } }: Wiring,
  session: string | undefined,
): Promise<Found> {
  if (session === undefined) {
    return said(
      "no-session",
      "it belongs to no session",
      "`adopt` of a program that runs it by hand",
    );
  }
  const { epoch, until } = leaseOf(scope, session, await reached(store.get(scope, session)));
  if (until > (await reached(store.now()))) {
    const because = `another process has its session '${session}', under epoch ${epoch}`;
    return said("session-elsewhere", because, "that process");
  }
  const because = `nobody has its session '${session}'`;
  return said("session-of-nobody", because, "any supervisor of that session");
}

async function questionsOf(
  { approvals, access }: Parts,
  { waits }: RunRecord,
): Promise<readonly OpenQuestion[]> {
  const questions: OpenQuestion[] = [];
  for (const { approvalId, tool, visit, until } of waits) {
    const view =
      approvalId === undefined ? undefined : await approvals.records.show(access.scope, approvalId);
    const { missing, expiresAt = until } = view ?? {};
    questions.push({ approvalId, tool, visit, missing, expiresAt });
  }
  return questions;
}

function said(why: Why, because: string, ...movedBy: readonly string[]): Found {
  return { why, because, movedBy };
}
