/**
 * Keeping house: what has ended and is old goes; one run can be taken out, or written out as a text (STORE-09).
 *
 * H1 Only a run that has ended is ever taken out, as its own sealed record says; a waiting one is cancelled first. What a column
 *    says finds runs and decides nothing.
 * H2 Rows go in bounded transactions, the registry's last, each only while that row stands as it was read: a run that somebody
 *    takes up again meanwhile keeps what is left. One that was begun to be taken out is found again by the next purge.
 * H3 Of the log the newest entries go first: what is left is a whole log of an earlier time, which the registry's row gives away.
 * H4 What was to be told of a run goes with it, told or not: nobody could look at it any more.
 * H5 A record goes only if its own seal says that it is of this run, whatever its column says.
 */
import {
  DeferredApproval,
  isApprovalError,
  systemClock,
  type Clock,
  type Removal,
  type Row,
  type RowName,
  type RowRemover,
  type SealedRecords,
} from "@holdpoint/approvals";
import { logKey } from "@holdpoint/flow";
import type { Keyring } from "@holdpoint/seal";

import { isWorkflowError, WorkflowError } from "../errors.ts";
import { reached } from "../registry/commit.ts";
import { RunCodec, type OpenRun } from "../registry/record-codec.ts";
import { isTerminal } from "../registry/moves.ts";
import { deliveryIds } from "../outbox/delivery.ts";
import type { OutboxStore } from "../outbox/store.ts";
import type { WorkflowStore } from "../run/parts.ts";
import { exportText } from "./export-text.ts";
import { rowsOfRun, type RunRows } from "./run-rows.ts";

export interface RetentionOptions {
  /** With the outbox, where a supervisor's `notify` has one. */
  readonly store: WorkflowStore & { readonly outbox?: OutboxStore };
  /** What takes rows out: of every database that a port is in (`store.removal`). */
  readonly removal: RowRemover | readonly RowRemover[];
  /** As the workflows'. */
  readonly keyring: Keyring;
  /** Default: `default`. */
  readonly scope?: string;
  readonly clock?: Clock;
}

export interface PurgeHow {
  /** Runs that ended longer ago go, milliseconds. */
  readonly olderThanMs: number;
  /** At most so many runs, 1 to 500; default 100. */
  readonly runsMax?: number;
}

/** What a purge did. `more`: there may be others that are old enough: call again. */
export interface Purged {
  readonly removed: readonly string[];
  /** Runs that can't be trusted, and were left. */
  readonly broken: readonly { readonly runId: string; readonly error: WorkflowError }[];
  readonly more: boolean;
}

/** Rows taken out in one transaction. */
const batchRows = 500;
const ends = ["completed", "failed", "cancelled"] as const;

export class Retention {
  readonly #store: RetentionOptions["store"];
  readonly #removers: ReadonlyMap<object, RowRemover>;
  readonly #keyring: Keyring;
  readonly #records: SealedRecords;
  readonly #codec: RunCodec;
  readonly #scope: string;
  readonly #clock: Clock;

