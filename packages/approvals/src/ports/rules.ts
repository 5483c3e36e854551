/**
 * The port that decides by rules, and asks another port where none does.
 *
 * P1 The first rule that fits decides; `ask` sends a request on to the fallback, as does no rule at all.
 * P2 A rule approves only what its actor may approve alone; else the fallback is asked (APR-15). A rule may deny anything.
 * P3 A rule that throws decides nothing, and neither does any after it: the fallback is asked.
 */

import { unverified, type Actor } from "../actor.ts";
import { systemClock, type Clock } from "../clock.ts";
import { decisionRecord, plainTerms } from "../decision.ts";
import { ineligible } from "../eligibility.ts";
import type { ApprovalPort, PortAnswer } from "../port.ts";
import { assertReadable, type ApprovalRequest } from "../request.ts";

export interface DecidingRule {
  /** The tool it is about (a gate's is `node:<flow>.<node>`); absent: any. */
  readonly tool?: string;
  /** Whether it fits these arguments; absent: always. */
  readonly when?: (args: unknown, request: ApprovalRequest) => boolean;
  readonly verdict: "approve" | "deny" | "ask";
  /** Kept with the decision. */
  readonly note?: string;
}

export interface RulesOptions {
  /** Asked where no rule decides. Its records are this port's. */
  readonly fallback: ApprovalPort;
  /** Who stands in the decisions (default: an unverified actor `rules`). */
  readonly by?: Actor;
  /** Default: the machine's. */
  readonly clock?: Clock;
}

/** Decides by the first rule that fits, and asks `fallback` where none does. */
export function rulesApproval(rules: readonly DecidingRule[], options: RulesOptions): ApprovalPort {
  const { fallback, by = unverified("rules"), clock = systemClock } = options;
  return {
    ...(fallback.records === undefined ? {} : { records: fallback.records }),
    async request(request, how): Promise<PortAnswer> {
      assertReadable(request);
      const rule = firstThatFits(rules, request);
      if (rule === undefined || !mayDecide(rule, request, by))
        return fallback.request(request, how);
      const approved = rule.verdict === "approve";
      return {
        status: "decided",
        decision: decisionRecord(plainTerms(approved, by, rule.note), clock.now()),
      };
    },
  };
}

function firstThatFits(
  rules: readonly DecidingRule[],
  request: ApprovalRequest,
): DecidingRule | undefined {
  try {
    return rules.find((rule) => fits(rule, request));
  } catch {
    return undefined; // P3: told by the fallback's being asked; a rule's error may hold arguments
  }
}

function fits({ tool, when }: DecidingRule, request: ApprovalRequest): boolean {
  if (tool !== undefined && tool !== request.tool) return false;
  return when === undefined || when(request.arguments, request);
}

function mayDecide(rule: DecidingRule, request: ApprovalRequest, by: Actor): boolean {
  if (rule.verdict === "ask") return false;
  if (rule.verdict === "deny") return true; // P2
  const { rule: asked, requestedBy } = request;
  return (asked.quorum ?? 1) <= 1 && ineligible(asked, requestedBy, by) === undefined;
}
