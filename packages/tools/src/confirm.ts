import {
  type ActorRef,
  type ApprovalRule,
  type DecisionRecord,
  ineligible,
} from "@holdpoint/approvals";

import type { CallContext } from "./context.ts";

/**
 * What a tool's `confirm` answers: whether a person has to let the call go, by which rule, or that
 * nobody may.
 */
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
 * What `confirm` says of these arguments. Used before a person is asked, at the dispatch check, and
 * for an edit. What `confirm` throws passes through: a rule that fails lets nothing run.
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

/**
 * Whether a decision gives what a rule asks for. `quorum` is how many people stand behind it: of an
 * edit its maker alone, since earlier votes were for other arguments.
 */
export function meetsRule(
  rule: ApprovalRule,
  { by }: DecisionRecord,
  asked: { readonly requestedBy: ActorRef | undefined; readonly quorum: number },
): boolean {
  return (
    ineligible(rule, asked.requestedBy, by) === undefined && (rule.quorum ?? 1) <= asked.quorum
  );
}
