/**
 * How a call ends: what becomes of its approval, and what goes into the journal.
 *
 * K4 What was asked for after nobody waits for it any more (an abort, a time limit) is taken back at once; not where the run is
 *    only left as its log stands. Whoever takes it up finds the question again, and may have it on record by now.
 */
import type { ApprovalRequest } from "@holdpoint/approvals";
import { errorInfo, rebuildError, type CallOutcome, type ErrorInfo } from "@holdpoint/tools";

import { ApprovalDenied, FlowError } from "../errors.ts";
import { waitOf } from "./ask.ts";
import type { CallSite, Making } from "./call-site.ts";
import type { MaybePromise } from "../graph/node.ts";
import type { Settled, SpentApproval, SpentHere } from "./journal.ts";
import { abortedRun, type LiveRun } from "./live.ts";
import { conclude, settleDecided, withdraw, type Decided } from "./spend.ts";

/** What an outcome of the executor is to the visit; `undefined`: it waits. */
export function settled(making: Making, outcome: CallOutcome): MaybePromise<Settled | undefined> {
  switch (outcome.status) {
    case "ok": {
      const { site, approval } = making;
      const end: Settled = { ok: true, result: { form: "value", value: outcome.value } };
      const concluding = isLeft(site) ? undefined : conclude(site.live, approval, "executed");
      return concluding === undefined ? end : concluding.then(() => end);
    }
    case "failed":
      return failedCall(making, outcome);
    case "denied":
      return deniedCall(making, outcome);
    case "pending":
      return pendingCall(making, outcome);
  }
}

/** Cut off with its execution, and may be asked for again: how it ended is for then to say, on its record too (FLOW-76). */
function isLeft({ over, mayRunAgain }: CallSite): boolean {
  return over && mayRunAgain;
}

/**
 * K5 Whether an approval that was spent for a call, which was cut off before it was entered, is kept for the same call when it
 *    is made again: by whoever takes the run up, or by the execution's retry, which concludes it where there is none (APR-21).
 */
function isKept(site: CallSite, { own, ...approval }: SpentHere): boolean {
  if (!site.over || own !== undefined) return false;
  if (site.comesBack) return true;
  if (!site.timedOut) return false;
  site.leftUnused(approval);
  return true;
}

async function deniedCall(
  making: Making,
  { approvalId, decision, request }: Extract<CallOutcome, { status: "denied" }>,
): Promise<Settled> {
  const { site, made } = making;
  // Asked and answered just now; a denial on record is spent already.
  if (approvalId !== undefined && request !== undefined)
    await spendDenial(making, approvalId, request);
  return {
    ok: false,
    error: deniedInfo(made.name, approvalId, decision.reason, decision.note, site),
  };
}

async function failedCall(
  { site, made, approval, records }: Making,
  { executed, unused, error }: Extract<CallOutcome, { status: "failed" }>,
): Promise<Settled> {
  const { live, visit } = site;
  // A durable call that an abort cut off may be asked for again: no end to record.
  if (live.signal.aborted && executed && live.durable) throw abortedRun(live);
  if (executed && isLeft(site)) return { ok: false, error };
  if (!executed && approval?.decision.approved === true && isKept(site, approval))
    return { ok: false, error };
  if (approval?.decision.approved === true)
    await conclude(live, approval, executed ? "failed" : "unused");
  else if (unused?.approvalId !== undefined)
    await withdraw(live, records, unused.approvalId, unused.reason);
  if (!executed && error.code === "state-not-sealable") {
    // What a person would be shown can't be sealed: nobody was asked, and the run fails closed (FLOW-26).
    throw new FlowError(
      "state-not-sealable",
      `the arguments of '${made.name}' in ${visit} can't be sealed: ${error.message}`,
      { node: visit, tool: made.name, path: error.attributes["path"] },
      rebuildError(error),
    );
  }
  // Nobody could be asked: a durable run is left as it stands, and adopted later.
  if (!executed && error.code === "store-unavailable" && live.durable) throw rebuildError(error);
  return { ok: false, error };
}

function pendingCall(
  making: Making,
  { request, approvalId }: Extract<CallOutcome, { status: "pending" }>,
): MaybePromise<undefined> {
  const { site, made, records, way } = making;
  const { live, visit } = site;
  if (site.over) return tooLate(making, approvalId);
  const wait = waitOf(request, made, { approvalId, recorded: records !== undefined });
  if (way.executor === undefined) {
    live.emit({ type: "approval-requested", visit, wait });
    return undefined;
  }
  if (records !== undefined) live.foreign.set(wait.callId, records);
  live.emit({ type: "approval-requested", visit, wait: { ...wait, foreign: true } });
  return undefined;
}

/** K4 */
async function tooLate(
  { site, records }: Making,
  approvalId: string | undefined,
): Promise<undefined> {
  const { live } = site;
  if (approvalId !== undefined && !site.comesBack)
    await withdraw(live, records, approvalId, "cancelled");
  if (live.signal.aborted) throw abortedRun(live);
  return undefined;
}

/** A denial on record is spent too, an expiry among them: the same record never answers again. */
async function spendDenial(
  making: Making,
  approvalId: string,
  request: ApprovalRequest,
): Promise<void> {
  const { site, made, callId, records } = making;
  const { live, visit } = site;
  const stands = await records?.read(live.state.seed.scope, approvalId);
  if (records === undefined || stands === undefined || stands.state === "consumed") return;
  const { argumentsDigest } = stands;
  site.spending(making.ending!); // its port was awaited, so it is known
  const asked = questionOf(making, request, approvalId);
  const what = { visit, callId: callId(), approvalId, argumentsDigest, ...asked };
  site.spentOn(made, { approval: await settleDecided(live, records, what) });
}

/** What was asked and answered at once; of a call with a port of its own, that port's records say it. */
export function questionOf(
  { way, made, site }: Making,
  request: ApprovalRequest,
  approvalId: string,
): Pick<Decided, "asked" | "keepsAsked"> {
  if (way.executor !== undefined) return {};
  return {
    asked: waitOf(request, made, { approvalId, recorded: true }),
    keepsAsked: () => site.timedOut,
  };
}

export function withoutRecords({ id, decision, attemptId }: SpentHere): SpentApproval {
  return { id, decision, ...(attemptId !== undefined && { attemptId }) };
}

/** What a denial is inside a node: the same error live and replayed (FLOW-36). */
export function deniedInfo(
  tool: string,
  approvalId: string | undefined,
  reason: string | undefined,
  note: string | undefined,
  where: { readonly live: LiveRun; readonly visit: string },
): ErrorInfo {
  const { flow, runId } = where.live.state.seed;
  const why = reason === undefined ? "" : ` (${reason})`;
  return errorInfo(
    new ApprovalDenied("approval-denied", `'${tool}' was denied${why}`, {
      flow,
      runId,
      node: where.visit,
      tool,
      ...(approvalId !== undefined && { approvalId }),
      ...(reason !== undefined && { reason }),
      ...(note !== undefined && { note }),
    }),
  );
}

/** The record that was asked for is out of reach: nothing runs under a decision that can't be spent (FLOW-54). */
export function noRecords(live: LiveRun, visit: string, approvalId: string): FlowError {
  const { runId, flow } = live.state.seed;
  return new FlowError(
    "no-approver",
    `the approval ${approvalId} is kept in records that this runner's port does not reach`,
    { flow, runId, node: visit, approvalId },
  );
}
