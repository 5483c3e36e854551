/**
 * What a resume spends, and in which order (FLOW-61, after the checks of `checkpoint/open.ts`): answers matched → earlier
 * answers compared with their records → one spending commit → run. Everything before the commit changes nothing.
 */
import {
  ApprovalAlreadyDecided,
  ApprovalError,
  decisionTerms,
  ineligible,
  type ApprovalRecords,
  type DecisionRecord,
} from "@holdpoint/approvals";

import { FlowError } from "../errors.ts";
import { matchReply, type Matched } from "./answers.ts";
import { commitKnown } from "./commit.ts";
import type { Answered } from "./event.ts";
import { pendingId, type SpentApproval, type Wait } from "./journal.ts";
import type { LiveRun } from "./live.ts";
import { openWaits } from "./pending.ts";
import { spend, withdrawAll, type Settling } from "./spend.ts";
import { giveBack, takeOnce } from "./spent.ts";

/** What to do with a resume: go on under these settles, or nothing is decided yet. */
interface Plan {
  readonly attemptId: string;
  readonly settles: readonly Settling[];
  /** Votes that leave a quorum open: recorded, and nothing runs. */
  readonly votes: readonly Settling["writes"][];
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
  await checkEarlier(live, records);
  const { runId } = live.state.seed;
  const waits = openWaits(live.state);
  const matched = reply === undefined ? undefined : matchReply(reply, waits, runId);
  for (const answer of matched ?? []) await checkEdit(live, answer);
  const plan = await planSpend(live, records, matched, waits);
  for (const writes of plan.votes) await recordVote(live, records!, writes);
  if (plan.settles.length === 0) return false;
  const first = plan.settles[0]!.answered;
  // A store or a log refuses a second use by itself; without either only this process's memory can (FLOW-54).
  const once = plan.settles.some((settle) => settle.writes.length === 0) ? live.mac : undefined;
  if (once !== undefined && !takeOnce(once, live.parts.clock.now())) throw spentBefore(first);
  try {
    await spend(live, records, plan.attemptId, plan.settles);
  } catch (error) {
    if (once !== undefined) giveBack(once); // FLOW-59: a refused settle does not spend the checkpoint
    throw error;
  }
  if (unanswered === "supersede") await supersedeRest(live);
  return true;
}

/** A vote that leaves the quorum open is on record, and spends nothing (APR-14). */
async function recordVote(
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

/** Questions of nodes' code that nobody answered: withdrawn, and asked again under new ids (FLOW-38). */
async function supersedeRest(live: LiveRun): Promise<void> {
  for (const { path, wait } of openWaits(live.state)) {
    const node = live.state.visits.find((visit) => visit.path === path)!.node;
    if (live.graph.nodes.get(node)!.spec.kind !== "function") continue; // a call node's question keeps its id
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
  const votes: Settling["writes"][] = [];
  for (const { path, wait, ...brought } of matched ?? waits) {
    const decision = "decision" in brought ? (brought as Matched).decision : undefined;
    const { approvalId, argumentsDigest, callId } = wait;
    if (decision !== undefined) live.brought.set(callId, decision);
    if (records === undefined || approvalId === undefined || wait.foreign === true) {
      if (decision === undefined) continue;
      settles.push({
        answered: {
          visit: path,
          callId,
          approvalId,
          argumentsDigest,
          decision: ownDecision(live, wait, decision),
        },
        writes: [],
      });
      continue;
    }
    const { scope } = live.state.seed;
    const plan = await records.settle({
      scope,
      id: approvalId,
      attemptId,
      argumentsDigest,
      ...(decision && { decision }),
      ...(wait.facts.kind === "gate" && { outcome: "passed" as const }),
    });
    switch (plan.status) {
      case "ready":
        settles.push({
          answered: { visit: path, callId, approvalId, argumentsDigest, decision: plan.decision },
          writes: plan.writes,
        });
        break;
      case "open":
        votes.push(plan.writes);
        break;
      case "stands":
        throw new ApprovalAlreadyDecided(approvalId, plan.decision);
      case "pending":
        break; // not decided yet
      case "missing":
        throw new FlowError(
          "answer-unknown",
          `the store behind the port has no approval ${approvalId}`,
          {
            runId: live.state.seed.runId,
            id: approvalId,
          },
        );
    }
  }
  return { attemptId, settles, votes };
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

/** Edits of a gate's payload, before anything is spent (FLOW-20); a tool's are checked by the records' own port. */
async function checkEdit(live: LiveRun, { path, wait, decision }: Matched): Promise<void> {
  const { edited } = decisionTerms(decision);
  if (edited === undefined) return;
  const refuse = (why: string): FlowError =>
    new FlowError("edits-not-allowed", `the edit of ${pendingId(wait)} is refused: ${why}`, {
      runId: live.state.seed.runId,
      node: path,
    });
  if (edited.tool !== wait.facts.tool)
    throw refuse(`it was made for '${edited.tool}', and '${wait.facts.tool}' waits`);
  if (wait.facts.kind !== "gate") {
    if (live.parts.approvals?.records === undefined)
      throw refuse("the port keeps no records, so nobody could check it");
    return;
  }
  const node = live.state.visits.find((visit) => visit.path === path)!.node;
  const { spec } = live.graph.nodes.get(node)!;
  if (spec.kind !== "gate" || spec.edits === undefined) throw refuse("the gate takes none");
  if (!spec.edits.schema.safeParse(edited.arguments).success)
    throw refuse("it does not fit the gate's schema");
}

/** Earlier answers that the store holds are consumed records with that very decision (FLOW-55). */
async function checkEarlier(live: LiveRun, records: ApprovalRecords | undefined): Promise<void> {
  if (records === undefined) return;
  for (const visit of live.state.visits) {
    if (visit.status === "finished") continue;
    for (const { approval } of visit.execution.journal) {
      if (approval === undefined) continue;
      const stands = await records.read(live.state.seed.scope, approval.id);
      if (stands === undefined) continue; // another port's
      if (stands.state === "consumed" && sameDecision(stands.decision, approval)) continue;
      throw new FlowError(
        "checkpoint-rolled-back",
        `the record of the earlier approval ${approval.id} does not say what this run went on with`,
        { runId: live.state.seed.runId, node: visit.path, approvalId: approval.id },
      );
    }
  }
}

function sameDecision(a: DecisionRecord, { decision: b }: SpentApproval): boolean {
  return a.approved === b.approved && a.by.id === b.by.id && a.at === b.at;
}

function spentBefore({ approvalId, callId, decision }: Answered): ApprovalAlreadyDecided {
  return new ApprovalAlreadyDecided(approvalId ?? callId, decision);
}
