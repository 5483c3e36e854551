/**
 * Stores whose every write carries an owner's fence (STORE-06): whatever is built over them can't write without it. Reads are
 * as they were.
 *
 * F1 The epoch is judged inside the statement by whoever has the lease's row. Approvals in another database have none: what is
 *    spent there was announced in the log first, under the fence (STORE-13).
 * F2 Once the tenure is over by this machine's clocks, nothing is sent at all (WF-33), also not where a renewal that was under way makes
 *    it live again: what one write was refused for would else be put on record by the next, as a failure of the run's own.
 * F3 A refusal by the fence ends the tenure: somebody else has the session, whatever clocks say.
 */

import type { ApprovalStore, CommitOutcome, Committer, Write } from "@holdpoint/approvals";
import type { RunLog } from "@holdpoint/flow";

import { WorkflowError } from "../errors.ts";
import { putOutbox } from "../outbox/store.ts";
import type { RunRegistry } from "../registry/store.ts";
import type { WorkflowStore } from "../run/parts.ts";
import type { Tenure } from "./tenure.ts";

/** Who writes. */
export interface Writer {
  readonly tenure: Tenure;
  /** A turn of the event loop, where one is due before the next write. */
  readonly turn: () => Promise<void> | undefined;
  /** Told once the store said that a newer owner stands. */
  readonly onLost: () => void;
  /** Told once something to be told stands in the outbox. */
  readonly onTold: () => void;
}

export function fencedStores({ approvals, log, runs }: WorkflowStore, own: Writer): WorkflowStore {
  return {
    approvals: fencedApprovals(approvals, fenced(approvals, own)),
    log: fencedLog(log, fenced(log, own)),
    runs: fencedRuns(runs, fenced(runs, own)),
  };
}

/** @throws WorkflowError `lease-lost` */
export function assertLive({ live, session }: Tenure): void {
  if (live) return;
  const message = `this process has no lease on session '${session}' any more, and writes nothing under it`;
  throw new WorkflowError("lease-lost", message, { session });
}

type Commit = Committer["commit"];

function fenced(to: Committer, { tenure, turn, onLost, onTold }: Writer): Commit {
  return async (attemptId, writes): Promise<CommitOutcome> => {
    await turn();
    if (!tenure.live) {
      tenure.end(); // F2
      onLost();
    }
    assertLive(tenure);
    const { fence } = tenure;
    const outcome = await to.commit(
      attemptId,
      writes.map((write): Write => ({ ...write, fence })),
    );
    if (outcome.status === "refused" && outcome.refusal.because === "fenced") {
      tenure.end(); // F3
      onLost();
    }
    if (outcome.status === "done" && writes.some(isTold)) onTold();
    return outcome;
  };
}

function isTold({ statement }: Write): boolean {
  return statement === putOutbox;
}

function fencedLog(log: RunLog, commit: Commit): RunLog {
  return {
    home: log.home,
    durable: log.durable,
    commit,
    now: () => log.now(),
    read: (scope, runId, after, limit) => log.read(scope, runId, after, limit),
    head: (scope, runId) => log.head(scope, runId),
    snapshot: (scope, runId) => log.snapshot(scope, runId),
    ...(log.tail && { tail: log.tail.bind(log) }),
  };
}

function fencedRuns(runs: RunRegistry, commit: Commit): RunRegistry {
  return {
    home: runs.home,
    durable: runs.durable,
    commit,
    now: () => runs.now(),
    get: (scope, runId) => runs.get(scope, runId),
    find: (scope, definition, key) => runs.find(scope, definition, key),
    list: (scope, filter, page) => runs.list(scope, filter, page),
    due: (scope, session, until, page) => runs.due(scope, session, until, page),
  };
}

function fencedApprovals(store: ApprovalStore, commit: Commit): ApprovalStore {
  return {
    home: store.home,
    durable: store.durable,
    commit,
    now: () => store.now(),
    get: (scope, id) => store.get(scope, id),
    find: (scope, requestKey) => store.find(scope, requestKey),
    ...(store.getNow && { getNow: store.getNow.bind(store) }),
    ...(store.findNow && { findNow: store.findNow.bind(store) }),
    list: (scope, filter, page) => store.list(scope, filter, page),
    history: (scope, id, after, limit) => store.history(scope, id, after, limit),
    changes: (scope, after, limit) => store.changes(scope, after, limit),
    lastChange: (scope) => store.lastChange(scope),
    wait: (scope, after, signal) => store.wait(scope, after, signal),
  };
}
