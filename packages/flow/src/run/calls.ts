/**
 * One call of one visit: what the executor does for it, and what goes on record around that (FLOW-35, FLOW-72, FLOW-76).
 *
 * K1 A call that waits on record is gated, and runs with what was shown; never with arguments validated anew.
 * K2 Nothing non-repeatable is entered before its intent is durable; an intent without an end is in doubt, and only an
 *    idempotent tool is entered again, with the recorded arguments and the same key.
 * K3 A decision that the port gives for a call is spent in the commit before the call runs.
 */
import { isApprovalError, type ApprovalRecords } from "@holdpoint/approvals";
import {
  callIdOf,
  errorInfo,
  idempotencyKeyOf,
  type AnyTool,
  type CallIdentity,
  type CallOrder,
  type CallOutcome,
  type Dispatch,
  type ErrorInfo,
  type Executor,
  type RecordedCall,
} from "@holdpoint/tools";

import { ApprovalDenied, FlowError } from "../errors.ts";
import { callIdentity, waitOf } from "./ask.ts";
import { copyOf } from "./copy.ts";
import type { Made } from "./identity.ts";
import type { Kept, Settled, SpentApproval, SpentHere, Wait } from "./journal.ts";
import { abortedRun, type LiveRun } from "./live.ts";
import type { Standing } from "./scope.ts";
import { conclude, settleDecided, withdraw } from "./spend.ts";

/** What a call needs to know of the visit it is made in. */
export interface CallSite {
  readonly live: LiveRun;
  readonly visit: string;
  readonly signal: AbortSignal;
  /** Seals all that is known of the run, opens it again and compares (FLOW-26). @throws FlowError `state-not-sealable` */
  prepare(): void;
  /** How often this call's question was replaced before. */
  generation(made: Made): number;
  /** Keeps what a call cost, and the approval that allowed or refused it, for its journal entry. */
  spentOn(made: Made, what: { readonly cost?: number; readonly approval?: SpentApproval }): void;
  /** Recorded arguments, by what the tool's input reaches. */
  openArguments(kept: Kept, tool: AnyTool): unknown;
}

/** How a call is made. */
export interface CallWay {
  readonly tool: AnyTool;
  /** An executor that the node brought along, with approvals of its own (FLOW-56). */
  readonly executor: Executor | undefined;
}

/** What happens to one call while it is made. */
interface Making {
  readonly site: CallSite;
  readonly way: CallWay;
  readonly made: Made;
  readonly callId: () => string;
  /** The records behind the port that is asked. */
  readonly records: ApprovalRecords | undefined;
  /** Whether its intent is on record already. */
  readonly again: boolean;
  approval: SpentHere | undefined;
}

/** Runs a call, or continues one that stands on record. `undefined`: it waits for a person. */
export async function performCall(
  site: CallSite,
  way: CallWay,
  made: Made,
  standing: Standing,
): Promise<Settled | undefined> {
  const { live, visit } = site;
  const { wait, started } = standing;
  const { tool } = way;
  if (wait !== undefined && wait.answer === undefined) return undefined; // FLOW-30: its request stays as it is
  if (started !== undefined && !tool.idempotent) throw inDoubt(live, visit, made);

  const { executor = live.parts.executor } = way;
  const { runId } = live.state.seed;
  const identity = callIdentity(runId, visit, made);
  const making: Making = {
    site,
    way,
    made,
    callId: () => callIdOf(identity, site.generation(made)),
    records: (way.executor === undefined ? live.parts.approvals : way.executor.approvals)?.records,
    again: started !== undefined,
    approval: answeredBy(wait) ?? started?.approval,
  };
  if (wait?.foreign === true && wait.answer !== undefined) {
    const denied = await settleForeign(making, wait);
    if (denied !== undefined) return denied;
  }
  const outcome = await executor.run(
    orderOf(making, identity, recordedCall(site, tool, wait, started)),
  );
  if (making.approval !== undefined)
    site.spentOn(made, { approval: withoutRecords(making.approval) });
  return settled(making, outcome);
}

function orderOf(
  making: Making,
  identity: CallIdentity,
  recorded: RecordedCall | undefined,
): CallOrder {
  const { site, made, way } = making;
  const { live } = site;
  const { runId, scope, flow, requestedBy } = live.state.seed;
  return {
    tool: way.tool,
    input: made.input!,
    scope,
    runId,
    flow,
    node: site.visit,
    callId: making.callId,
    argumentKey: () => made.key,
    idempotencyKey: () => idempotencyKeyOf(identity),
    requestedBy,
    signal: site.signal,
    ...(recorded !== undefined && { recorded }),
    spent: live.charged,
    charge: (cost) => {
      live.charge(cost);
      site.spentOn(made, { cost });
    },
    prepare: () => site.prepare(),
    dispatch: (dispatch) => beforeExecute(making, dispatch),
  };
}

/** An answer to a question that a call's own port had asked is spent in that port's store (FLOW-56). */
async function settleForeign(making: Making, wait: Wait): Promise<Settled | undefined> {
  const { site, records } = making;
  const { approvalId, argumentsDigest, callId } = wait;
  if (records === undefined || approvalId === undefined) return undefined;
  const { live, visit } = site;
  const decision = live.brought.get(callId);
  const what = {
    visit,
    callId,
    approvalId,
    argumentsDigest,
    ...(decision !== undefined && { decision }),
  };
  try {
    making.approval = { ...(await settleDecided(live, records, what)), own: records };
    return undefined;
  } catch (error) {
    if (!isApprovalError(error, "approval-already-decided")) throw error;
    return {
      ok: false,
      error: deniedInfo(making.made.name, approvalId, "approval-already-decided", undefined, site),
    };
  }
}

