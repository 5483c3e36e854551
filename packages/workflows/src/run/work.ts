/**
 * Working on a run until its next stop: one visit to the runner after another, as long as something that waits is decided.
 *
 * W1 A decision that comes while the run is still on its way to its pause is found after the pause: it resumes by itself
 *    (WF-24), once, because the log takes each revision once.
 * W2 What takes the run out of this process's hands leaves it as its log stands, for adoption; a failure that is definite
 *    is the run's own end (WF-23).
 * W3 A wish to cancel that is on record ends the run as soon as it stops, whoever wished it (WF-26).
 * W4 A run that failed and whose definition's policy retries it is waited for without a slot, and goes on here; whatever takes
 *    it out of this process's hands meanwhile leaves it to adoption, which finds the same (WF-29).
 */

import type { ActorRef } from "@holdpoint/approvals";
import { isFlowError, type Reply, type RunReading, type RunResult } from "@holdpoint/flow";
import { isSealError } from "@holdpoint/seal";

import { workflowFacts, type WorkflowFacts } from "../definition/facts.ts";
import { WorkflowError } from "../errors.ts";
import { policyBackoffMsMax, summaryCharactersMax } from "../limits.ts";
import { reached } from "../registry/commit.ts";
import { isTerminal } from "../registry/moves.ts";
import type { OpenRun } from "../registry/record-codec.ts";
import type { RunRecord, WaitingFor } from "../registry/record.ts";
import { failureBy } from "./faults.ts";
import { endCancelled } from "./cancelling.ts";
import { RunOwner } from "./owner.ts";
import type { Parts } from "./parts.ts";

/** How a run is taken up. */
export type Begin = "start" | "adopt" | "resume" | "retry";

/** What somebody brings who asks something of a run, and who is told once it is on record. */
export interface Brought {
  readonly reply?: Reply;
  /** Who retries it. */
  readonly by?: ActorRef | undefined;
  readonly onBegun?: () => void;
  /** Its log, as it was just read. */
  readonly reading?: RunReading | undefined;
}

/** @throws what took the run out of this process's hands */
export async function workOn(
  parts: Parts,
  opened: OpenRun,
  begin: Begin,
  signal: AbortSignal,
  brought?: Brought,
): Promise<void> {
  const { facts } = opened.record;
  const definition = parts.definitions.exactly(facts.definition, facts.version, facts.id);
  const how = workflowFacts(definition);
  const owner = new RunOwner(parts, opened, { policy: how.retry, onBegun: brought?.onBegun });
  if (owner.record.cancel !== undefined) return endOf(parts, owner);
  // Of a run that waits for a slot nothing is kept meanwhile (WF-25).
  const reading = parts.slots.isFree ? brought?.reading : undefined;
  let next: Taking = { begin, signal, reply: brought?.reply, by: brought?.by, reading };
  for (;;) {
    if (next.begin === "retry") await untilDue(parts, owner, signal); // W4
    const { revision } = owner.record;
    try {
      const work = () => toNextStop(parts, owner, how, next);
      await parts.slots.enter(facts.id, signal, work); // WF-25
      if (owner.record.cancel !== undefined) await endOf(parts, owner);
      return;
    } catch (error) {
      await owner.caughtUp();
      const { standing } = owner.record;
      if (isTerminal(standing.status)) {
        if (owner.record.revision === revision) throw error; // it had failed before, and nothing has begun
        return; // its log says how it failed
      }
      if (signal.aborted && (await owner.lookForCancel())) return endOf(parts, owner); // W3
      const isDue = standing.status === "running" && standing.retry !== undefined;
      const fails = isDue && owner.record.revision > revision; // just now
      const failure = fails ? undefined : failureBy(error, owner.record);
      if (failure !== undefined) return owner.move({ status: "failed", failure });
      if (!fails) throw error; // W2
      next = { begin: "retry", signal, reply: undefined, by: undefined, reading: undefined };
    }
  }
}

/** Waits until a run is due that its policy retries; an abort ends the wait, and what comes next finds it. */
function untilDue({ clock }: Parts, { record }: RunOwner, signal: AbortSignal): Promise<void> {
  const { standing } = record;
  const at = standing.status === "running" ? standing.retry?.at : undefined;
  const waitMs = Math.min((at ?? 0) - clock.now(), policyBackoffMsMax); // also where a clock was put back
  if (waitMs <= 0 || signal.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    const over = (): void => {
      cancel();
      signal.removeEventListener("abort", over);
      resolve();
    };
    const cancel = clock.timer(waitMs, over);
    signal.addEventListener("abort", over);
  });
}