  /** @throws WorkflowError `option-invalid` where nothing takes rows out of one of the ports' databases */
  constructor({
    store,
    removal,
    keyring,
    scope = "default",
    clock = systemClock,
  }: RetentionOptions) {
    const removers = Array.isArray(removal) ? (removal as RowRemover[]) : [removal as RowRemover];
    this.#removers = new Map(removers.map((remover) => [remover.home, remover]));
    const { approvals, log, runs, outbox } = store;
    for (const { home } of [approvals, log, runs, ...(outbox === undefined ? [] : [outbox])]) {
      if (this.#removers.has(home)) continue;
      const message = "one of the stores is in a database that `removal` does not reach";
      throw new WorkflowError("option-invalid", message);
    }
    this.#store = store;
    this.#keyring = keyring;
    this.#records = new DeferredApproval(store.approvals, { keyring }).records;
    this.#codec = new RunCodec(keyring);
    this.#scope = scope;
    this.#clock = clock;
  }

  /**
   * Takes out runs that ended long ago, the oldest first, with their logs and approvals. Waiting and running ones are never
   * touched. Their start keys go too: the same key then starts anew.
   * @throws WorkflowError `option-invalid`, `store-unavailable`
   */
  async purge({ olderThanMs, runsMax = 100 }: PurgeHow): Promise<Purged> {
    const isRight = olderThanMs >= 0 && Number.isInteger(runsMax) && runsMax > 0 && runsMax <= 500;
    if (!isRight)
      throw new WorkflowError("option-invalid", "a purge is of 1 to 500 runs of an age");
    const before = this.#clock.now() - olderThanMs;
    const removed: string[] = [];
    const broken: { runId: string; error: WorkflowError }[] = [];
    for (const status of ends) {
      const left = runsMax - removed.length - broken.length;
      if (left <= 0) break;
      const page = { order: "stalest", limit: left } as const;
      for (const row of await reached(this.#store.runs.list(this.#scope, { status }, page))) {
        if (Number(row.values["updatedAt"]) >= before) break;
        try {
          const opened = this.#codec.open(this.#scope, row);
          if (isTerminal(opened.record.standing.status) && opened.record.updatedAt < before)
            if (await this.#takeOut(row, opened)) removed.push(row.key); // H1
        } catch (error) {
          if (!isWorkflowError(error, "record-tampered")) throw error;
          broken.push({ runId: row.key, error });
        }
      }
    }
    return { removed, broken, more: removed.length + broken.length >= runsMax };
  }

  /**
   * Takes one run out that has ended, with its log, its approvals and its start key.
   * @throws WorkflowError `run-not-found`, `record-tampered`, `store-unavailable`; `status-wrong` for one that has not ended;
   *   `run-moved` where somebody took it up meanwhile
   */
  async remove(runId: string): Promise<void> {
    const { row, opened } = await this.#opened(runId);
    const { status } = opened.record.standing;
    if (!isTerminal(status)) {
      const message = `run ${runId} is ${status}: cancel it first`;
      throw new WorkflowError("status-wrong", message, { runId });
    }
    if (await this.#takeOut(row, opened)) return;
    throw new WorkflowError("run-moved", `somebody else has run ${runId} by now`, { runId });
  }

  /**
   * Everything that is kept of a run as one text, with its seals: `verifyExport` checks it anywhere, with the keys. It holds the
   * run's data in the clear, unless the keyring enciphers.
   * @throws WorkflowError `run-not-found`, `record-tampered`, `store-unavailable`
   */
  async export(runId: string): Promise<string> {
    const { row, opened } = await this.#opened(runId);
    const rows = await rowsOfRun(this.#store, row, opened);
    const { scope } = opened.record.facts;
    return exportText(rows, { scope, runId, keyring: this.#keyring });
  }

  async #opened(runId: string): Promise<{ readonly row: Row; readonly opened: OpenRun }> {
    const row = await reached(this.#store.runs.get(this.#scope, runId));
    if (row === undefined)
      throw new WorkflowError("run-not-found", `there is no run ${runId}`, { runId });
    return { row, opened: this.#codec.open(this.#scope, row) };
  }

  /** H2 */
  async #takeOut(row: Row, opened: OpenRun): Promise<boolean> {
    const rows = await rowsOfRun(this.#store, row, opened);
    const { approvals, log, runs, outbox } = this.#store;
    const { revision, facts } = opened.record;
    const { id: runId } = facts;
    const told = deliveryIds(runId, Math.max(revision, rows.log.length)); // H4
    const records = await this.#ownRecords(rows, runId);
    const entries = rows.log
      .toReversed() // H3
      .map(({ revision }) => ({ table: "log", key: logKey(runId, revision) }));
    const snapshot = rows.hasSnapshot ? [{ table: "snapshots", key: runId }] : [];
    const last = rows.startKey === undefined ? [] : [{ table: "runKeys", key: rows.startKey.key }];
    const parts: readonly (readonly [home: object, rows: readonly RowName[]])[] = [
      [approvals.home, records],
      ...(outbox === undefined
        ? []
        : [[outbox.home, told.map((key) => ({ table: "outbox", key }))] as const]),
      [log.home, [...snapshot, ...entries]],
      [runs.home, [...last, { table: "runs", key: runId }]],
    ];
    const standing = { table: "runs", key: runId, version: row.version };
    for (const [home, names] of batched(parts)) {
      const guard = home === runs.home ? { standing } : {};
      if (!(await this.#removeFrom(home, { scope: this.#scope, rows: names, ...guard })))
        return false;
    }
    return true;
  }

  /** H5 @throws WorkflowError `record-tampered` */
  async #ownRecords(rows: RunRows, runId: string): Promise<readonly RowName[]> {
    const names: RowName[] = [];
    for (const { record, key, trail } of rows.approvals) {
      const shown = await this.#records.show(this.#scope, record.key).catch((cause: unknown) => {
        if (!isApprovalError(cause, "record-tampered")) throw cause;
        const message = `the approval ${record.key} of run ${runId} can't be trusted`;
        throw new WorkflowError("record-tampered", message, { runId }, cause);
      });
      if (shown?.runId !== runId) continue;
      names.push(...trail.map(({ key: entry }) => ({ table: "approvalAudit", key: entry })));
      if (key !== undefined) names.push({ table: "approvalKeys", key: key.key });
      names.push({ table: "approvals", key: record.key });
    }
    return names;
  }

  async #removeFrom(home: object, removal: Removal): Promise<boolean> {
    const remover = this.#removers.get(home);
    return remover === undefined || reached(remover.remove(removal));
  }
}

/** Bounded lists of rows, in order; rows of one database that follow each other go together. */
function batched(
  parts: readonly (readonly [home: object, rows: readonly RowName[]])[],
): readonly (readonly [home: object, rows: readonly RowName[]])[] {
  const batches: [home: object, rows: RowName[]][] = [];
  for (const [home, rows] of parts) {
    for (const row of rows) {
      const open = batches.at(-1);
      if (open !== undefined && open[0] === home && open[1].length < batchRows) open[1].push(row);
      else batches.push([home, [row]]);
    }
  }
  return batches;
}