/** The decision that a resume brought for a waiting call. */
function answeredBy(wait: Wait | undefined): SpentApproval | undefined {
  if (wait?.answer === undefined) return undefined;
  const { decision, attemptId } = wait.answer;
  if (wait.approvalId === undefined) return { id: wait.callId, decision };
  return { id: wait.approvalId, decision, attemptId };
}

/** K1 */
function recordedCall(
  site: CallSite,
  tool: AnyTool,
  wait: Wait | undefined,
  started: Standing["started"],
): RecordedCall | undefined {
  if (wait?.answer !== undefined) {
    return {
      arguments: site.openArguments(wait.arguments, tool),
      gated: true,
      rule: wait.facts.rule,
      ...(wait.approvalId !== undefined && { approvalId: wait.approvalId }),
      decision: wait.answer.decision,
    };
  }
  if (started === undefined) return undefined;
  const { approval } = started;
  return {
    arguments: site.openArguments(started.arguments, tool),
    gated: approval !== undefined,
    ...(approval !== undefined && { approvalId: approval.id, decision: approval.decision }),
  };
}

/** K2, K3: the last thing before an effect. */
async function beforeExecute(making: Making, dispatch: Dispatch): Promise<void> {
  const { site, made, way, records } = making;
  const { live, visit } = site;
  const { approval } = dispatch;
  if (approval !== undefined && making.approval === undefined) {
    const { id, decision, request } = approval;
    const callId = making.callId();
    if (id === undefined || records === undefined) making.approval = { id: id ?? callId, decision };
    else {
      const argumentsDigest =
        request?.argumentsDigest ?? live.parts.sealer.digest(dispatch.arguments);
      const spent = await settleDecided(live, records, {
        visit,
        callId,
        approvalId: id,
        argumentsDigest,
      });
      making.approval = way.executor === undefined ? spent : { ...spent, own: records };
    }
  }
  if (!live.durable || making.again) return;
  // FLOW-72: an idempotent tool whose arguments are the input as passed can be called again from the input alone.
  if (!way.tool.idempotent || dispatch.drawn) {
    live.emit({
      type: "call-started",
      visit,
      call: made,
      arguments: { form: "value", value: copyOf(dispatch.arguments) },
      idempotent: way.tool.idempotent,
      ...(making.approval !== undefined && { approval: withoutRecords(making.approval) }),
    });
  }
  await live.flush();
}

async function settled(making: Making, outcome: CallOutcome): Promise<Settled | undefined> {
  const { site, made, approval } = making;
  const { live } = site;
  switch (outcome.status) {
    case "ok":
      await conclude(live, approval, "executed");
      return { ok: true, result: { form: "value", value: outcome.value } };
    case "failed":
      if (live.signal.aborted && outcome.executed) throw abortedRun(live); // it may be asked again: no end to record
      if (approval?.decision.approved === true)
        await conclude(live, approval, outcome.executed ? "failed" : "unused");
      else if (outcome.unused?.approvalId !== undefined)
        await withdraw(live, outcome.unused.approvalId, outcome.unused.reason);
      return { ok: false, error: outcome.error };
    case "denied": {
      const { approvalId, decision } = outcome;
      if (approvalId !== undefined && approval === undefined) await spendDenial(making, approvalId);
      return {
        ok: false,
        error: deniedInfo(made.name, approvalId, decision.reason, decision.note, site),
      };
    }
    case "pending": {
      if (live.signal.aborted) throw abortedRun(live);
      const wait = waitOf(outcome.request, made, outcome.approvalId);
      const foreign = making.way.executor === undefined ? {} : { foreign: true as const };
      live.emit({ type: "approval-requested", visit: site.visit, wait: { ...wait, ...foreign } });
      return undefined;
    }
  }
}

/** A denial on record is spent too: the same record never answers again. */
async function spendDenial(
  { site, made, callId, records }: Making,
  approvalId: string,
): Promise<void> {
  const { live, visit } = site;
  const stands = await records?.read(live.state.seed.scope, approvalId);
  if (records === undefined || stands?.state !== "decided") return;
  const what = { visit, callId: callId(), approvalId, argumentsDigest: stands.argumentsDigest };
  site.spentOn(made, { approval: await settleDecided(live, records, what) });
}

function withoutRecords({ id, decision, attemptId }: SpentHere): SpentApproval {
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

/** K2: nobody here may say whether it ran. */
function inDoubt(live: LiveRun, visit: string, made: Made): FlowError {
  const { runId } = live.state.seed;
  return new FlowError(
    "in-doubt",
    `the call of '${made.name}' in ${visit} had begun when its process died, and nobody knows whether it ran: a person has to say so`,
    { runId, node: visit, tool: made.name, callId: callIdOf(callIdentity(runId, visit, made)) },
  );
}

/** What goes into the journal of a result: a copy (FLOW-47). */
export function journaled(outcome: Settled): Settled {
  if (!outcome.ok || outcome.result.form !== "value") return outcome;
  return { ok: true, result: { form: "value", value: copyOf(outcome.result.value) } };
}
