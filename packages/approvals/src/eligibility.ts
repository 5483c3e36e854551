/**
 * Who may decide (APR-14, APR-15), as pure functions.
 *
 * E1 A rule that names approvers, a quorum or an excluded requester takes verified people alone.
 * E2 What is unknown is refused: a rule that excludes the requester refuses everybody where nobody knows who asked.
 */

import { rolesOf, type ActorRef } from "./actor.ts";
import { ApprovalError, type ApprovalErrorCode } from "./errors.ts";
import type { ApprovalRule } from "./rule.ts";

export type Ineligible = Extract<
  ApprovalErrorCode,
  "actor-unverified" | "actor-excluded" | "actor-not-eligible"
>;

/** Why this actor may not decide under this rule; `undefined` where they may. */
export function ineligible(
  rule: ApprovalRule,
  requestedBy: ActorRef | undefined,
  actor: ActorRef,
): Ineligible | undefined {
  if (asksForSomebody(rule) && actor.assurance !== "verified") return "actor-unverified"; // E1
  if (rule.excludeRequester === true && (requestedBy?.id ?? actor.id) === actor.id) {
    return "actor-excluded"; // E2
  }
  if (rule.approvers !== undefined && !isNamed(rule.approvers, actor)) return "actor-not-eligible";
  return undefined;
}

/** @throws ApprovalError with the reason as its code */
export function assertEligible(
  rule: ApprovalRule,
  requestedBy: ActorRef | undefined,
  actor: ActorRef,
  approvalId: string,
): void {
  const code = ineligible(rule, requestedBy, actor);
  if (code === undefined) return;
  throw new ApprovalError(code, `the approval ${approvalId}: ${reasons[code]}`, { approvalId });
}

const reasons: Readonly<Record<Ineligible, string>> = {
  "actor-unverified": "an identity port has to vouch for whoever decides",
  "actor-excluded": "whoever asked may not decide, and while that is unknown nobody may",
  "actor-not-eligible": "the rule names others to decide",
};

function asksForSomebody({ approvers, quorum = 1, excludeRequester }: ApprovalRule): boolean {
  return approvers !== undefined || quorum > 1 || excludeRequester === true;
}

function isNamed(approvers: readonly string[], actor: ActorRef): boolean {
  const roles = rolesOf(actor) ?? [];
  return approvers.includes(actor.id) || roles.some((role) => approvers.includes(`role:${role}`));
}
