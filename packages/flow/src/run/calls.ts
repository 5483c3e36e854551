/**
 * One call of one visit: what the executor does for it, and what goes on record around that (FLOW-35, FLOW-72, FLOW-76).
 *
 * K1 A call that waits on record is gated, and runs with what was shown; never with arguments validated anew.
 * K2 Nothing non-repeatable is entered before its intent is durable; an intent without an end is in doubt, and only a call
 *    that was and is idempotent is entered again by itself, with the recorded arguments and the same key; of any other a
 *    person says first what became of it.
 * K3 A decision that the port gives for a call is spent in the commit before the call runs.
 */
import { isApprovalError, sealableDecision } from "@holdpoint/approvals";
import {
  callIdOf,
  idempotencyKeyOf,
  type AnyTool,
  type CallIdentity,
  type CallOrder,
  type Dispatch,
  type RecordedCall,
} from "@holdpoint/tools";

import { callIdentity } from "./ask.ts";
import { deniedInfo, noRecords, questionOf, settled, withoutRecords } from "./call-end.ts";
import type { CallSite, CallWay, Making } from "./call-site.ts";
import { copyOf } from "./copy.ts";
import type { Made } from "./identity.ts";
import type { Replaced, Settled, SpentApproval, Started } from "./journal.ts";
import type { Standing } from "./scope.ts";
import { raiseDoubt } from "./doubt.ts";
import { settleDecided } from "./spend.ts";
import type { ApprovalWait } from "./wait.ts";

/** Runs a call, or continues one that stands on record. `undefined`: it waits for a person. */
export async function performCall(
  site: CallSite,
  way: CallWay,
  made: Made,
  standing: Standing,
): Promise<Settled | undefined> {
  const { live, visit } = site;
  const { started, doubt } = standing;
  if (doubt !== undefined) return undefined; // nobody has said yet what became of it
  const wait = standing.wait?.kind === "approval" ? standing.wait : undefined;
  const { tool } = way;
  if (wait !== undefined && wait.answer === undefined) return undefined; // FLOW-30: its request stays as it is
  if (
    started !== undefined &&
    started.mayRun !== true &&
    !(started.idempotent && tool.idempotent)
  ) {
    site.prepare();
    raiseDoubt(live, visit, started, { asked: true, order: made.order }); // K2
    return undefined;
  }

  const { executor = live.parts.executor } = way;
  const { runId } = live.state.seed;
  // Worked out when first asked for: most calls never are, and some have no key at all.
  let known: CallIdentity | undefined;
  const identity = (): CallIdentity => (known ??= callIdentity(runId, visit, made));
  const replaced = site.replaced(made);
  const making: Making = {
    site,
    way,
    made,
    callId: () => callIdOf(identity(), replaced?.generation ?? 0),
    records: (way.executor === undefined ? live.parts.approvals : way.executor.approvals)?.records,
    again: started !== undefined && started.mayRun !== true,
    doubts: started?.doubts,
    approval: answeredBy(wait) ?? started?.approval,
    left: undefined,
  };
  if (wait?.foreign === true && wait.answer !== undefined) {
    const denied = await settleForeign(making, wait);
    if (denied !== undefined) return denied;
  }
  const recorded = recordedCall(site, tool, { wait, started, replaced });
  const outcome = await executor.run(orderOf(making, identity, recorded));
  making.left?.();
  if (making.approval !== undefined)
    site.spentOn(made, { approval: withoutRecords(making.approval) });
  return settled(making, outcome);
}

function orderOf(
  making: Making,
  identity: () => CallIdentity,
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
    idempotencyKey: () => idempotencyKeyOf(identity()),
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
async function settleForeign(making: Making, wait: ApprovalWait): Promise<Settled | undefined> {
  const { site, records } = making;
  const { approvalId, argumentsDigest, callId } = wait;
  const { live, visit } = site;
  if (approvalId === undefined || !wait.recorded) return undefined;
  if (records === undefined) throw noRecords(live, visit, approvalId);
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
function answeredBy(wait: ApprovalWait | undefined): SpentApproval | undefined {
  if (wait?.answer === undefined) return undefined;
  const { decision, attemptId } = wait.answer;
  if (wait.approvalId === undefined) return { id: wait.callId, decision };
  return { id: wait.approvalId, decision, attemptId };
}

/** K1 */
function recordedCall(
  site: CallSite,
  tool: AnyTool,
  on: {
    readonly wait: ApprovalWait | undefined;
    readonly started: Started | undefined;
    readonly replaced: Replaced | undefined;
  },
): RecordedCall | undefined {
  const { wait, started, replaced } = on;
  if (wait?.answer !== undefined) {
    return {
      arguments: site.openArguments(wait.arguments, tool),
      gated: true,
      rule: wait.facts.rule,
      ...(wait.approvalId !== undefined && { approvalId: wait.approvalId }),
      decision: wait.answer.decision,
    };
  }
  if (started === undefined || (started.approval === undefined && replaced !== undefined)) {
    if (replaced === undefined) return undefined;
    // It was gated, and what was shown stands: asked again, whatever the tool's rule says now (FLOW-35, FLOW-66).
    return {
      arguments: site.openArguments(replaced.arguments, tool),
      gated: true,
      rule: replaced.rule,
    };
  }
  const { approval } = started;
  return {
    arguments: site.openArguments(started.arguments, tool),
    started: true, // charged, and held to the time limits of its approval, when it began
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
    if (id === undefined || records === undefined)
      making.approval = { id: id ?? callId, decision: sealableDecision(decision) };
    else {
      const argumentsDigest =
        request?.argumentsDigest ?? live.parts.sealer.digest(dispatch.arguments);
      const spent = await settleDecided(live, records, {
        visit,
        callId,
        approvalId: id,
        argumentsDigest,
        ...(request !== undefined && questionOf(making, request, id)),
      });
      making.approval = way.executor === undefined ? spent : { ...spent, own: records };
    }
  }
  const begun = (): Started => ({
    id: made,
    arguments: { form: "value", value: copyOf(dispatch.arguments) },
    idempotent: way.tool.idempotent,
    ...(making.doubts !== undefined && { doubts: making.doubts }),
    ...(making.approval !== undefined && { approval: withoutRecords(making.approval) }),
  });
  making.left = site.entering(made, way.tool, begun);
  if (!live.durable || making.again) return;
  // FLOW-72: an idempotent tool whose arguments are the input as passed can be called again from the input alone.
  if (!way.tool.idempotent || dispatch.drawn) {
    const { id: call, arguments: args, idempotent, approval: by } = begun();
    live.emit({
      type: "call-started",
      visit,
      call,
      arguments: args,
      idempotent,
      ...(by && { approval: by }),
    });
  }
  await live.flush();
}
