/**
 * Answering the questions that a run's code asks, with a payload (WF-22, WF-01).
 *
 * Q1 Everything is checked before anything is spent: the run's status and version, the payload by the definition's schema, then
 *    by each question's own. What is refused leaves the run as it was.
 * Q2 It resolves with the spending commit, which says in one what was answered and that the run is running; what the run does
 *    then is nobody's wait.
 * Q3 Approvals are no questions of this kind: `decide` answers those.
 * Q4 The same payload for the same question, given again, is `already` on record, wherever the run is by then. A question is
 *    named for that by its id; without a name only the last one is meant, of a run that waits for nothing now.
 */

import type { Actor } from "@holdpoint/approvals";
import { answerJson, replies, type Answer, type DoubtAnswer, type Reply } from "@holdpoint/flow";

import { checkValue } from "../definition/boundary.ts";
import type { Workflow } from "../definition/define.ts";
import { takesNone, workflowFacts } from "../definition/facts.ts";
import { WorkflowError } from "../errors.ts";
import type { OpenRun } from "../registry/record-codec.ts";
import type { RunRecord, WaitingFor } from "../registry/record.ts";
import type { Parts } from "./parts.ts";
import { placeOf } from "./reading.ts";
import { saidBefore } from "./said-before.ts";
import { workOn } from "./work.ts";

export interface ResumeHow {
  /** Who answers, where that is to be on record. */
  readonly by?: Actor;
  /** Which question, by its id or its name, where several wait; else the payload is a record by their names. */
  readonly interrupt?: string;
  /** Answers only questions that are open to anyone, never those for people (WF-41). */
  readonly openTo?: "anyone";
}

/** A payload that is on record. `already`: it was before, given by an earlier resume. */
export interface ResumeTaken {
  readonly status: "accepted" | "already";
  readonly runId: string;
}

/**
 * @throws InvalidInputError; WorkflowError `run-not-found`, `unknown-definition`, `status-wrong`, `resume-not-taken`,
 *   `no-interrupt-waits`, `interrupt-unclear`, `needs-a-person`, `run-moved`, `store-unavailable`; FlowError `answer-invalid`
 */
export async function resumeRun(
  parts: Parts,
  definition: Workflow,
  runId: string,
  { payload, ...how }: ResumeHow & { readonly payload: unknown },
): Promise<ResumeTaken> {
  const { record } = await parts.access.require(runId);
  assertVersion(parts, definition, record);
  const { resume, limits } = workflowFacts(definition);
  if (resume === undefined) {
    throw isWaiting(record) ? takesNone(definition.name, definition.version) : statusWrong(record); // WF-04
  }
  const { value } = await checkValue("resume", resume, payload, limits).catch((error: unknown) => {
    throw isWaiting(record) ? error : statusWrong(record); // its status is what keeps it from any payload
  });
  return spend(parts, runId, async ({ record: now }) => {
    if (mayBeSaid(now, how) && (await saidBefore(parts, definition, now, value, how)))
      return "already"; // Q4
    if (!isWaiting(now)) throw statusWrong(now); // somebody was faster
    return replies(answersOf(now, value, how));
  });
}

/** Whether a payload can be one that was given before: what it names does not wait now. */
function mayBeSaid(record: RunRecord, { interrupt }: ResumeHow): boolean {
  if (!isWaiting(record)) return true;
  return interrupt !== undefined && !record.waits.some((wait) => isNamed(wait, interrupt));
}

/**
 * Says what became of a call in doubt: one that had begun when its process died, of a tool that can't be called twice (FLOW-76).
 * Only a person can know, and says so; no schema of the definition's has a part in it.
 * @throws WorkflowError `run-not-found`, `unknown-definition`, `status-wrong`, `run-moved`, `store-unavailable`; FlowError
 *   `answer-invalid`, `answer-unknown`
 */
export async function answerDoubt(
  parts: Parts,
  runId: string,
  id: string,
  said: DoubtAnswer,
): Promise<ResumeTaken> {
  return spend(parts, runId, async ({ record }) => {
    const { facts, standing } = record;
    parts.definitions.exactly(facts.definition, facts.version, runId);
    if (standing.status !== "interrupted") throw statusWrong(record);
    return replies({ [id]: said });
  });
}

