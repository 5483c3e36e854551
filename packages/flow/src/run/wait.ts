/**
 * What a run waits for, by kind.
 *
 * W1 A wait is found by its call id, which repeats at every re-run, crash and adoption (FLOW-38).
 * W2 An answer is taken in by the event that spends it, and by nothing else (FLOW-61). An approval keeps it, for the call
 *    that runs under it; whatever else was answered waits no more, and its answer is in the journal.
 */
import type { DecisionRecord, RequestFacts } from "@holdpoint/approvals";

import type { AnswerBy } from "../graph/interrupt.ts";
import type { Identity } from "./identity.ts";
import type { Kept, Started } from "./journal.ts";

/** Something that waits. */
export type Wait = ApprovalWait | InterruptWait | InDoubtWait | SleepWait;

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
  /** W2 */
  answer?: { readonly decision: DecisionRecord; readonly attemptId: string };
}

/** A question that a node's code asks (FLOW-22). Info and cursor are kept as texts. */
export interface InterruptWait extends WaitBase {
  readonly kind: "interrupt";
  /** Its name, and its number among those of this name in the visit. */
  readonly id: Identity;
  readonly answerBy: AnswerBy;
  readonly info: Kept;
  readonly cursor?: Kept;
  /** From when on nobody can answer it any more, in milliseconds since 1970. */
  readonly until?: number;
}

/** A call that was begun, and nobody knows whether it ran (FLOW-76). */
export interface InDoubtWait extends WaitBase {
  readonly kind: "in-doubt";
  readonly started: Started;
  /** Whether the code, run again, still asks for the call. */
  readonly asked: boolean;
}

/** A pause that a deadline ends. */
export interface SleepWait extends WaitBase {
  readonly kind: "sleep";
  readonly id: Identity;
  /** From when on a resume goes on, in milliseconds since 1970. */
  readonly until: number;
}

/** A wait where it stands. */
export interface Waiting<W extends Wait = Wait> {
  /** The visit's path. */
  readonly path: string;
  readonly wait: W;
}

/** The id by which an answer finds what waits: the record's, else the call's. */
export function pendingId(wait: Wait): string {
  return wait.kind === "approval" ? (wait.approvalId ?? wait.callId) : wait.callId;
}

/** What asks: the tool, `node:<flow>.<node>` for a gate, `ask:<name>` for an interrupt, `sleep`. */
export function askedBy(wait: Wait): string {
  switch (wait.kind) {
    case "approval":
      return wait.facts.tool;
    case "interrupt":
      return `ask:${wait.id.name}`;
    case "in-doubt":
      return wait.started.id.name;
    case "sleep":
      return "sleep";
  }
}

/** Whether it can still be answered. */
export function isOpen(wait: Wait): boolean {
  return wait.kind !== "approval" || wait.answer === undefined;
}

export function isApproval(waiting: Waiting): waiting is Waiting<ApprovalWait> {
  return waiting.wait.kind === "approval";
}
