import { ApprovalError } from "./errors.ts";
import { limits } from "./limits.ts";

/** Who may let a request go, and for how long. All members are optional; none given: one decision by anybody. */
export interface ApprovalRule {
  /** Actor ids or `role:` names that may decide; others are refused. Empty is refused. */
  readonly approvers?: readonly string[];
  /** How many distinct people must approve; 1 or more (default 1). One denial denies. */
  readonly quorum?: number;
  /** The one who asked may not decide (four eyes). */
  readonly excludeRequester?: boolean;
  /** How long deciding is possible after the request, in milliseconds (APR-13). */
  readonly expiresInMs?: number;
  /** How long an approval may be used after it was given, in milliseconds; later the dispatch is refused (`approval-stale`). */
  readonly useWithinMs?: number;
  readonly title?: string;
  readonly reason?: string;
}

/**
 * A copy of a rule, checked: a member of another name, a quorum that its own list of people could never reach or a
 * duration that is none would wait for ever.
 *
 * @throws ApprovalError `rule-invalid`
 */
export function checkedRule(rule: ApprovalRule): ApprovalRule {
  const checked: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(rule)) {
    if (value === undefined) continue;
    const check = checks.get(name);
    if (check === undefined) throw invalid(`has no member ${name}`);
    checked[name] = check(value);
  }
  const { approvers, quorum = 1 } = checked as ApprovalRule;
  const people = approvers?.some((name) => name.startsWith("role:")) ? Infinity : approvers?.length;
  if (people !== undefined && quorum > people) {
    throw invalid(`asks ${quorum} people of a list of ${people}`);
  }
  return Object.freeze(checked as ApprovalRule);
}

const checks = new Map<string, (value: unknown) => unknown>([
  ["approvers", checkedApprovers],
  ["quorum", (value) => checkedInteger("quorum", value, limits.quorumMax)],
  ["excludeRequester", checkedFlag],
  ["expiresInMs", (value) => checkedInteger("expiresInMs", value, limits.durationMsMax)],
  ["useWithinMs", (value) => checkedInteger("useWithinMs", value, limits.durationMsMax)],
  ["title", (value) => checkedText("title", value)],
  ["reason", (value) => checkedText("reason", value)],
]);

function checkedApprovers(value: unknown): readonly string[] {
  if (!Array.isArray(value) || value.length === 0 || value.length > limits.approversMax) {
    throw invalid(`names no approvers, or more than ${limits.approversMax}`);
  }
  const names = new Set<string>();
  for (const name of value as readonly unknown[]) {
    if (typeof name !== "string" || name.length === 0 || name === "role:") {
      throw invalid("names an approver that is no text");
    }
    names.add(name);
  }
  return Object.freeze([...names]);
}

function checkedInteger(name: string, value: unknown, most: number): number {
  if (!Number.isSafeInteger(value) || (value as number) < 1 || (value as number) > most) {
    throw invalid(`has a ${name} that is no whole number from 1 to ${most}`);
  }
  return value as number;
}

function checkedFlag(value: unknown): boolean {
  if (typeof value !== "boolean") throw invalid("has an excludeRequester that is no boolean");
  return value;
}

function checkedText(name: string, value: unknown): string {
  if (typeof value !== "string" || value.length > limits.noteCharactersMax) {
    throw invalid(
      `has a ${name} that is no text of at most ${limits.noteCharactersMax} characters`,
    );
  }
  return value;
}

function invalid(what: string): ApprovalError {
  return new ApprovalError("rule-invalid", `an approval rule ${what}`);
}