/** Spends a reply in the run's lane, made by what stands then; resolves with the commit that spends it (Q2). */
function spend(
  parts: Parts,
  runId: string,
  replyTo: (opened: OpenRun) => Promise<Reply | "already">,
): Promise<ResumeTaken> {
  return new Promise((resolve, reject) => {
    let isSpent = false;
    const spent = (): void => {
      isSpent = true;
      resolve({ status: "accepted", runId });
    };
    const work = parts.lanes.enter(runId, async (signal) => {
      const opened = await parts.access.require(runId);
      const reply = await replyTo(opened);
      if (reply === "already") return resolve({ status: "already", runId });
      parts.faults.clear(runId);
      await workOn(parts, opened, "resume", signal, { reply, onBegun: spent });
    });
    work.then(
      () => reject(moved(runId)), // nothing was spent: it was cancelled on the way
      (fault: unknown) => {
        if (isSpent) parts.faults.put(runId, fault);
        reject(fault); // Q1: nobody's, once it is spent
      },
    );
  });
}

function assertVersion({ definitions }: Parts, definition: Workflow, record: RunRecord): void {
  const { facts } = record;
  const exact = definitions.exactly(facts.definition, facts.version, facts.id);
  if (exact !== definitions.resolve(definition)) throw statusWrong(record);
}

function isWaiting({ standing }: RunRecord): boolean {
  return standing.status === "interrupted";
}

function isNamed(wait: WaitingFor, which: string): boolean {
  return wait.id === which || nameOf(wait) === which;
}

function statusWrong(record: RunRecord): WorkflowError {
  const { id: runId } = record.facts;
  return new WorkflowError("status-wrong", `run ${runId} is ${placeOf(record)}`, { runId });
}

function answersOf(
  record: RunRecord,
  value: unknown,
  { by, interrupt, openTo }: ResumeHow,
): Readonly<Record<string, Answer>> {
  const asked = record.waits.filter(({ kind }) => kind === "interrupt");
  const who = by === undefined ? undefined : { by };
  const pairs = pairsOf(record, asked, value, interrupt);
  for (const { wait } of pairs) {
    if (openTo === "anyone" && wait.answerBy !== "anyone") throw needsPerson(record);
  }
  return Object.fromEntries(pairs.map(({ wait, payload }) => [wait.id, answerJson(payload, who)]));
}

interface Pair {
  readonly wait: WaitingFor;
  readonly payload: unknown;
}

function pairsOf(
  record: RunRecord,
  asked: readonly WaitingFor[],
  payload: unknown,
  interrupt: string | undefined,
): readonly Pair[] {
  if (asked.length === 0) {
    throw refused("no-interrupt-waits", record, "waits for decisions alone: `decide` takes those");
  }
  if (interrupt !== undefined) return [{ wait: theOne(record, asked, interrupt), payload }];
  if (asked.length === 1) return [{ wait: asked[0]!, payload }];
  if (typeof payload !== "object" || payload === null || Array.isArray(payload)) {
    const names = asked.map(nameOf).join(", ");
    throw refused("interrupt-unclear", record, `asks several things: name one of ${names}`);
  }
  return Object.entries(payload).map(([name, own]) => {
    return { wait: theOne(record, asked, name), payload: own };
  });
}

function theOne(record: RunRecord, asked: readonly WaitingFor[], which: string): WaitingFor {
  const found = asked.filter((wait) => isNamed(wait, which));
  if (found.length === 1) return found[0]!;
  const ids = asked.map(({ id }) => id).join(", ");
  const why = found.length === 0 ? "asks nothing of that name or id" : "asks that several times";
  throw refused("interrupt-unclear", record, `${why}: name one of ${ids}`);
}

function nameOf({ tool }: WaitingFor): string {
  return tool.replace(/^ask:/, "");
}

function needsPerson(record: RunRecord): WorkflowError {
  return refused("needs-a-person", record, "waits for answers that a person has to give");
}

function moved(runId: string): WorkflowError {
  return new WorkflowError("run-moved", `run ${runId} went on before it was answered`, { runId });
}

function refused(
  code: "no-interrupt-waits" | "interrupt-unclear" | "needs-a-person",
  { facts }: RunRecord,
  why: string,
): WorkflowError {
  return new WorkflowError(code, `run ${facts.id} ${why}`, { runId: facts.id });
}
