/**
 * What a run waits for, by kind.
 *
 * W1 A wait is found by its call id, which repeats at every re-run, crash and adoption (FLOW-38).
 * W2 An answer is put on it by the event that spends the answer, and by nothing else (FLOW-61).
 */
import type { DecisionRecord, RequestFacts } from "@holdpoint/approvals";

import type { Identity } from "./identity.ts";
import type { Kept } from "./journal.ts";

/** Something that waits. */
export type Wait = ApprovalWait;

interface WaitBase {
  /** W1 */
  readonly callId: string;
  /** Milliseconds since 1970. */
  readonly requestedAt: number;
  /** Its place among all that its execution asked for. */
  readonly order: number;
}

/** A call or a gate that waits for somebody's decision, with what they are shown. */
export interface ApprovalWait extends WaitBase {
  readonly kind: "approval";
  /** The call; a gate has none. */
  readonly id: Identity | undefined;
  /** The record's id where the port keeps one. */
  readonly approvalId: string | undefined;
  readonly facts: Omit<RequestFacts, "arguments">;
  readonly arguments: Kept;
  readonly argumentsDigest: string;
  /** Whether the port that was asked keeps records: then nobody goes on without settling this one (FLOW-54). */
  readonly recorded: boolean;
  /** Asked of a port that the call brought along: its records are not the runner's (FLOW-56). */
  readonly foreign?: true;
  /** W2; what was shown then runs under it. */
  answer?: { readonly decision: DecisionRecord; readonly attemptId: string };
}

/** A wait where it stands. */
export interface Waiting<W extends Wait = Wait> {
  /** The visit's path. */
  readonly path: string;
  readonly wait: W;
}

/** The id by which an answer finds what waits: the record's, else the call's. */
export function pendingId(wait: Wait): string {
  return wait.approvalId ?? wait.callId;
}

/** What asks: the tool, or `node:<flow>.<node>` for a gate. */
export function askedBy(wait: Wait): string {
  return wait.facts.tool;
}

/** Whether somebody can still answer it. */
export function isOpen(wait: Wait): boolean {
  return wait.answer === undefined;
}

export function isApproval(waiting: Waiting): waiting is Waiting<ApprovalWait> {
  return waiting.wait.kind === "approval";
}
