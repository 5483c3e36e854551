/**
 * The port that asks a function, which asks a person there and then: a console prompt, a chat.
 *
 * K1 Whoever answers is held to the request's rule as on any other path (APR-15): an answer that can't stand is no answer, and
 *    the function is told why and asked again.
 * K2 One answer is one vote: a request that needs several people stays pending.
 * K3 An answer at the expiry or later counts as none; the request is denied as expired (APR-13).
 */

import { systemActor } from "../actor.ts";
import { systemClock, type Clock } from "../clock.ts";
import {
  decisionRecord,
  decisionTerms,
  plainTerms,
  type Decision,
  type DecisionRecord,
  type DecisionTerms,
} from "../decision.ts";
import { editStands, type EditPort } from "../edits.ts";
import { assertEligible } from "../eligibility.ts";
import { ApprovalError, isApprovalError, StoreUnavailable } from "../errors.ts";
import { limits } from "../limits.ts";
import type { ApprovalPort, PortAnswer } from "../port.ts";
import { assertReadable, type ApprovalRequest } from "../request.ts";

export interface Question {
  readonly signal: AbortSignal;
  /** Why the answer before this one could not stand. */
  readonly problem?: ApprovalError;
}

/** Asks a person; `undefined`: nobody answered, and the request stays pending. */
export type Ask = (
  request: ApprovalRequest,
  question: Question,
) => Decision | undefined | Promise<Decision | undefined>;

export interface AskOptions {
  /** Checks edited arguments; without it an answer that edits is refused (APR-03). */
  readonly edits?: EditPort;
  /** Default: the machine's. */
  readonly clock?: Clock;
}

/** Asks `ask`. What it throws is reported as `store-unavailable`, its cause kept: nobody could be asked. */
export function askApproval(ask: Ask, options: AskOptions = {}): ApprovalPort {
  const { edits, clock = systemClock } = options;
  return {
    async request(request, { signal }) {
      assertReadable(request);
      let problem: ApprovalError | undefined;
      for (let asked = 0; asked < limits.askedMax; asked += 1) {
        const question = { signal, ...(problem === undefined ? {} : { problem }) };
        const decision = await answerOf(ask, request, question);
        if (decision === undefined) return { status: "pending" };
        try {
          return await judged(request, decisionTerms(decision), { edits, clock });
        } catch (error) {
          if (!isApprovalError(error)) throw error;
          problem = error; // K1
        }
      }
      return { status: "pending" };
    },
  };
}

async function answerOf(
  ask: Ask,
  request: ApprovalRequest,
  question: Question,
): Promise<Decision | undefined> {
  try {
    return await ask(request, question);
  } catch (cause) {
    throw new StoreUnavailable(`nobody could be asked for the request ${request.id}`, cause);
  }
}

async function judged(
  request: ApprovalRequest,
  terms: DecisionTerms,
  { edits, clock }: { readonly edits: EditPort | undefined; readonly clock: Clock },
): Promise<PortAnswer> {
  const { rule, requestedBy } = request;
  const at = clock.now();
  const expiresAt = request.requestedAt + (rule.expiresInMs ?? Infinity);
  if (at >= expiresAt) return { status: "decided", decision: expiredAt(expiresAt) }; // K3
  assertEligible(rule, requestedBy, terms.by, request.id);
  const edited = await effectiveEdit(request, terms, edits);
  const { approved, by, note, forRun } = terms;
  if (approved && (rule.quorum ?? 1) > 1) return { status: "pending" }; // K2
  return {
    status: "decided",
    decision: decisionRecord({ approved, by, note, edited, forRun, reason: undefined }, at),
  };
}

async function effectiveEdit(
  request: ApprovalRequest,
  { edited, by }: DecisionTerms,
  edits: EditPort | undefined,
): Promise<{ readonly arguments: unknown } | undefined> {
  if (edited === undefined) return undefined;
  const refuse = (code: "edits-invalid" | "edits-not-checkable", why: string) =>
    new ApprovalError(code, `the request ${request.id} stays as it was: ${why}`, {
      approvalId: request.id,
    });
  if (edits === undefined) throw refuse("edits-not-checkable", "nothing here can check edits");
  if (edited.tool !== request.tool) throw refuse("edits-invalid", "the edit is of another tool");
  const verdict = await edits.validate({ request, arguments: edited.arguments, by });
  if (verdict.status === "invalid") throw refuse("edits-invalid", verdict.issues.join("; "));
  if (editStands(request.rule, verdict.rule, request.requestedBy, by)) {
    return { arguments: verdict.arguments };
  }
  throw refuse("edits-invalid", "what was edited needs the word of somebody else"); // APR-16
}

function expiredAt(at: number): DecisionRecord {
  return decisionRecord({ ...plainTerms(false, systemActor, undefined), reason: "expired" }, at);
}