async function toNextStop(
  parts: Parts,
  owner: RunOwner,
  how: WorkflowFacts,
  first: Taking,
): Promise<void> {
  const { signal } = first;
  let result = await take(parts, owner, how, first);
  await owner.caughtUp();
  while (result.status === "paused" && !signal.aborted) {
    const { revision, waits, cancel } = owner.record;
    if (cancel !== undefined || !(await anyDecided(parts, waits))) return; // W1
    result = await take(parts, owner, how, {
      begin: "resume",
      signal,
      reply: undefined,
      by: undefined,
      reading: undefined,
    });
    await owner.caughtUp();
    if (owner.record.revision === revision) return; // a decision that the run can't use as it stands
  }
  if (result.status === "completed") await summarize(parts, owner, how, result.state);
}

/** W3 */
async function endOf(parts: Parts, { opened }: RunOwner): Promise<void> {
  const { standing, cancel } = opened.record;
  if (cancel !== undefined && !isTerminal(standing.status))
    await endCancelled(parts, opened, cancel);
}

interface Taking {
  readonly begin: Begin;
  readonly signal: AbortSignal;
  readonly reply: Reply | undefined;
  readonly by: ActorRef | undefined;
  readonly reading: RunReading | undefined;
}

async function take(
  parts: Parts,
  { runner, record }: RunOwner,
  how: WorkflowFacts,
  { begin, signal, reply, by, reading }: Taking,
): Promise<RunResult> {
  const { id, startedBy } = record.facts;
  switch (begin) {
    case "start": {
      const input = beginOf(parts, how, record);
      return runner.run(how.flow, input, {
        runId: id,
        signal,
        ...(startedBy !== undefined && { requestedBy: startedBy }),
      });
    }
    case "adopt":
      return runner.adopt(how.flow, id, { signal, reading });
    case "resume":
      return runner.resume(how.flow, id, reply, { signal, reading });
    case "retry":
      return runner.retry(how.flow, id, { signal, ...(by !== undefined && { by }) });
  }
}

/** What the flow starts from: the seed, by the definition's `begin`. @throws WorkflowError `begin-failed`, `record-tampered` */
function beginOf(parts: Parts, how: WorkflowFacts, { facts }: RunRecord): unknown {
  let input: unknown;
  try {
    input = parts.sealer.decode(facts.input, { schema: how.input });
  } catch (cause) {
    if (!isSealError(cause)) throw cause;
    throw beginFailed(facts, "its input can't be read back", cause);
  }
  try {
    return how.begin(input);
  } catch (cause) {
    throw beginFailed(facts, "the definition's begin threw", cause);
  }
}

function beginFailed(facts: RunRecord["facts"], why: string, cause: unknown): WorkflowError {
  const { id: runId, definition, version } = facts;
  const message = `run ${runId} of '${definition}' could not begin: ${why}`;
  return new WorkflowError("begin-failed", message, { runId, definition, version }, cause);
}

/** Whether a resume would find something to go on by: a decision, or a time that ran out (WF-28). */
export async function anyDecided(parts: Parts, waits: readonly WaitingFor[]): Promise<boolean> {
  for (const { approvalId } of waits) {
    if (approvalId !== undefined && (await isSpendable(parts, approvalId))) return true;
  }
  const times = waits.flatMap(({ until }) => (until === undefined ? [] : [until]));
  return times.length > 0 && Math.min(...times) <= (await reached(parts.log.now()));
}

async function isSpendable({ approvals, access, newId }: Parts, id: string): Promise<boolean> {
  const { records } = approvals;
  const { scope } = access;
  const stands = await records.read(scope, id);
  switch (stands?.state) {
    case "decided":
      return true;
    case "consumed": // it expired and was swept, or an attempt of this run's consumed it late: the runner knows
      return true;
    case "pending": {
      const { argumentsDigest } = stands;
      // A plan changes nothing; it is ready where the record expired (APR-13).
      const plan = await records.settle({ scope, id, attemptId: newId(), argumentsDigest });
      return plan.status === "ready";
    }
    case undefined:
      return false;
  }
}

/** A line for lists. It is no part of the run's end: where it can't be had, the run has completed without one. */
async function summarize(
  { logger }: Parts,
  owner: RunOwner,
  how: WorkflowFacts,
  state: unknown,
): Promise<void> {
  if (how.summarize === undefined) return;
  const { record } = owner;
  try {
    const summary = String(how.summarize(state)).slice(0, summaryCharactersMax);
    await owner.put({ ...record, standing: { status: "completed", summary } });
  } catch (error) {
    const code = isFlowError(error) ? error.code : "failed";
    logger.warn("a completed run has no summary", { runId: record.facts.id, code });
  }
}
