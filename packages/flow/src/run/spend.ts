/**
 * Spending approvals on a run's behalf (FLOW-61, APR-29).
 *
 * P1 Nothing that an approval allows runs before its settle stands.
 * P2 Where the record and the run live in one database, settle and `answered` are one commit.
 * P3 Where they don't: `settling` is logged with the attempt id, then the record is settled under that id, then `answered`
 *    is logged. A crash in between leaves the attempt on record, and adoption repeats it (STORE-13).
 * P5 A question that its port answered at once goes on record with its answer: a crash in between finds that answer by it,
 *    and asks nobody a second time (STORE-13).
 * P4 Without a log: the record is settled, and the run goes on; a crash in between spends the approval and loses the run.
 */
import {
  ApprovalAlreadyDecided,
  sealableDecision,
  statements,
  type ApprovalRecords,
  type Decision,
  type Outcome,
  type WithdrawReason,
  type Write,
} from "@holdpoint/approvals";

import { FlowError } from "../errors.ts";
import { alongTriesMax } from "../limits.ts";
import { commitKnown, type Known } from "./commit.ts";
import type { Answered } from "./event.ts";
import type { SpentApproval, SpentHere } from "./journal.ts";
import type { LiveRun, MakeWrites, NewEvent } from "./live.ts";
import { isOpen, pendingId, type ApprovalWait, type Wait } from "./wait.ts";

/** One settle of several that go together. */
export interface Settling {
  readonly answered: Answered;
  readonly writes: readonly Write[];
}

/**
 * Commits settles and the `answered` event that says so, as the stores allow.
 * @throws ApprovalAlreadyDecided where another decision took a record meanwhile; then nothing was spent here.
 */
export async function spend(
  live: LiveRun,
  records: ApprovalRecords | undefined,
  attemptId: string,
  settles: readonly Settling[],
  beside: {
    readonly votes?: readonly Write[];
    readonly asked?: NewEvent | undefined;
    /** Whether the question goes on record without a log too, once it is answered. */
    readonly keepsAsked?: (() => boolean) | undefined;
    /** What happens beside the answers, in the same commit. */
    readonly events?: readonly NewEvent[];
  } = {},
): Promise<void> {
  const { votes = [], asked, keepsAsked, events: more = [] } = beside;
  const writes = [...settles.flatMap((settle) => settle.writes), ...votes];
  const answers = settles.map((settle) => settle.answered);
  const answered = { type: "answered", attemptId, answers } as const;
  const standing = (known: Known): Promise<void> =>
    ifRefused(live, records, { answers, writes, known });
  const first = asked === undefined || !live.durable ? [] : [asked]; // P5
  const events = answers.length > 0 ? [answered, ...more] : more;

  if (
    live.durable &&
    (records === undefined || writes.length === 0 || live.sharesHome(records.store))
  ) {
    return standing(await live.commit({ attemptId, writes, events: [...first, ...events] })); // P2
  }
  if (records !== undefined && writes.length > 0) {
    for (const event of first) live.emit(event);
    if (live.durable) live.emit({ type: "settling", attemptId, answers }); // P3
    await live.flush();
    await standing(await commitKnown(records.store, attemptId, writes)); // P1
  }
  if (asked !== undefined && !live.durable && keepsAsked?.() === true) live.emit(asked);
  for (const event of events) live.emit(event);
  await live.flush();
}

/** A refused settle changed nothing: says which decision stands instead. */
async function ifRefused(
  live: LiveRun,
  records: ApprovalRecords | undefined,
  {
    answers,
    writes,
    known,
  }: {
    readonly answers: readonly Answered[];
    readonly writes: readonly Write[];
    readonly known: Known;
  },
): Promise<void> {
  if (known.status === "done") return;
  const { runId } = live.state.seed;
  for (const answer of answers) {
    const approvalId = answer.kind === "approval" ? answer.approvalId : undefined;
    if (approvalId === undefined) continue;
    const stands = await records?.read(live.state.seed.scope, approvalId);
    if (stands !== undefined && stands.state !== "pending")
      throw new ApprovalAlreadyDecided(approvalId, stands.decision);
  }
  // Record and trail move in one commit: a trail that is ahead of its record was not put back with it (STORE-12).
  if (writes[known.write]?.statement === statements.appendAudit) {
    const message = `an approval of run ${runId} was put back: its audit trail says that it was decided before`;
    throw new FlowError("checkpoint-rolled-back", message, { runId });
  }
  throw new FlowError(
    "store-unavailable",
    "an approval's record changed while it was being spent, and is open again: try once more",
    { runId },
  );
}

/** What is about to run under a decision that its port gave, unspent. */
export interface Decided {
  readonly visit: string;
  readonly callId: string;
  readonly approvalId: string;
  readonly argumentsDigest: string;
  /** Brought by a person; absent: the one on record. */
  readonly decision?: Decision;
  /** How it ended, where settling it is all there is to it: a gate that was passed. */
  readonly outcome?: Outcome;
  /** The question, where it is not on record yet (P5). */
  readonly asked?: ApprovalWait;
  /** Whether it goes on record without a log too: its call was cut off meanwhile, and may be made again. */
  readonly keepsAsked?: () => boolean;
}

