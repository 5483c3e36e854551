/**
 * What a resume spends, and in which order (FLOW-61, after the checks of `checkpoint/open.ts`): answers matched, by schema
 * and by rules → what is left open and what was answered earlier compared with their records → one spending commit → run.
 * Everything before the commit changes nothing.
 */
import {
  ApprovalAlreadyDecided,
  sealableDecision,
  type ApprovalRecords,
  type DecisionRecord,
  type Write,
} from "@holdpoint/approvals";

import { terminal } from "../checkpoint/open.ts";
import { FlowError } from "../errors.ts";
import { alreadyStands, firedOf, standingOf } from "./already.ts";
import { matchReply, type Matched } from "./answers.ts";
import { noRecords } from "./call-end.ts";
import { commitKnown } from "./commit.ts";
import { assertInTime, dueWaits, firedBy, type TimedWait } from "./deadlines.ts";
import type { SpentApproval } from "./journal.ts";
import { specAt } from "./follows.ts";
import type { LiveRun, NewEvent } from "./live.ts";
import { openWaits } from "./pending.ts";
import { planAnswer } from "./plan-answer.ts";
import { checkEdit, planApproval } from "./plan-approval.ts";
import { concludeDoubt, planVerdict } from "./plan-verdict.ts";
import { spend, withdrawAll, type Settling } from "./spend.ts";
import { giveBack, takeOnce } from "./spent.ts";
import { approvalsIn, framesOf } from "./tree.ts";
import { isApproval, pendingId, type ApprovalWait, type Waiting } from "./wait.ts";

/** What to do with a resume: go on under these settles, or nothing is decided yet. */
interface Plan {
  readonly attemptId: string;
  readonly settles: readonly Settling[];
  /** Votes that leave a quorum open: recorded in the same commit, and by themselves nothing runs. */
  readonly votes: Settling["writes"];
  /** What is over by itself: it ends in the same commit. */
  readonly due: readonly Waiting<TimedWait>[];
  /** Questions whose approvals were taken back: they are asked again. */
  readonly again: readonly Waiting<ApprovalWait>[];
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
  for (const one of matched ?? []) if ("decision" in one) checkEdit(live, one, one.decision);
  const due = await dueWaits(live, waits);
  assertInTime(matched ?? [], due, runId);
  const plan = await planSpend(live, matched ?? waits.filter(isApproval), due);
  await checkOthers(live, records, waits, plan);
  await checkEarlier(live, records);
  if (plan.settles.length === 0 && due.length === 0 && plan.again.length === 0) {
    if (plan.votes.length > 0) await recordVotes(live, records!, plan.votes);
    return false;
  }
  // Where they share a database, what became of them is in the commit that says so: a crash right after it loses nothing.
  const isBeside = live.durable && records !== undefined && live.sharesHome(records.store);
  if (isBeside) await concludeDoubts(live, waits, plan);
  await spendOnce(live, records, plan);
  if (!isBeside) await concludeDoubts(live, waits, plan);
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
  if (mac !== undefined) takeForResume(live, mac, plan);
  try {
    const { attemptId, settles, votes, due } = plan;
    const events = [...firedBy(due), ...askedAgain(plan)];
    await spend(live, records, attemptId, settles, { votes, events });
  } catch (error) {
    if (mac !== undefined) giveBack(mac); // FLOW-59: a refused settle does not spend the checkpoint
    throw error;
  }
}

/** @throws ApprovalAlreadyDecided with what stands, FlowError `resume-terminal` where somebody used the checkpoint before. */
function takeForResume(live: LiveRun, mac: string, { settles, due }: Plan): void {
  const now = live.parts.clock.now();
  const stands = [
    ...settles.map(({ answered }) => standingOf(answered, now)),
    ...due.map(({ wait }) => firedOf(wait)),
  ];
  const before = takeOnce(mac, { use: "resumed", stands }, now);
  if (before === undefined) return;
  const { runId } = live.state.seed;
  if (before.use === "cancelled") throw terminal(runId, "cancelled");
  // Of what this resume answers, if that was answered; else what was.
  const asked = new Set(stands.map(({ id }) => id));
  const first = before.stands.find(({ id }) => asked.has(id)) ?? before.stands[0];
  throw first === undefined
    ? terminal(runId, "resumed from this checkpoint already")
    : alreadyStands(first);
}

