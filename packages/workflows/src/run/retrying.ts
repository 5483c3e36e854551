/**
 * Retrying a run that failed, by somebody's word (WF-29, WF-10).
 *
 * T1 It is the one move out of `failed`: made by compare-and-set, and where log and registry have one home in the commit that
 *    begins it. A crash before that leaves the run failed, one after it leaves it to adoption.
 * T2 Where they don't, the registry goes first: a crash in between is found by adoption, which lets the registry follow the log
 *    back to `failed`. The other way round nobody would look at the run again.
 * T3 What failed without an end in its log (it could not begin, or could not be read) goes on from where its log stands.
 * T4 What can't begin leaves the run failed as it was, and says why.
 */

import type { ActorRef } from "@holdpoint/approvals";

import type { Workflow } from "../definition/define.ts";
import { WorkflowError } from "../errors.ts";
import type { OpenRun } from "../registry/record-codec.ts";
import { judged } from "./adopting.ts";
import { knownLog } from "./log-reading.ts";
import type { Parts } from "./parts.ts";
import { placeOf } from "./reading.ts";
import type { LogStatus } from "./reconcile.ts";
import { workOn, type Begin, type Brought } from "./work.ts";

export interface RetryHow {
  /** Who asks for it, for the history. */
  readonly by?: ActorRef;
}

/** A retry that is on record. */
export interface RetryTaken {
  readonly status: "accepted";
  readonly runId: string;
}

/**
 * Resolves once the retry is on record; the run goes on.
 * @throws WorkflowError `run-not-found`, `unknown-definition`, `status-wrong`, `log-missing`, `checkpoint-rolled-back`,
 *   `run-moved`, `store-unavailable`; FlowError as `FlowRunner.retry` before it begins
 */
export function retryRun(parts: Parts, runId: string, { by }: RetryHow = {}): Promise<RetryTaken> {
  return new Promise((resolve, reject) => {
    let hasBegun = false;
    const onBegun = (): void => {
      hasBegun = true;
      resolve({ status: "accepted", runId });
    };
    const work = parts.lanes.enter(runId, async (signal) => {
      const failed = await failedRun(parts, runId);
      parts.faults.clear(runId);
      await retried(parts, failed, signal, { by, onBegun });
    });
    work.then(
      () => reject(notBegun(runId)), // it was shut down, or cancelled, on the way
      (fault: unknown) => {
        if (hasBegun) parts.faults.put(runId, fault);
        reject(fault); // nobody's, once it has begun
      },
    );
  });
}

/** A failed run as its log has it. */
interface FailedRun {
  readonly opened: OpenRun;
  readonly log: LogStatus;
  readonly definition: Workflow;
}

async function failedRun(parts: Parts, runId: string): Promise<FailedRun> {
  const { record, version } = await parts.access.require(runId);
  const { facts, standing } = record;
  const definition = parts.definitions.exactly(facts.definition, facts.version, runId);
  if (standing.status !== "failed") {
    throw new WorkflowError("status-wrong", `run ${runId} is ${placeOf(record)}`, { runId });
  }
  // Whoever retries it has the later word than whoever had wished its end.
  const logged = await knownLog(parts, definition, {
    record: { ...record, cancel: undefined },
    version,
    outdated: true, // a row that was failed by hand says nothing of its log
  });
  if (logged.log === "none" && record.revision > 0) {
    const message = `the registry saw run ${runId} execute, and its log is gone`;
    throw new WorkflowError("log-missing", message, { runId });
  }
  return {
    opened: { record: { ...logged.record, standing }, version },
    log: logged.log,
    definition,
  };
}

async function retried(
  parts: Parts,
  { opened, log }: FailedRun,
  signal: AbortSignal,
  brought: Brought,
): Promise<void> {
  const begin = beginOf(log);
  if (begin === undefined) return goOn(parts, opened, signal, brought); // T3
  if (parts.log.home === parts.access.registry.home) {
    return workOn(parts, opened, begin, signal, brought); // T1
  }
  // T2: as of before the log's failure, so that adoption reads it again.
  const record = runningAgain(opened);
  const revision = Math.max(0, record.revision - 1);
  const { version } = await parts.access.put({ ...record, revision }, opened.version);
  const running = { record, version };
  let hasBegun = false;
  const onBegun = (): void => {
    hasBegun = true;
    brought.onBegun?.();
  };
  try {
    await workOn(parts, running, begin, signal, { ...brought, onBegun });
  } catch (error) {
    if (!hasBegun) await putBack(parts, running, opened); // T4
    throw error;
  }
}

/** How a run begins anew whose log says that it failed, or that it never began; `undefined`: its log never failed. */
function beginOf(log: LogStatus): Begin | undefined {
  if (log === "none") return "start";
  return log === "failed" || log === "to-retry" ? "retry" : undefined;
}

// T3
async function goOn(
  parts: Parts,
  opened: OpenRun,
  signal: AbortSignal,
  { onBegun }: Brought,
): Promise<void> {
  const running = await parts.access.put(runningAgain(opened), opened.version);
  onBegun?.();
  const { begin, current } = await judged(parts, running);
  if (begin !== undefined) await workOn(parts, current, begin, signal);
}

function runningAgain({ record }: OpenRun): OpenRun["record"] {
  return { ...record, standing: { status: "running" } };
}

/** What moved meanwhile is its mover's; what can't be put back is found by adoption, which does the same. */
async function putBack(parts: Parts, { version }: OpenRun, { record }: OpenRun): Promise<void> {
  await parts.access.put(record, version).catch(() => undefined);
}

function notBegun(runId: string): WorkflowError {
  return new WorkflowError("run-moved", `run ${runId} was not retried: it moved on the way`, {
    runId,
  });
}
