/**
 * One round of the promise "once" (P1): many callers race to decide, or to spend, one record.
 */

import {
  approve,
  deny,
  identityPort,
  isApprovalError,
  requestOf,
  type Actor,
  type ApprovalAlreadyDecided,
  type Decision,
  type DeferredApproval,
} from "@holdpoint/approvals";

export type RoundKind = "decide" | "settle" | "both";

export interface RoundResult {
  /** Callers whose decision came to stand. */
  readonly deciders: number;
  /** Attempts that spent the record. */
  readonly spenders: number;
  /** Callers who were told what stands, and told the truth. */
  readonly told: number;
  /** Anything else: a caller without an answer, or with a wrong one. */
  readonly wrong: number;
}

const scope = "acme";
const people = identityPort((name) => ({ id: String(name) }));

interface Caller {
  readonly number: number;
  readonly decision: Decision;
}

type Answer =
  | { readonly kind: "decided" | "spent" | "told"; readonly by: string; readonly approved: boolean }
  | { readonly kind: "wrong" };

/** Files a record, lets `callers` race for it, and counts what they were told against what stands. */
export async function raceRound(
  port: DeferredApproval,
  round: number,
  kind: RoundKind,
  callers: number,
): Promise<RoundResult> {
  const id = `record-${round}`;
  const request = requestOf(
    {
      kind: "tool",
      tool: "issue_refund",
      scope,
      runId: `run-${round}`,
      node: "pay#1",
      callId: `call-${round}`,
      argumentKey: "key",
      arguments: { cents: 4_200 + round },
      requestedBy: undefined,
      rule: {},
    },
    { id, requestedAt: 0 },
  );
  const how = { signal: new AbortController().signal, prepare: () => undefined };
  await port.request(request, how);
  const racing = await Promise.all(Array.from({ length: callers }, (_, at) => caller(at)));
  const answers = await Promise.all(
    racing.map((one) =>
      kind === "settle" || (kind === "both" && one.number % 2 === 0)
        ? settle(port, id, request.argumentsDigest, one)
        : decide(port, id, one),
    ),
  );
  return count(port, id, answers);
}

async function caller(number: number): Promise<Caller> {
  const by: Actor = await people.authenticate(`person-${number}`);
  return { number, decision: number % 3 === 0 ? deny({ by }) : approve({ by }) };
}

async function decide(
  { records }: DeferredApproval,
  id: string,
  { decision }: Caller,
): Promise<Answer> {
  try {
    const result = await records.decide({ scope, id, decision });
    if (result.status !== "decided") return { kind: "wrong" };
    const { approved, by } = result.decision;
    return { kind: "decided", approved, by: by.id };
  } catch (error) {
    if (!isApprovalError(error, "approval-already-decided")) throw error;
    const { approved, by } = (error as ApprovalAlreadyDecided).decision;
    return { kind: "told", approved, by: by.id };
  }
}

async function settle(
  { records }: DeferredApproval,
  id: string,
  argumentsDigest: string,
  { number, decision }: Caller,
): Promise<Answer> {
  const attemptId = `attempt-${number}`;
  for (;;) {
    const plan = await records.settle({ scope, id, attemptId, argumentsDigest, decision });
    if (plan.status !== "ready" && plan.status !== "stands") return { kind: "wrong" };
    const { approved, by } = plan.decision;
    if (plan.status === "stands") {
      return plan.mine ? { kind: "wrong" } : { kind: "told", approved, by: by.id };
    }
    const committed = await records.store.commit(attemptId, plan.writes);
    if (committed.status === "done") return { kind: "spent", approved, by: by.id };
  }
}

async function count(
  { records }: DeferredApproval,
  id: string,
  answers: readonly Answer[],
): Promise<RoundResult> {
  const stands = await records.read(scope, id);
  const truth = stands === undefined || stands.state === "pending" ? undefined : stands.decision;
  const result = { deciders: 0, spenders: 0, told: 0, wrong: 0 };
  for (const answer of answers) {
    const right =
      answer.kind !== "wrong" && answer.approved === truth?.approved && answer.by === truth.by.id;
    if (!right) result.wrong += 1;
    else if (answer.kind === "decided") result.deciders += 1;
    else if (answer.kind === "spent") result.spenders += 1;
    else result.told += 1;
  }
  const audit = await records.verifyAudit(scope, id);
  const entries = audit.status === "whole" ? audit.entries.length : 0;
  // Filed, decided, and consumed where it was spent: one entry each, whoever raced.
  if (entries !== 2 + result.spenders) result.wrong += 1;
  return result;
}
