/**
 * What a resume spends, and in which order (FLOW-61, after the checks of `checkpoint/open.ts`): answers matched, by schema
 * and by rules → what is left open and what was answered earlier compared with their records → one spending commit → run.
 * Everything before the commit changes nothing.
 */
import {
  ApprovalAlreadyDecided,
  ApprovalError,
  decisionTerms,
  ineligible,
  sealableDecision,
  type ApprovalRecords,
  type Decision,
  type DecisionRecord,
  type Write,
} from "@holdpoint/approvals";

import { FlowError } from "../errors.ts";
import { graphAt } from "../graph/nested.ts";
import type { NodeSpec } from "../graph/node.ts";
import { matchReply, type Matched } from "./answers.ts";
import { noRecords } from "./call-end.ts";
import { commitKnown } from "./commit.ts";
import type { Answered } from "./event.ts";
import { pendingId, type SpentApproval, type Wait } from "./journal.ts";
import type { LiveRun } from "./live.ts";
import { frameAt, visitAt } from "./path.ts";
import { openWaits } from "./pending.ts";
import { approvalsIn, framesOf } from "./tree.ts";
import { spend, withdrawAll, type Settling } from "./spend.ts";
import { giveBack, takeOnce } from "./spent.ts";

/** What to do with a resume: go on under these settles, or nothing is decided yet. */
interface Plan {
  readonly attemptId: string;
  readonly settles: readonly Settling[];
  /** Votes that leave a quorum open: recorded in the same commit, and by themselves nothing runs. */
  readonly votes: Settling["writes"];
}

/**
 * Spends what answers a paused run. `false`: nothing that waits is decided yet, and nothing changed but votes.
 * @throws ApprovalAlreadyDecided where a record, or this very checkpoint, was spent before
 */
export async function spendAnswers(
  live: LiveRun,
  reply: unknown,
  unanswered: "keep" | "supersede",
): Promise<boolean> {
  const records = live.parts.approvals?.records;
  const { runId } = live.state.seed;
  const waits = openWaits(live.state);
  const matched = reply === undefined ? undefined : matchReply(reply, waits, runId);
  checkReach(live, matched ?? waits, records);
  for (const answer of matched ?? []) checkEdit(live, answer.path, answer.wait, answer.decision);
  const plan = await planSpend(live, records, matched, waits);
  await checkOthers(live, records, waits, plan);
  await checkEarlier(live, records);
  if (plan.settles.length === 0) {
    if (plan.votes.length > 0) await recordVotes(live, records!, plan.votes);
    return false;
  }
  await spendOnce(live, records, plan);
  if (unanswered === "supersede") await supersedeRest(live);
  return true;
}

/** FLOW-54: a store refuses a second use by its records; in this process the checkpoint itself is taken, once. */
async function spendOnce(
  live: LiveRun,
  records: ApprovalRecords | undefined,
  plan: Plan,
): Promise<void> {
  const { mac } = live;
  if (mac !== undefined && takeOnce(mac, "resumed", live.parts.clock.now()) !== undefined)
    throw spentBefore(plan.settles[0]!.answered);
  try {
    await spend(live, records, plan.attemptId, plan.settles, plan.votes);
  } catch (error) {
    if (mac !== undefined) giveBack(mac); // FLOW-59: a refused settle does not spend the checkpoint
    throw error;
  }
}

/** A vote that leaves the quorum open is on record, and spends nothing (APR-14). */
async function recordVotes(
  live: LiveRun,
  records: ApprovalRecords,
  writes: Settling["writes"],
): Promise<void> {
  const known = await commitKnown(records.store, live.parts.ids.id(), writes);
  if (known.status === "done") return;
  throw new FlowError(
    "store-unavailable",
    "the approval's record changed while a vote was recorded: try once more",
    {
      runId: live.state.seed.runId,
    },
  );
}

/** A question on record is answered on record: without its store nobody could refuse a second use (FLOW-54). */
function checkReach(
  live: LiveRun,
  waits: readonly { readonly path: string; readonly wait: Wait }[],
  records: ApprovalRecords | undefined,
): void {
  if (records !== undefined) return;
  for (const { path, wait } of waits) {
    if (wait.recorded && wait.foreign !== true) throw noRecords(live, path, pendingId(wait));
  }
}

