import type { ActorRef } from "@holdpoint/approvals";
import type { AnswerBy, PendingView, RunEvent } from "@holdpoint/flow";

import { retryAfterMs, type RetryPolicy } from "../definition/retry-policy.ts";
import { failureCharactersMax, reasonCharactersMax } from "../limits.ts";
import { isTerminal, mayMove } from "./moves.ts";
import type { RunStatus } from "./store.ts";

/** What never changes about a run: its durable seed (WF-11, WF-12). */
export interface RunFacts {
  readonly id: string;
  readonly scope: string;
  readonly session: string | undefined;
  readonly definition: string;
  readonly version: string;
  readonly parent: string | undefined;
  readonly startedBy: ActorRef | undefined;
  readonly startKey: string | undefined;
  /** Digest of the input as it was given: the same key is for the same one. */
  readonly inputDigest: string;
  /** The input as its schema read it, sealed: what the run begins from, after a crash too. */
  readonly input: string;
  readonly createdAt: number;
}

/** Where a run stands, with what goes with it. */
export type Standing =
  | { readonly status: "pending" }
  | { readonly status: "running"; readonly retry?: RetryDue }
  | { readonly status: "interrupted" }
  | { readonly status: "completed"; readonly summary?: string }
  | { readonly status: "failed"; readonly failure: Failure }
  | { readonly status: "cancelled"; readonly reason: string; readonly by: ActorRef | undefined };

/** A run whose log says that it failed, and that its definition's policy retries. */
export interface RetryDue {
  /** Milliseconds since 1970. */
  readonly at: number;
  readonly failure: Failure;
}

/** How a run failed, bounded. */
export interface Failure {
  readonly code: string;
  readonly message: string;
}

/** One thing that a run waits for. */
export interface WaitingFor {
  readonly kind: PendingView["kind"];
  /** What an answer names. */
  readonly id: string;
  /** The record behind it, where the port keeps one. */
  readonly approvalId: string | undefined;
  /** The visit that waits. */
  readonly visit: string;
  readonly callId: string;
  /** The tool, `node:<flow>.<node>` for a gate, `ask:<name>` for an interrupt. */
  readonly tool: string;
  /** Of an interrupt: who may answer it (WF-41). */
  readonly answerBy?: AnswerBy;
  /** When it ends by itself, by the log's clock, milliseconds since 1970: of a sleep, and of a question with a deadline (WF-28). */
  readonly until?: number;
}

/** Somebody's word that a run is to end: on record until it has, so that a crash forgets neither it nor its reason (WF-26). */
export interface CancelRequest {
  readonly reason: string;
  readonly by: ActorRef | undefined;
  readonly at: number;
}

/** A run as the registry knows it. */
export interface RunRecord {
  readonly facts: RunFacts;
  readonly standing: Standing;
  /** Of a run that was at work when somebody cancelled it. */
  readonly cancel: CancelRequest | undefined;
  /** What waits for a person; of a running run, what has been asked so far. */
  readonly waits: readonly WaitingFor[];
  /** How often it was retried, by hand or by policy. */
  readonly retries: number;
  /** The log's revision as of this record; 0 before anything ran. */
  readonly revision: number;
  readonly updatedAt: number;
}

/** A run that nobody began to execute yet. */
export function pendingRun(facts: RunFacts): RunRecord {
  return {
    facts,
    standing: { status: "pending" },
    cancel: undefined,
    waits: [],
    retries: 0,
    revision: 0,
    updatedAt: facts.createdAt,
  };
}

/**
 * When its owner has to look at a run though nobody says anything: at once where somebody wishes its end, where it waits, when
 * the first of what ends by itself does, and where its policy retries it, when that is due.
 */
export function dueOf({ standing, cancel, waits }: RunRecord): number | undefined {
  if (isTerminal(standing.status)) return undefined;
  if (cancel !== undefined) return 0;
  if (standing.status === "running") return standing.retry?.at;
  if (standing.status !== "interrupted") return undefined;
  const times = waits.flatMap(({ until }) => (until === undefined ? [] : [until]));
  return times.length === 0 ? undefined : Math.min(...times);
}

/**
 * A record after one more event of its run's log: the one place that says how a log moves a registry. Total over all events,
 * so that revisions count; an event that makes no legal move (WF-10) moves nothing. `policy`: its definition's, by which a
 * failure may be no end.
 */
export function follow(record: RunRecord, event: RunEvent, policy?: RetryPolicy): RunRecord {
  const next = standingAfter(record, event, policy);
  const moves = next !== undefined && movesTo(record, next.status, event);
  const standing = moves ? next : record.standing;
  return {
    ...record,
    standing,
    retries: record.retries + (isRetry(event) ? 1 : 0),
    waits: isTerminal(standing.status) ? [] : waitsAfter(record.waits, event),
    revision: record.revision + 1,
    // A clock that runs backwards never makes a run younger.
    updatedAt: Math.max(record.updatedAt, event.at),
  };
}

