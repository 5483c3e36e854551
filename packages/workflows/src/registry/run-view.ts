import type { ActorRef } from "@holdpoint/approvals";

import { isTerminal } from "./moves.ts";
import type { Failure, RunRecord, WaitingFor } from "./record.ts";
import type { RunStatus } from "./store.ts";

/** A run as it is shown (WF-11): ids, names, times and bounded texts; no input, state or arguments. */
export interface RunView {
  readonly runId: string;
  readonly definition: string;
  readonly version: string;
  readonly status: RunStatus;
  readonly session: string | undefined;
  readonly parent: string | undefined;
  readonly startedBy: ActorRef | undefined;
  readonly startKey: string | undefined;
  /** Milliseconds since 1970. */
  readonly createdAt: number;
  readonly updatedAt: number;
  /** The log's revision when the run last moved, or a snapshot of it was taken. */
  readonly revision: number;
  /** What an interrupted run waits for; empty otherwise. */
  readonly waitsFor: readonly WaitingFor[];
  readonly summary: string | undefined;
  readonly failure: Failure | undefined;
  /** Somebody asked that it ends, and it has not yet. */
  readonly cancelRequested: boolean;
  readonly cancelled: { readonly reason: string; readonly by: ActorRef | undefined } | undefined;
}

export function viewOf(record: RunRecord): RunView {
  const { facts, standing, cancel, waits, revision, updatedAt } = record;
  return Object.freeze({
    runId: facts.id,
    definition: facts.definition,
    version: facts.version,
    status: standing.status,
    session: facts.session,
    parent: facts.parent,
    startedBy: facts.startedBy,
    startKey: facts.startKey,
    createdAt: facts.createdAt,
    updatedAt,
    revision,
    waitsFor: standing.status === "interrupted" ? waits : [],
    summary: standing.status === "completed" ? standing.summary : undefined,
    failure: standing.status === "failed" ? standing.failure : undefined,
    cancelRequested: cancel !== undefined && !isTerminal(standing.status),
    cancelled:
      standing.status === "cancelled" ? { reason: standing.reason, by: standing.by } : undefined,
  });
}
