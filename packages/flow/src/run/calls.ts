/**
 * One call of one visit: what the executor does for it, and what goes on record around that (FLOW-35, FLOW-72, FLOW-76).
 *
 * K1 A call that waits on record is gated, and runs with what was shown; never with arguments validated anew.
 * K2 Nothing non-repeatable is entered before its intent is durable; an intent without an end is in doubt, and only an
 *    idempotent tool is entered again, with the recorded arguments and the same key.
 * K3 A decision that the port gives for a call is spent in the commit before the call runs.
 */
import {
  callIdOf,
  errorInfo,
  idempotencyKeyOf,
  type AnyTool,
  type CallOrder,
  type CallOutcome,
  type Dispatch,
  type ErrorInfo,
  type RecordedCall,
} from "@holdpoint/tools";

import { ApprovalDenied, FlowError } from "../errors.ts";
import { callIdentity, waitOf } from "./ask.ts";
import { copyOf } from "./copy.ts";
import { plainIdentity, type Made } from "./identity.ts";
import type { Kept, Settled, SpentApproval, Wait } from "./journal.ts";
import type { LiveRun } from "./live.ts";
import type { Standing } from "./scope.ts";
import { conclude, settleDecided, withdraw } from "./spend.ts";

/** What a call needs to know of the visit it is made in. */
export interface CallSite {
  readonly live: LiveRun;
  readonly visit: string;
  readonly signal: AbortSignal;
  /** Seals all that is known of the run, opens it again and compares (FLOW-26). @throws FlowError `state-not-sealable` */
  prepare(): void;
  /** Keeps the approval that allowed or refused a call, for its journal entry. */
  spentOn(made: Made, approval: SpentApproval): void;
  /** Recorded arguments, by what the tool's input reaches. */
  openArguments(kept: Kept, tool: AnyTool): unknown;
}

/** Runs a call, or continues one that stands on record. `undefined`: it waits for a person. */
export async function performCall(
  site: CallSite,
  tool: AnyTool,
  made: Made,
  standing: Standing,
): Promise<Settled | undefined> {
  const { live } = site;
  const { wait, started } = standing;
  if (wait !== undefined && wait.answer === undefined) return undefined; // FLOW-30: its request stays as it is
  if (started !== undefined && !tool.idempotent) throw inDoubt(live, site.visit, made);

  const approval = answeredBy(wait);
  const spent: { approval: SpentApproval | undefined } = {
    approval: approval ?? started?.approval,
  };
  const recorded = recordedCall(site, tool, wait, started);
  const { runId, scope, requestedBy } = live.state.seed;
  const order: CallOrder = {
    tool,
    input: made.input!,
    scope,
    runId,
    node: site.visit,
    callId: () => callIdOf(callIdentity(runId, site.visit, made)),
    argumentKey: () => made.key,
    idempotencyKey: () => idempotencyKeyOf(callIdentity(runId, site.visit, made)),
    flow: live.state.seed.flow,
    requestedBy,
    signal: site.signal,
    ...(recorded !== undefined && { recorded }),
    spent: { calls: live.state.counters.calls, cost: 0 },
    prepare: () => site.prepare(),
    dispatch: (dispatch) => beforeExecute(site, tool, made, dispatch, spent, started !== undefined),
  };
  const outcome = await live.parts.executor.run(order);
  if (spent.approval !== undefined) site.spentOn(made, spent.approval);
  return settled(site, made, outcome, spent.approval);
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
async function beforeExecute(
  site: CallSite,
  tool: AnyTool,
  made: Made,
  dispatch: Dispatch,
  spent: { approval: SpentApproval | undefined },
  again: boolean,
): Promise<void> {
  const { live, visit } = site;
  const { approval } = dispatch;
  if (approval !== undefined && spent.approval === undefined) {
    const callId = callIdOf(callIdentity(live.state.seed.runId, visit, made));
    spent.approval = { id: approval.id ?? callId, decision: approval.decision };
    const records = live.parts.approvals?.records;
    if (approval.id !== undefined && records !== undefined) {
      const argumentsDigest =
        approval.request?.argumentsDigest ?? live.parts.sealer.digest(dispatch.arguments);
      const settledNow = await settleDecided(live, records, {
        visit,
        callId,
        approvalId: approval.id,
        argumentsDigest,
      });
      spent.approval = settledNow;
    }
  }
  if (!live.durable || again) return;
  // FLOW-72: an idempotent tool whose arguments are the input as passed can be called again from the input alone.
  if (!tool.idempotent || dispatch.drawn) {
    live.emit({
      type: "call-started",
      visit,
      call: plainIdentity(made),
      arguments: { form: "value", value: dispatch.arguments },
      idempotent: tool.idempotent,
      ...(spent.approval !== undefined && { approval: spent.approval }),
    });
  }
  await live.flush();
}

async function settled(
  site: CallSite,
  made: Made,
  outcome: CallOutcome,
  approval: SpentApproval | undefined,
): Promise<Settled | undefined> {
  const { live } = site;
  switch (outcome.status) {
    case "ok":
      await conclude(live, approval, "executed");
      return { ok: true, result: { form: "value", value: outcome.value } };
    case "failed":
      if (approval?.decision.approved === true)
        await conclude(live, approval, outcome.executed ? "failed" : "unused");
      else if (outcome.unused?.approvalId !== undefined)
        await withdraw(live, outcome.unused.approvalId, outcome.unused.reason);
      return { ok: false, error: outcome.error };
    case "denied": {
      const { approvalId, decision } = outcome;
      if (approvalId !== undefined && approval === undefined) {
        site.spentOn(made, { id: approvalId, decision });
        await spendDenial(site, made, approvalId);
      }
      return {
        ok: false,
        error: deniedInfo(made.name, approvalId, decision.reason, decision.note, site),
      };
    }
    case "pending":
      live.emit({
        type: "approval-requested",
        visit: site.visit,
        wait: waitOf(outcome.request, plainIdentity(made), outcome.approvalId),
      });
      return undefined;
  }
}

/** A denial on record is spent too: the same record never answers again. */
async function spendDenial(site: CallSite, made: Made, approvalId: string): Promise<void> {
  const { live, visit } = site;
  const records = live.parts.approvals?.records;
  const stands = await records?.read(live.state.seed.scope, approvalId);
  if (records === undefined || stands === undefined || stands.state !== "decided") return;
  const callId = callIdOf(callIdentity(live.state.seed.runId, visit, made));
  await settleDecided(live, records, {
    visit,
    callId,
    approvalId,
    argumentsDigest: stands.argumentsDigest,
  });
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
  if (!outcome.ok || outcome.result.form === "text") return outcome;
  return { ok: true, result: { form: "value", value: copyOf(outcome.result.value) } };
}