/** A question that this resume leaves open and that is spent: another resume of this checkpoint went on before (FLOW-54). */
async function checkOthers(
  live: LiveRun,
  records: ApprovalRecords | undefined,
  waits: readonly { readonly wait: Wait }[],
  plan: Plan,
): Promise<void> {
  // A durable run's log refuses it by its revision.
  if (records === undefined || live.durable || plan.settles.length === 0) return;
  const settled = new Set(plan.settles.map(({ answered }) => answered.callId));
  for (const { wait } of waits) {
    const { approvalId, callId, foreign } = wait;
    if (settled.has(callId) || approvalId === undefined || foreign === true) continue;
    const stands = await records.read(live.state.seed.scope, approvalId);
    if (stands?.state !== "consumed" || stands.decision.reason === "expired") continue;
    throw new ApprovalAlreadyDecided(approvalId, stands.decision);
  }
}

/** Questions of nodes' code that nobody answered: withdrawn, and asked again under new ids (FLOW-38). */
async function supersedeRest(live: LiveRun): Promise<void> {
  for (const { path, wait } of openWaits(live.state)) {
    const { kind } = specAt(live, path);
    if (kind !== "function" && kind !== "map") continue; // a call node's question keeps its id
    const { callId, approvalId } = wait;
    await withdrawAll(live, [wait], "superseded");
    live.emit({ type: "superseded", visit: path, callId, approvalId, again: true });
  }
}

async function planSpend(
  live: LiveRun,
  records: ApprovalRecords | undefined,
  matched: readonly Matched[] | undefined,
  waits: readonly { readonly path: string; readonly wait: Wait }[],
): Promise<Plan> {
  const attemptId = live.parts.ids.id();
  const settles: Settling[] = [];
  const votes: Write[] = [];
  for (const { path, wait, ...brought } of matched ?? waits) {
    const decision = "decision" in brought ? (brought as Matched).decision : undefined;
    const { approvalId, argumentsDigest, callId } = wait;
    if (decision !== undefined) live.brought.set(callId, decision);
    const answered = (as: DecisionRecord): Answered => ({
      visit: path,
      callId,
      approvalId,
      argumentsDigest,
      decision: sealableDecision(as),
    });
    if (records === undefined || approvalId === undefined || wait.foreign === true) {
      if (decision === undefined) continue;
      settles.push({ answered: answered(ownDecision(live, wait, decision)), writes: [] });
      continue;
    }
    const plan = await records.settle({
      scope: live.state.seed.scope,
      id: approvalId,
      attemptId,
      argumentsDigest,
      ...(decision && { decision }),
      ...(wait.facts.kind === "gate" && { outcome: "passed" as const }),
    });
    switch (plan.status) {
      case "ready":
        checkGateEdit(live, path, wait, plan.decision.edited);
        settles.push({ answered: answered(plan.decision), writes: plan.writes });
        break;
      case "open":
        votes.push(...plan.writes);
        break;
      case "stands":
        if (decision !== undefined || !isClosedForRun(live, plan.decision))
          throw new ApprovalAlreadyDecided(approvalId, plan.decision);
        settles.push({ answered: answered(plan.decision), writes: [] });
        break;
      case "pending":
        break; // not decided yet
      case "missing":
        throw unknownApproval(live, approvalId);
    }
  }
  return { attemptId, settles, votes };
}

/**
 * A record that was closed without a person (it expired and was swept) denies a durable run, which only its log could have
 * gone on with; a portable one can't tell that from a resume elsewhere.
 */
function isClosedForRun(live: LiveRun, { approved, reason }: DecisionRecord): boolean {
  return live.durable && !approved && reason !== undefined;
}

function unknownApproval(live: LiveRun, id: string): FlowError {
  const message = `the store behind the port has no approval ${id}`;
  return new FlowError("answer-unknown", message, { runId: live.state.seed.runId, id });
}