/** A record moved without an event of the log: before there is one, or because it can't be trusted. */
export function moved(record: RunRecord, standing: Standing, at: number): RunRecord {
  const waits = isTerminal(standing.status) ? [] : record.waits;
  return { ...record, standing, waits, updatedAt: Math.max(record.updatedAt, at) };
}

function movesTo({ standing }: RunRecord, to: RunStatus, event: RunEvent): boolean {
  const { status } = standing;
  // A run that its policy retries stays running, with another reason.
  if (status === "running" && to === "running") return isRetry(event) || event.type === "failed";
  // A failed run that never began begins by a retry, too.
  const isByRetry = isRetry(event) || event.type === "run-started";
  return mayMove(status, to) || (isByRetry && mayMove(status, to, "retry"));
}

function isRetry({ type }: RunEvent): boolean {
  return type === "run-retried";
}

function standingAfter(
  record: RunRecord,
  event: RunEvent,
  policy: RetryPolicy | undefined,
): Standing | undefined {
  switch (event.type) {
    case "run-started":
    case "run-retried":
    case "settling": // announced, in a store apart: whoever takes the run up has to finish it
    case "answered":
    case "deadline-fired":
      return { status: "running" };
    case "paused":
      return { status: "interrupted" };
    case "completed":
      return { status: "completed" };
    case "failed":
      return failed(record, event, policy);
    case "cancelled":
      return { status: "cancelled", reason: boundedReason(event.reason), by: event.by };
    default:
      return undefined;
  }
}

/** A wish to cancel comes before any policy. */
function failed(
  { cancel, retries }: RunRecord,
  { at, error }: Extract<RunEvent, { readonly type: "failed" }>,
  policy: RetryPolicy | undefined,
): Standing {
  const failure = failureOf(error);
  const afterMs = cancel === undefined ? retryAfterMs(policy, error, retries) : undefined;
  if (afterMs === undefined) return { status: "failed", failure };
  return { status: "running", retry: { at: at + afterMs, failure } };
}

function waitsAfter(waits: readonly WaitingFor[], event: RunEvent): readonly WaitingFor[] {
  switch (event.type) {
    case "approval-requested": {
      const { kind, callId, approvalId, facts } = event.wait;
      const { visit } = event;
      const wait = { kind, id: approvalId ?? callId, approvalId, visit, callId, tool: facts.tool };
      return withWait(waits, wait);
    }
    case "in-doubt": {
      const { kind, callId, started } = event.wait;
      const { visit } = event;
      const tool = started.id.name;
      return withWait(waits, { kind, id: callId, approvalId: undefined, visit, callId, tool });
    }
    case "sleeping": {
      const { kind, callId, until } = event.wait;
      const { visit } = event;
      const wait = { kind, id: callId, approvalId: undefined, visit, callId, tool: "sleep", until };
      return withWait(waits, wait);
    }
    case "deadline-fired":
      return waits.filter((wait) => !isOf(wait, event));
    case "interrupted": {
      const { kind, id: asked, callId, answerBy, until } = event.wait;
      const { visit } = event;
      const tool = `ask:${asked.name}`;
      return withWait(waits, {
        kind,
        id: callId,
        approvalId: undefined,
        visit,
        callId,
        tool,
        answerBy,
        ...(until !== undefined && { until }),
      });
    }
    case "answered":
      return waits.filter((wait) => !event.answers.some((answer) => isOf(wait, answer)));
    case "superseded":
      return waits.filter((wait) => !isOf(wait, event));
    case "failed":
    case "run-retried":
      return []; // withdrawn with the failure, and asked again
    case "visit-finished":
      return waits.filter((wait) => wait.visit !== event.visit);
    default:
      return waits;
  }
}

/** With what waits now, once. */
function withWait(waits: readonly WaitingFor[], wait: WaitingFor): readonly WaitingFor[] {
  return [...waits.filter((other) => !isOf(other, wait)), wait];
}

function isOf(
  wait: WaitingFor,
  { visit, callId }: { readonly visit: string; readonly callId: string },
): boolean {
  return wait.visit === visit && wait.callId === callId;
}

/** How a run failed whose log says that it did, whether that is its end or its policy retries it. */
export function failureIn(standing: Standing): Failure | undefined {
  if (standing.status === "failed") return standing.failure;
  return standing.status === "running" ? standing.retry?.failure : undefined;
}

/** A failure as it is kept. */
export function failureOf({ code, message }: Failure): Failure {
  return {
    code: code.slice(0, failureCharactersMax),
    message: message.slice(0, failureCharactersMax),
  };
}

export function boundedReason(reason: string): string {
  return reason.slice(0, reasonCharactersMax);
}
