import type { ActorRef, ApprovalRule, DecisionRecord, WithdrawReason } from "@holdpoint/approvals";

import { type Gate, meetsRule } from "../confirm.ts";
import type { ToolErrorCode } from "../errors.ts";

/** What is compared between approval and execution (TOOL-12). */
export interface DispatchFacts {
  readonly decision: DecisionRecord;
  /** The rule by which it was asked for, where that is known. */
  readonly asked: ApprovalRule | undefined;
  /** What the tool's rule says now, of what would run. */
  readonly gate: Gate;
  readonly requestedBy: ActorRef | undefined;
  /** Digests of what may run, and of what would. */
  readonly approved: string;
  readonly running: string;
  /**
   * The approval has been used, in time and by its rule, for this very call, which is entered
   * again.
   */
  readonly used: boolean;
  /** Milliseconds since 1970, by the clock that dated the decision. */
  readonly now: number;
}

export interface DispatchRefusal {
  readonly code: ToolErrorCode;
  readonly why: string;
  /** What becomes of the approval. */
  readonly reason: WithdrawReason;
}

/** Why what was approved may not run after all; the first reason, in a fixed order. Pure. */
export function dispatchRefusal(facts: DispatchFacts): DispatchRefusal | undefined {
  const { decision, asked, gate, now } = facts;
  if (facts.approved !== facts.running) {
    const why = "the arguments are not those that were approved";
    return { code: "arguments-changed", why, reason: "superseded" };
  }
  if (gate.kind === "forbidden") {
    const why = `its rule forbids it: ${gate.reason}`;
    return { code: "rule-forbids", why, reason: "cancelled" };
  }
  if (facts.used) return undefined;
  const useWithinMs = Math.min(
    ...limitsOf(asked),
    ...(gate.kind === "gated" ? limitsOf(gate.rule) : []),
  );
  // As with expiry, the very instant is too late.
  if (now - decision.at >= useWithinMs) {
    const why = `the approval was to be used within ${useWithinMs} ms`;
    return { code: "approval-stale", why, reason: "expired" };
  }
  if (gate.kind === "gated" && !stands(gate.rule, facts)) {
    const why = "its rule asks for more than this decision gives";
    return { code: "approval-insufficient", why, reason: "superseded" };
  }
  return undefined;
}

/**
 * The port, or its records, held the decision against the rule by which it was asked for. Only
 * where the rule asks for something else now, or the arguments were edited, is there anything left
 * to check (APR-16, CASE-068).
 */
function stands(rule: ApprovalRule, { asked, decision, requestedBy }: DispatchFacts): boolean {
  const edited = decision.edited !== undefined;
  if (!edited && asked !== undefined && sameDemands(rule, asked)) return true;
  // Earlier votes were for other arguments and don't count for an edit.
  const quorum = edited ? 1 : (asked?.quorum ?? (asked === undefined ? Infinity : 1));
  return meetsRule(rule, decision, { requestedBy, quorum });
}

function sameDemands(one: ApprovalRule, other: ApprovalRule): boolean {
  return demands(one) === demands(other);
}

function demands({ approvers, quorum = 1, excludeRequester = false }: ApprovalRule): string {
  return JSON.stringify([approvers ?? null, quorum, excludeRequester]);
}

function limitsOf(rule: ApprovalRule | undefined): readonly number[] {
  return [rule?.useWithinMs ?? Infinity];
}