/** Approvals of calls in doubt are concluded as a person said they ended. */
async function concludeDoubts(live: LiveRun, waits: readonly Waiting[], plan: Plan): Promise<void> {
  for (const { answered } of plan.settles) {
    if (answered.kind !== "in-doubt") continue;
    for (const { wait } of waits)
      if (wait.kind === "in-doubt" && wait.callId === answered.callId)
        await concludeDoubt(live, wait, answered);
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
  waits: readonly Waiting[],
  records: ApprovalRecords | undefined,
): void {
  if (records !== undefined) return;
  for (const { path, wait } of waits.filter(isApproval)) {
    if (wait.recorded && wait.foreign !== true) throw noRecords(live, path, pendingId(wait));
  }
}

/** A question that this resume leaves open and that is spent: another resume of this checkpoint went on before (FLOW-54). */
async function checkOthers(
  live: LiveRun,
  records: ApprovalRecords | undefined,
  waits: readonly Waiting[],
  plan: Plan,
): Promise<void> {
  // A durable run's log refuses it by its revision.
  if (records === undefined || live.durable || plan.settles.length === 0) return;
  const settled = new Set(plan.settles.map(({ answered }) => answered.callId));
  for (const { wait } of waits.filter(isApproval)) {
    const { approvalId, callId, foreign } = wait;
    if (settled.has(callId) || approvalId === undefined || foreign === true) continue;
    const stands = await records.read(live.state.seed.scope, approvalId);
    if (stands?.state !== "consumed" || stands.decision.reason === "expired") continue;
    throw new ApprovalAlreadyDecided(approvalId, stands.decision);
  }
}

/** Questions of nodes' code that nobody answered: withdrawn, and asked again under new ids (FLOW-38). */
async function supersedeRest(live: LiveRun): Promise<void> {
  for (const { path, wait } of openWaits(live.state).filter(isApproval)) {
    const { kind } = specAt(live, path);
    if (kind !== "function" && kind !== "map") continue; // a call node's question keeps its id
    const { callId, approvalId } = wait;
    await withdrawAll(live, [wait], "superseded");
    live.emit({ type: "superseded", visit: path, callId, approvalId, again: true });
  }
}

/** The run goes on by these: where nothing else answers it, an answer to nothing says so. */
function askedAgain({ attemptId, settles, again }: Plan): readonly NewEvent[] {
  const replaced = again.map(({ path: visit, wait: { callId, approvalId } }) => {
    return { type: "superseded", visit, callId, approvalId, again: true } as const;
  });
  if (replaced.length === 0 || settles.length > 0) return replaced;
  return [{ type: "answered", attemptId, answers: [] }, ...replaced];
}

/** `asked`: what a caller answers; or, where nobody brings an answer, what the records may hold decisions of. */
async function planSpend(
  live: LiveRun,
  asked: readonly (Matched | Waiting<ApprovalWait>)[],
  due: Plan["due"],
): Promise<Plan> {
  const attemptId = live.parts.ids.id();
  const settles: Settling[] = [];
  const votes: Write[] = [];
  const again: Waiting<ApprovalWait>[] = [];
  for (const one of asked) {
    if ("answer" in one) {
      settles.push({ answered: await planAnswer(live, one), writes: [] });
      continue;
    }
    if ("doubt" in one) {
      settles.push({ answered: await planVerdict(live, one), writes: [] });
      continue;
    }
    const decision = "decision" in one ? one.decision : undefined;
    const plan = await planApproval(live, one, { attemptId, decision });
    if (plan.status === "settles") settles.push(plan.settling);
    if (plan.status === "votes") votes.push(...plan.writes);
    if (plan.status === "taken-back") again.push({ path: one.path, wait: one.wait });
  }
  return { attemptId, settles, votes, due, again };
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