/** A decision for a port that keeps no records: the rules are checked here (APR-15). */
function ownDecision(live: LiveRun, wait: Wait, decision: Matched["decision"]): DecisionRecord {
  const { approved, by, note, edited, forRun } = decisionTerms(decision);
  const { rule, requestedBy } = wait.facts;
  const id = pendingId(wait);
  const refused = ineligible(rule, requestedBy, by);
  if (refused !== undefined)
    throw new ApprovalError(refused, `this actor may not decide ${id}`, { approvalId: id });
  if ((rule.quorum ?? 1) > 1) {
    throw new ApprovalError(
      "rule-invalid",
      `${id} needs ${rule.quorum} people, which only a port with records can count`,
      {
        approvalId: id,
      },
    );
  }
  return {
    approved,
    by,
    at: live.parts.clock.now(),
    ...(note !== undefined && { note }),
    ...(edited !== undefined && { edited: { arguments: edited.arguments } }),
    ...(forRun && { forRun }),
  };
}

/** Edits that a reply brings, before anything is spent: a tool's are checked by the records' own port. */
function checkEdit(live: LiveRun, path: string, wait: Wait, decision: Decision): void {
  const { edited } = decisionTerms(decision);
  if (edited === undefined) return;
  if (edited.tool !== wait.facts.tool) {
    const why = `it was made for '${edited.tool}', and '${wait.facts.tool}' waits`;
    throw editRefused(live, path, wait, why);
  }
  const records = live.parts.approvals?.records;
  if (wait.facts.kind !== "gate" && records === undefined)
    throw editRefused(live, path, wait, "the port keeps no records, so nobody could check it");
  checkGateEdit(live, path, wait, edited);
}

/** Edits of a gate's payload, whoever brought them, before anything is spent (FLOW-20). */
function checkGateEdit(
  live: LiveRun,
  path: string,
  wait: Wait,
  edited: { readonly arguments: unknown } | undefined,
): void {
  if (edited === undefined || wait.facts.kind !== "gate") return;
  const spec = specAt(live, path);
  if (spec.kind !== "gate" || spec.edits === undefined)
    throw editRefused(live, path, wait, "the gate takes none");
  if (!spec.edits.schema.safeParse(edited.arguments).success)
    throw editRefused(live, path, wait, "it does not fit the gate's schema");
}

/** The node that asked for something, by the graph of its frame. */
function specAt({ graph, state }: LiveRun, path: string): NodeSpec {
  const { node } = visitAt(state, path);
  return graphAt(graph, frameAt(state, path).path)!.nodes.get(node)!.spec;
}

function editRefused(live: LiveRun, node: string, wait: Wait, why: string): FlowError {
  const { runId, flow } = live.state.seed;
  const message = `the edit of ${pendingId(wait)} is refused: ${why}`;
  return new FlowError("edits-not-allowed", message, { flow, runId, node });
}

/** Earlier answers that the store holds are consumed records with that very decision (FLOW-55). */
async function checkEarlier(live: LiveRun, records: ApprovalRecords | undefined): Promise<void> {
  if (records === undefined) return;
  for (const { visits } of framesOf(live.state)) {
    for (const { path, approval } of approvalsIn(visits)) {
      const stands = await records.read(live.state.seed.scope, approval.id);
      if (stands === undefined) continue; // another port's
      if (stands.state === "consumed" && sameDecision(live, stands.decision, approval)) continue;
      throw new FlowError(
        "checkpoint-rolled-back",
        `the record of the earlier approval ${approval.id} does not say what this run went on with`,
        { runId: live.state.seed.runId, node: path, approvalId: approval.id },
      );
    }
  }
}

/** That very decision: who, when, how, and with which edit. */
function sameDecision(live: LiveRun, a: DecisionRecord, { decision: b }: SpentApproval): boolean {
  const { sealer } = live.parts;
  if (a.approved !== b.approved || a.at !== b.at) return false;
  return sealer.digest(sealableDecision(a)) === sealer.digest(b);
}

function spentBefore({ approvalId, callId, decision }: Answered): ApprovalAlreadyDecided {
  return new ApprovalAlreadyDecided(approvalId ?? callId, decision);
}
