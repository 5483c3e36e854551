import type { ActorRef } from "@holdpoint/approvals";

import { isTerminal } from "./moves.ts";
import type { OpenRun } from "./record-codec.ts";
import type { Failure, WaitingFor } from "./record.ts";
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
  /** How often it was retried, by hand or by policy. */
  readonly retries: number;
  /** When its definition's policy retries it, milliseconds since 1970: it failed, and has not ended by that. */
  readonly retryAt: number | undefined;
  /** The version of its row: one more with each move that is on record. */
  readonly rowVersion: number;
  /** Somebody asked that it ends, and it has not yet. */
  readonly cancelRequested: boolean;
  readonly cancelled: { readonly reason: string; readonly by: ActorRef | undefined } | undefined;
}

export function viewOf({ record, version }: OpenRun): RunView {
  const { facts, standing, cancel, waits, retries, revision, updatedAt } = record;
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
    retries,
    retryAt: standing.status === "running" ? standing.retry?.at : undefined,
    rowVersion: version,
    cancelRequested: cancel !== undefined && !isTerminal(standing.status),
    cancelled:
      standing.status === "cancelled" ? { reason: standing.reason, by: standing.by } : undefined,
  });
}
