/**
 * What answers one waiting approval, worked out before anything is spent: the decision that a resume brings, or the one on
 * its record; checked by its rules, and its edits by whoever reads them.
 */
import {
  ApprovalAlreadyDecided,
  ApprovalError,
  decisionTerms,
  ineligible,
  sealableDecision,
  type ApprovalRecords,
  type Decision,
  type DecisionRecord,
  type Write,
} from "@holdpoint/approvals";

import { FlowError } from "../errors.ts";
import type { DecisionAnswered } from "./event.ts";
import { specAt } from "./follows.ts";
import type { LiveRun } from "./live.ts";
import type { Settling } from "./spend.ts";
import { pendingId, type ApprovalWait, type Waiting } from "./wait.ts";

type WaitingApproval = Waiting<ApprovalWait>;

/** How one approval stands for a resume: it settles, votes leave it open, nobody decided it yet, or it is to be asked again. */
export type ApprovalPlan =
  | { readonly status: "settles"; readonly settling: Settling }
  | { readonly status: "votes"; readonly writes: readonly Write[] }
  | { readonly status: "undecided" }
  | { readonly status: "taken-back" };

const undecided: ApprovalPlan = { status: "undecided" };

/** @throws ApprovalAlreadyDecided; ApprovalError where a rule refuses who decides; FlowError `answer-unknown`, `edits-not-allowed` */
export async function planApproval(
  live: LiveRun,
  { path, wait }: WaitingApproval,
  how: { readonly attemptId: string; readonly decision: Decision | undefined },
): Promise<ApprovalPlan> {
  const { attemptId, decision } = how;
  const { approvalId, argumentsDigest, callId } = wait;
  if (decision !== undefined) live.brought.set(callId, decision);
  const settles = (as: DecisionRecord, writes: readonly Write[] = []): ApprovalPlan => {
    const spent = sealableDecision(as);
    const answered: DecisionAnswered = {
      kind: "approval",
      visit: path,
      callId,
      approvalId,
      argumentsDigest,
      decision: spent,
    };
    return { status: "settles", settling: { answered, writes } };
  };
  const records = live.parts.approvals?.records;
  if (records === undefined || approvalId === undefined || wait.foreign === true)
    return decision === undefined ? undecided : settles(ownDecision(live, wait, decision));
  const plan = await records.settle({
    scope: live.state.seed.scope,
    id: approvalId,
    attemptId,
    argumentsDigest,
    ...(decision && { decision }),
    ...(wait.facts.kind === "gate" && { outcome: "passed" as const }),
  });
  switch (plan.status) {
    case "ready":
      checkGateEdit(live, { path, wait }, plan.decision.edited);
      return settles(plan.decision, plan.writes);
    case "open":
      return { status: "votes", writes: plan.writes };
    case "stands":
      if (decision === undefined && isClosedForRun(live, plan.decision))
        return settles(plan.decision);
      if (decision === undefined && (await isTakenBack(live, records, approvalId)))
        return { status: "taken-back" };
      throw new ApprovalAlreadyDecided(approvalId, plan.decision);
    case "pending":
      return undecided;
    case "missing":
      throw unknownApproval(live, approvalId);
  }
}

/**
 * A denial that was consumed by nobody's answer (it expired and was swept, or a cancel took it back and went no further) denies
 * a durable run, which only its log could have gone on with; a portable one can't tell that from a resume elsewhere.
 */
function isClosedForRun(live: LiveRun, { approved }: DecisionRecord): boolean {
  return live.durable && !approved;
}

/**
 * An approval that ended unused while its question is open in the log: a process that the run was taken from, or that died right
 * then, took it back. Nobody said no, and it answers nothing any more, so a durable run asks again. Where the log has gone on
 * by it, that is refused by its revision.
 */
async function isTakenBack(live: LiveRun, records: ApprovalRecords, id: string): Promise<boolean> {
  if (!live.durable) return false;
  const stands = await records.read(live.state.seed.scope, id);
  return stands?.state === "consumed" && stands.outcome === "unused";
}

function unknownApproval(live: LiveRun, id: string): FlowError {
  const message = `the store behind the port has no approval ${id}`;
  return new FlowError("answer-unknown", message, { runId: live.state.seed.runId, id });
}

/** A decision for a port that keeps no records: the rules are checked here (APR-15). */
function ownDecision(live: LiveRun, wait: ApprovalWait, decision: Decision): DecisionRecord {
  const { approved, by, note, edited, forRun } = decisionTerms(decision);
  const { rule, requestedBy } = wait.facts;
  const id = pendingId(wait);
  const refused = ineligible(rule, requestedBy, by);
  if (refused !== undefined)
    throw new ApprovalError(refused, `this actor may not decide ${id}`, { approvalId: id });
  if ((rule.quorum ?? 1) > 1) {
    throw new ApprovalError(
      "rule-invalid",
      `${id} needs ${rule.quorum} people, which only a port with records can count`,
      {
        approvalId: id,
      },
    );
  }
  return {
    approved,
    by,
    at: live.parts.clock.now(),
    ...(note !== undefined && { note }),
    ...(edited !== undefined && { edited: { arguments: edited.arguments } }),
    ...(forRun && { forRun }),
  };
}

/** Edits that a reply brings, before anything is spent: a tool's are checked by the records' own port. */
export function checkEdit(live: LiveRun, waiting: WaitingApproval, decision: Decision): void {
  const { wait } = waiting;
  const { edited } = decisionTerms(decision);
  if (edited === undefined) return;
  if (edited.tool !== wait.facts.tool) {
    const why = `it was made for '${edited.tool}', and '${wait.facts.tool}' waits`;
    throw editRefused(live, waiting, why);
  }
  const records = live.parts.approvals?.records;
  if (wait.facts.kind !== "gate" && records === undefined)
    throw editRefused(live, waiting, "the port keeps no records, so nobody could check it");
  checkGateEdit(live, waiting, edited);
}

/** Edits of a gate's payload, whoever brought them, before anything is spent (FLOW-20). */
function checkGateEdit(
  live: LiveRun,
  waiting: WaitingApproval,
  edited: { readonly arguments: unknown } | undefined,
): void {
  const { path, wait } = waiting;
  if (edited === undefined || wait.facts.kind !== "gate") return;
  const spec = specAt(live, path);
  if (spec.kind !== "gate" || spec.edits === undefined)
    throw editRefused(live, waiting, "the gate takes none");
  if (!spec.edits.schema.safeParse(edited.arguments).success)
    throw editRefused(live, waiting, "it does not fit the gate's schema");
}

function editRefused(live: LiveRun, { path: node, wait }: WaitingApproval, why: string): FlowError {
  const { runId, flow } = live.state.seed;
  const message = `the edit of ${pendingId(wait)} is refused: ${why}`;
  return new FlowError("edits-not-allowed", message, { flow, runId, node });
}
