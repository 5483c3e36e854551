import { unverified, type Actor } from "../actor.ts";
import { systemClock, type Clock } from "../clock.ts";
import { decisionRecord, plainTerms } from "../decision.ts";
import { ineligible } from "../eligibility.ts";
import type { ApprovalPort } from "../port.ts";
import { assertReadable } from "../request.ts";

export interface AllOptions {
  /** Who stands in the decision (default: an unverified actor of the port's name). */
  readonly by?: Actor;
  readonly note?: string;
  /** Default: the machine's. */
  readonly clock?: Clock;
}

/**
 * Approves at once whatever its actor may approve alone; for tests, and for programs that ask nobody. A request that names
 * approvers, a quorum or an excluded requester stays pending where the actor does not meet that (APR-15).
 */
export function approveAll(options: AllOptions = {}): ApprovalPort {
  const { by = unverified("approve-all"), note, clock = systemClock } = options;
  return {
    async request(request) {
      assertReadable(request);
      const { rule, requestedBy } = request;
      const alone = (rule.quorum ?? 1) <= 1 && ineligible(rule, requestedBy, by) === undefined;
      if (!alone) return { status: "pending" };
      const decision = decisionRecord(plainTerms(true, by, note), clock.now());
      return { status: "decided", decision };
    },
  };
}

/** Denies everything at once. */
export function denyAll(options: AllOptions = {}): ApprovalPort {
  const { by = unverified("deny-all"), note, clock = systemClock } = options;
  return {
    async request(request) {
      assertReadable(request);
      const decision = decisionRecord(plainTerms(false, by, note), clock.now());
      return { status: "decided", decision };
    },
  };
}
