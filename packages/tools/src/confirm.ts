import type { ActorRef, ApprovalRule, DecisionRecord } from "@holdpoint/approvals";

import type { CallContext } from "./context.ts";

/** What a tool's `confirm` answers: whether a person has to let the call go, by which rule, or that nobody may. */
export type GateAnswer = boolean | ApprovalRule | Forbidden;

/** The call may not run at all, whoever approved it. */
export interface Forbidden {
  readonly forbid: string;
}

export type Gate =
  | { readonly kind: "free" }
  | { readonly kind: "gated"; readonly rule: ApprovalRule }
  | { readonly kind: "forbidden"; readonly reason: string };

const free: Gate = { kind: "free" };
const anybody: Gate = { kind: "gated", rule: {} };

/**
 * What `confirm` says of these arguments. Used before a person is asked, at the dispatch check, and for an edit.
 * What `confirm` throws passes through: a rule that fails lets nothing run.
 */
export function gateOf(
  confirm: boolean | ((args: unknown, context: CallContext) => GateAnswer),
  args: unknown,
  context: CallContext,
): Gate {
  const answer = typeof confirm === "function" ? confirm(args, context) : confirm;
  if (answer === false) return free;
  if (answer === true) return anybody;
  if (typeof answer !== "object" || answer === null || "then" in answer) {
    // A promise, or nothing: letting it pass would be reading silence as consent.
    throw new TypeError("confirm answers true, false, a rule or { forbid }, at once");
  }
  if ("forbid" in answer) return { kind: "forbidden", reason: answer.forbid };
  return { kind: "gated", rule: answer };
}

/** Whether a decision gives what a rule asks for: by whom, and not by the one who asked. */
export function meetsRule(
  rule: ApprovalRule,
  decision: DecisionRecord,
  asked: { readonly requestedBy: ActorRef | undefined; readonly quorum: number },
): boolean {
  const { by } = decision;
  const named =
    rule.approvers !== undefined || (rule.quorum ?? 1) > 1 || rule.excludeRequester === true;
  if (named && by.assurance === "none") return false;
  if (rule.approvers !== undefined && !rule.approvers.some((one) => names(one, by))) return false;
  if (rule.excludeRequester === true && asked.requestedBy?.id === by.id) return false;
  return (rule.quorum ?? 1) <= asked.quorum;
}

function names(approver: string, by: ActorRef): boolean {
  if (!approver.startsWith("role:")) return approver === by.id;
  return by.roles?.includes(approver.slice("role:".length)) ?? false;
}
