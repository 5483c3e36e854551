import type { ActorRef } from "./actor.ts";
import { ineligible } from "./eligibility.ts";
import type { ApprovalRequest } from "./request.ts";
import { checkedRule, type ApprovalRule } from "./rule.ts";

/** Checks arguments that a person put in place of those asked for; an executor or a supervisor provides it (APR-03). */
export interface EditPort {
  /** Without effects: it is called before anything is spent, and again at the settle. */
  validate(edit: ProposedEdit): EditVerdict | Promise<EditVerdict>;
}

export interface ProposedEdit {
  readonly request: ApprovalRequest;
  readonly arguments: unknown;
  readonly by: ActorRef;
}

/**
 * `valid`: `arguments` are what would run (defaults filled in), `rule` is what the tool's own approval rule asks for them;
 * absent where they need nobody. `invalid`: `issues` say why, in words for a person, without the values.
 */
export type EditVerdict =
  | { readonly status: "valid"; readonly arguments: unknown; readonly rule?: ApprovalRule }
  | { readonly status: "invalid"; readonly issues: readonly string[] };

/**
 * Whether the one who edits meets, alone, what the edited arguments ask for (APR-16). Earlier votes were for other arguments
 * and don't count.
 */
export function editStands(
  own: ApprovalRule,
  asked: ApprovalRule | undefined,
  requestedBy: ActorRef | undefined,
  by: ActorRef,
): boolean {
  const rule = ruleOfEdit(own, asked);
  return (rule.quorum ?? 1) <= 1 && ineligible(rule, requestedBy, by) === undefined;
}

/** The rule of the request that an edit opens: what the edited arguments ask for, and never fewer people than before. */
export function ruleOfEdit(own: ApprovalRule, asked: ApprovalRule | undefined): ApprovalRule {
  if (asked === undefined) return own;
  return checkedRule({
    ...own,
    ...asked,
    quorum: Math.max(own.quorum ?? 1, asked.quorum ?? 1),
    excludeRequester: own.excludeRequester === true || asked.excludeRequester === true,
  });
}