/** Settles the decision on record. @throws ApprovalAlreadyDecided where somebody else spent it. */
export async function settleDecided(
  live: LiveRun,
  records: ApprovalRecords,
  what: Decided,
): Promise<SpentApproval> {
  const { visit, callId, approvalId, argumentsDigest, outcome, decision, asked: wait } = what;
  const { keepsAsked } = what;
  const attemptId = live.parts.ids.id();
  const { scope } = live.state.seed;
  const plan = await records.settle({
    scope,
    id: approvalId,
    attemptId,
    argumentsDigest,
    ...(outcome !== undefined && { outcome }),
    ...(decision !== undefined && { decision }),
  });
  if (plan.status === "stands") throw new ApprovalAlreadyDecided(approvalId, plan.decision);
  if (plan.status !== "ready") {
    throw new FlowError(
      "store-unavailable",
      `the approval ${approvalId} was decided a moment ago and is ${plan.status} now`,
      {
        runId: live.state.seed.runId,
      },
    );
  }
  const spent = sealableDecision(plan.decision);
  const answered: Answered = {
    kind: "approval",
    visit,
    callId,
    approvalId,
    argumentsDigest,
    decision: spent,
  };
  if (wait !== undefined) live.rerun.add(visit); // what becomes of it is the call's to say
  const asked = wait && ({ type: "approval-requested", visit, wait } as const);
  const settle = { answered, writes: plan.writes };
  await spend(live, records, attemptId, [settle], { asked, keepsAsked });
  return { id: approvalId, decision: spent, attemptId };
}

/** Puts how an approved call ended on its record; with the run's next commit where they share a database (APR-21). */
export function conclude(
  live: LiveRun,
  approval: SpentHere | undefined,
  outcome: Outcome,
): Promise<void> | undefined {
  const records = approval?.own ?? live.parts.approvals?.records;
  if (records === undefined || approval?.attemptId === undefined) return undefined;
  const { scope } = live.state.seed;
  const how = { scope, id: approval.id, attemptId: approval.attemptId, outcome };
  return commitBeside(live, records, () => records.conclude(how));
}

/** Says of an approval that it allowed nothing, in a run that ends in any case: without a log, where its store takes it. */
export async function concludeUnused(live: LiveRun, approval: SpentApproval): Promise<void> {
  try {
    await conclude(live, approval, "unused");
  } catch (fault) {
    if (live.durable) throw fault;
    const { runId } = live.state.seed;
    live.parts.logger.error("an unused approval could not be put on record as such", {
      approvalId: approval.id,
      runId,
    });
  }
}

/** Denies and consumes one record that nothing will use. */
export async function withdraw(
  live: LiveRun,
  records: ApprovalRecords | undefined,
  approvalId: string,
  reason: WithdrawReason,
): Promise<void> {
  if (records === undefined) return;
  const attemptId = live.parts.ids.id();
  const how = { scope: live.state.seed.scope, id: approvalId, attemptId, reason };
  await commitBeside(live, records, () => records.withdraw(how));
}

/** Writes that belong to the run's progress: with its next commit where that is possible, else at once. */
async function commitBeside(
  live: LiveRun,
  records: ApprovalRecords,
  make: MakeWrites,
): Promise<void> {
  if (live.durable && live.sharesHome(records.store)) return live.along(make);
  for (let tries = 0; tries < alongTriesMax; tries++) {
    const known = await commitKnown(records.store, live.parts.ids.id(), await make());
    if (known.status === "done") return;
  }
  const { runId } = live.state.seed;
  throw new FlowError(
    "store-unavailable",
    `an approval's record of run ${runId} moves without an end`,
    { runId },
  );
}

/** Denies and consumes what still waits; what its port keeps no record of goes to the log, by its id (FLOW-26). */
export async function withdrawAll(
  live: LiveRun,
  waits: readonly Wait[],
  reason: WithdrawReason,
): Promise<void> {
  for (const wait of waits) {
    if (wait.kind !== "approval" || !isOpen(wait)) continue; // nobody's record, or spent already
    const records = recordsOf(live, wait);
    if (records !== undefined && wait.approvalId !== undefined)
      await withdraw(live, records, wait.approvalId, reason);
    else tellNotWithdrawn(live, wait, reason, "its port keeps no records");
  }
}

/** As `withdrawAll`, for a run that ends whatever happens: a record that can't be reached is told of, and keeps no other. */
export async function withdrawWhatCanBe(
  live: LiveRun,
  waits: readonly Wait[],
  reason: WithdrawReason,
): Promise<void> {
  for (const wait of waits) {
    try {
      await withdrawAll(live, [wait], reason);
    } catch {
      tellNotWithdrawn(live, wait, reason, "its store did not take it");
    }
  }
}

/** The records that a question was filed in: the runner's own, or those that its call brought along (FLOW-56). */
function recordsOf(live: LiveRun, wait: ApprovalWait): ApprovalRecords | undefined {
  return wait.foreign === true ? live.foreign.get(wait.callId) : live.parts.approvals?.records;
}

function tellNotWithdrawn(live: LiveRun, wait: Wait, reason: WithdrawReason, why: string): void {
  const { runId } = live.state.seed;
  const approvalId = pendingId(wait);
  live.parts.logger.error(`an approval that was asked for could not be withdrawn: ${why}`, {
    approvalId,
    runId,
    reason,
  });
  live.notice({ type: "approval.decided", ids: [approvalId], withdrawn: false });
}
