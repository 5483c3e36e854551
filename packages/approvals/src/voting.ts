/**
 * What a brought decision does to a record: the rules of people and edits, and the writes that follow. Shared by `decide`,
 * which records it alone, and `settle`, which spends it in the same commit.
 *
 * V1 Who may decide is checked before anything else is (APR-15).
 * V2 An edit is validated before any write is made of it; what validation made of it is what runs (APR-03).
 * V3 Each write that decides carries the record's expiry as its time limit (APR-13).
 */

import { versionOf, type Write } from "./commit.ts";
import { decisionTerms, type Decision, type DecisionTerms } from "./decision.ts";
import { editStands, ruleOfEdit, type EditVerdict } from "./edits.ts";
import { assertEligible, ineligible } from "./eligibility.ts";
import { ApprovalError } from "./errors.ts";
import { denialKeyOf, type RecordAccess } from "./record-access.ts";
import type { OpenRecord } from "./record-codec.ts";
import {
  expiryOf,
  filed,
  voted,
  withdrawn,
  type ApprovalRecord,
  type BoundArguments,
  type BoundEdit,
  type Moved,
  type PendingRecord,
  type Vote,
  type Voted,
} from "./record.ts";
import type { ApprovalRule } from "./rule.ts";
import { statements } from "./store.ts";

/** A vote that passed the checks. */
export interface Ballot {
  readonly vote: Vote;
  /** Set where its edit needs somebody else: what the request that it opens proposes, and under which rule. */
  readonly opens: { readonly proposed: BoundArguments; readonly rule: ApprovalRule } | undefined;
}

export interface BallotHow {
  readonly decision: Decision;
  readonly attemptId: string;
  readonly at: number;
}

/** @throws ApprovalError where this actor may not decide, or the edit can't stand */
export async function ballotOf(
  access: RecordAccess,
  record: ApprovalRecord,
  { decision, attemptId, at }: BallotHow,
): Promise<Ballot> {
  const terms = decisionTerms(decision);
  const { rule, requestedBy } = record.facts;
  assertEligible(rule, requestedBy, terms.by, record.id); // V1
  const { approved, by, note, forRun } = terms;
  const vote = { approved, by, at, note, forRun, attemptId, edited: undefined };
  if (terms.edited === undefined) return { vote, opens: undefined };
  const { edited, asked } = await validateEdit(access, record, terms, terms.edited); // V2
  const edit = { ...vote, edited };
  if (editStands(rule, asked, requestedBy, by)) return { vote: edit, opens: undefined };
  return { vote: edit, opens: { proposed: edited.effective, rule: ruleOfEdit(rule, asked) } };
}

async function validateEdit(
  access: RecordAccess,
  record: ApprovalRecord,
  terms: DecisionTerms,
  edit: { readonly tool: string; readonly arguments: unknown },
): Promise<{ readonly edited: BoundEdit; readonly asked: ApprovalRule | undefined }> {
  if (edit.tool !== record.facts.tool) {
    throw editError(record, "edits-invalid", `the edit is of the tool ${edit.tool}`);
  }
  const decided = access.codec.bind(edit.arguments); // a snapshot: what is validated is what is stored
  const verdict = await verdictOf(access, record, decided, terms);
  return {
    edited: { decided, effective: access.codec.bind(verdict.arguments) },
    asked: verdict.rule,
  };
}

/** Asks the host about an edit. @throws ApprovalError `edits-not-checkable`, `edits-invalid` */
export async function verdictOf(
  access: RecordAccess,
  record: ApprovalRecord,
  decided: BoundEdit["decided"],
  { by }: Pick<Vote, "by">,
): Promise<EditVerdict & { readonly status: "valid" }> {
  if (access.edits === undefined) {
    throw editError(record, "edits-not-checkable", "nothing here can check edited arguments");
  }
  const verdict = await access.edits.validate({
    request: access.requestOf(record),
    arguments: access.codec.read(decided, record.facts.tool),
    by,
  });
  if (verdict.status === "valid") return verdict;
  throw editError(record, "edits-invalid", `the edit is refused: ${verdict.issues.join("; ")}`);
}

function editError(
  record: ApprovalRecord,
  code: "edits-not-checkable" | "edits-invalid",
  why: string,
): ApprovalError {
  return new ApprovalError(code, `the approval ${record.id} stays as it was: ${why}`, {
    approvalId: record.id,
  });
}

/** A vote on a pending record. */
export type Cast =
  | Voted
  | { readonly status: "superseded"; readonly by: string; readonly writes: readonly Write[] };

export async function cast(
  access: RecordAccess,
  opened: OpenRecord<PendingRecord>,
  { vote, opens }: Ballot,
): Promise<Cast> {
  const outcome = voted(opened.record, vote);
  if (opens === undefined || outcome.status === "expired") return outcome;
  return supersede(access, opened, vote, opens);
}

/** Closes a record and opens the one whose proposed arguments are the edit, linked both ways, in one commit (APR-16). */
async function supersede(
  access: RecordAccess,
  opened: OpenRecord<PendingRecord>,
  vote: Vote,
  opens: NonNullable<Ballot["opens"]>,
): Promise<Cast> {
  const { record } = opened;
  const { scope } = record.facts;
  const { attemptId, at } = vote;
  const id = access.ids.id();
  const next = replacement(record, vote, opens, id);
  const closed = withdrawn(record, { reason: "superseded", attemptId, at, replacedBy: id, vote });
  const keyRow = await access.store.find(scope, record.requestKey);
  return {
    status: "superseded",
    by: id,
    writes: [
      ...access.codec.writes(opened, closed, { attemptId, before: record.expiresAt }), // V3
      ...access.codec.writes(undefined, next, { attemptId }),
      {
        statement: statements.putKey,
        scope,
        key: record.requestKey,
        expect: versionOf(keyRow),
        values: { id, asked: 1 },
      },
    ],
  };
}

function replacement(
  record: PendingRecord,
  vote: Vote,
  { proposed, rule }: NonNullable<Ballot["opens"]>,
  id: string,
): Moved<PendingRecord> {
  const { facts, context, requestKey, calledDigest } = record;
  // Whoever wrote these arguments approved them, and counts where the rule lets them; alone they are never enough.
  const counts = ineligible(rule, facts.requestedBy, vote.by) === undefined;
  return filed(
    {
      id,
      facts: { ...facts, rule },
      context,
      requestedAt: vote.at,
      expiresAt: expiryOf(vote.at, rule),
      requestKey,
      proposed,
      calledDigest,
      replaces: record.id,
    },
    vote.attemptId,
    counts ? { ...vote, edited: undefined } : undefined,
  );
}

/** The write that lets a denial cover the rest of the run (APR-18). */
export function denialWrites(record: ApprovalRecord, vote: Vote): readonly Write[] {
  if (!vote.forRun || vote.approved) return [];
  return [
    {
      statement: statements.putKey,
      scope: record.facts.scope,
      key: denialKeyOf(record.facts),
      expect: "any",
      values: { id: record.id, asked: 1 },
    },
  ];
}
