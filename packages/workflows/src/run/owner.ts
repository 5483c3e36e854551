/**
 * One process's hold on one run while it works on it: the runner that performs it, and the registry's row that follows.
 *
 * O1 Where log and registry have one home, a move is in the very commit of the event that makes it: the log is never ahead of
 *    the registry, nor behind.
 * O2 Where they don't, the registry follows after the log, in the order of its commits; a crash in between is reconciled
 *    (`reconcile.ts`), always towards the log.
 * O3 What is on its way counts only once its commit stands. A refused one is forgotten as soon as something else is on its
 *    way, so that the next try expects what really stands; the same one may also be tried again as it is.
 * O4 A refused registry write is a refused commit: the runner stops as for a revision that somebody else took, and this
 *    process does nothing more with the run (FLOW-75).
 * O5 Where all that moved the row is somebody's wish to cancel, the wish is taken in, the commit tried again over it, and the
 *    run told to stop: the wish is no owner's (WF-26).
 * O6 The record is the log's, entry by entry. Where the log has gone on since it was read, by a commit that arrived late or by
 *    another process, this one does nothing with the run: it would lead the registry astray. Taken up again, it is found as it is.
 * O7 The row follows to where a snapshot is taken, whatever moved: then what is read to take the run up again begins there for
 *    the registry too, and no older row can pass for one that only knows less (STORE-12).
 */

import type { CommitOutcome, Write } from "@holdpoint/approvals";
import type { FlowRunner, RunEvent, RunLog } from "@holdpoint/flow";

import type { RetryPolicy } from "../definition/retry-policy.ts";
import { isWorkflowError, WorkflowError } from "../errors.ts";
import { kindsOf } from "../outbox/delivery.ts";
import type { OpenRun } from "../registry/record-codec.ts";
import { follow, moved, type RunRecord, type Standing } from "../registry/record.ts";
import type { Parts } from "./parts.ts";

/** What a commit that is on its way makes of the record, and the records that the registry gets on the way there. */
interface Ahead {
  readonly record: RunRecord;
  readonly moves: readonly RunRecord[];
  readonly begins: boolean;
  /** What is to be told of it (WF-36). */
  readonly told: readonly Write[];
}

/** Events that say that what was asked of a run has begun. */
const beginning: ReadonlySet<RunEvent["type"]> = new Set([
  "answered",
  "run-retried",
  "run-started",
]);

export interface OwnerHow {
  readonly policy?: RetryPolicy | undefined;
  readonly onBegun?: (() => void) | undefined;
}

export class RunOwner {
  readonly runner: FlowRunner;
  readonly #parts: Parts;
  readonly #onBegun: () => void;
  readonly #policy: RetryPolicy | undefined;
  readonly #together: boolean;
  /** What the log says. */
  #record: RunRecord;
  /** Of the registry's row. */
  #version: number;
  /** With the events of the commit that is on its way; `undefined`: none was announced since the last one. */
  #ahead: Ahead | undefined;
  #fresh = true;
  /** O2 */
  #following: Promise<void> = Promise.resolve();

  /**
   * `opened`: the run as log and registry have it, its revision the log's. `policy`: its definition's. `onBegun`: told once what
   * was asked of the run is on record: an answer is spent, or a retry has begun.
   */
  constructor(parts: Parts, opened: OpenRun, { policy, onBegun = () => undefined }: OwnerHow = {}) {
    this.#parts = parts;
    this.#onBegun = onBegun;
    this.#policy = policy;
    this.#record = opened.record;
    this.#version = opened.version;
    this.#together = parts.log.home === parts.access.registry.home;
    this.runner = parts.runner({
      log: this.#observed(parts.log),
      alongside: (event) => this.#announce(event),
    });
  }

  /** The run as it is known to stand. */
  get record(): RunRecord {
    return this.#record;
  }

  /** The same with its row's version, once the registry has caught up. */
  get opened(): OpenRun {
    return { record: this.#record, version: this.#version };
  }

  /** Resolves once the registry says what the log says. @throws WorkflowError `run-moved`, `store-unavailable` */
  caughtUp(): Promise<void> {
    return this.#following;
  }

  /** Moves the run without an event of the log. @throws WorkflowError `run-moved`, `store-unavailable` */
  async move(standing: Standing): Promise<void> {
    const record = moved(this.record, standing, this.#parts.clock.now());
    const told = this.#parts.deliveries?.write(record, "ended"); // only ends are no events of the log
    await this.put(record, told === undefined ? [] : [told]);
  }

  /** Puts a record in the place of what stands. @throws as `move` */
  async put(record: RunRecord, beside: readonly Write[] = []): Promise<void> {
    await this.#put(record, beside);
    this.#record = { ...record, cancel: this.#record.cancel };
  }

  /** Takes in a wish to cancel that was put on record meanwhile (O5); whether there is one. @throws WorkflowError */
  async lookForCancel(): Promise<boolean> {
    if (this.#record.cancel === undefined) await this.#tookCancel();
    return this.#record.cancel !== undefined;
  }

  /** Called with each event of a commit, right before it. */
  #announce(event: RunEvent): readonly Write[] {
    if (this.#fresh) this.#ahead = undefined; // O3
    this.#fresh = false;
    const { record, moves, begins, told } = this.#ahead ?? this.#nothingAhead();
    const seen = follow(record, event, this.#policy);
    const further = seen.standing === record.standing ? moves : [...moves, seen];
    this.#ahead = {
      record: seen,
      moves: further,
      begins: begins || beginning.has(event.type),
      told: [...told, ...this.#tellings(seen, event, record.waits)],
    };
    return []; // what goes to the registry is made with the commit, over what stands then
  }

  #nothingAhead(): Ahead {
    return { record: this.#record, moves: [], begins: false, told: [] };
  }

  #tellings(record: RunRecord, event: RunEvent, before: RunRecord["waits"]): readonly Write[] {
    const { deliveries } = this.#parts;
    return deliveries === undefined
      ? []
      : kindsOf(event, record, before).map((kind) => deliveries.write(record, kind));
  }

  /** The log, seen through: what becomes of a commit decides what stands. */
  #observed(log: RunLog): RunLog {
    const { tail } = log;
    return {
      durable: log.durable,
      home: log.home,
      now: () => log.now(),
      read: async (scope, runId, after, limit) => {
        const rows = await log.read(scope, runId, after, limit);
        this.#assertKnown(rows.at(-1)?.revision ?? after);
        return rows;
      },
      head: (scope, runId) => log.head(scope, runId),
      snapshot: (scope, runId) => log.snapshot(scope, runId),
      ...(tail && {
        tail: async (scope, runId, limit) => {
          const told = await tail.call(log, scope, runId, limit);
          this.#assertKnown(told.rows.at(-1)?.revision ?? 0);
          return told;
        },
      }),
      commit: async (attemptId, writes) => {
        this.#fresh = true;
        const ahead = this.#ahead;
        // A commit without events moves nothing.
        const known = ahead !== undefined && lastRevision(writes) === ahead.record.revision;
        const rows = known ? rowsOf(ahead, writes) : [];
        const own = known ? [...writes, ...ahead.told] : writes;
        const outcome = await this.#commit(log, attemptId, own, this.#together ? rows : []);
        if (known && outcome.status === "done") this.#committed(ahead, rows.length);
        return outcome; // unknown: asked again under the same attempt
      },
    };
  }

  /** O6 @throws WorkflowError `run-moved` */
  #assertKnown(revision: number): void {
    const { facts, revision: known } = this.#record;
    if (revision <= known) return;
    const message = `the log of run ${facts.id} went on to ${revision} while it was taken up at ${known}`;
    throw new WorkflowError("run-moved", message, { runId: facts.id });
  }

  /** O1 */
  async #commit(
    log: RunLog,
    attemptId: string,
    writes: readonly Write[],
    moves: readonly RunRecord[],
  ): Promise<CommitOutcome> {
    const { cancel } = this.#record;
    const rows = moves.map((record, at) =>
      this.#parts.access.write({ ...record, cancel }, this.#version + at),
    );
    const outcome = await log.commit(attemptId, [...writes, ...rows]);
    if (outcome.status !== "refused" || outcome.write < writes.length) return outcome;
    if (outcome.refusal.because === "version" && (await this.#tookCancel())) {
      return this.#commit(log, attemptId, writes, moves); // nothing of it was applied; a wish is taken in once
    }
    return { ...outcome, write: writes.findIndex(isAppend) }; // O4: as if the revision were taken
  }

  #committed(ahead: Ahead, rows: number): void {
    this.#record = { ...ahead.record, cancel: this.#record.cancel };
    this.#ahead = undefined;
    if (this.#together) this.#version += rows;
    else if (rows > 0) this.#follow(this.#record);
    if (ahead.begins) this.#onBegun();
  }

  /** O2 */
  #follow(record: RunRecord): void {
    this.#following = this.#following.then(() => this.#put(record));
    // Whoever works on the run awaits it in `caughtUp`; until then nobody does.
    this.#following.catch(() => undefined);
  }

  async #put(record: RunRecord, beside: readonly Write[] = []): Promise<void> {
    const { access } = this.#parts;
    const put = async (): Promise<void> => {
      const { cancel } = this.#record;
      const { version } = await access.put({ ...record, cancel }, this.#version, beside);
      this.#version = version;
    };
    try {
      await put();
    } catch (error) {
      if (!isWorkflowError(error, "run-moved") || !(await this.#tookCancel())) throw error;
      await put();
    }
  }

  /** O5 */
  async #tookCancel(): Promise<boolean> {
    const { facts, cancel } = this.#record;
    const opened = await this.#parts.access.load(facts.id).catch(unlessTampered);
    if (cancel !== undefined || opened?.record.cancel === undefined) return false;
    if (opened.version !== this.#version + 1) return false; // somebody moved it besides
    this.#version = opened.version;
    this.#record = { ...this.#record, cancel: opened.record.cancel };
    this.#parts.lanes.interrupt(facts.id, cancelled(facts.id));
    return true;
  }
}

/** What aborts the work on a run that is cancelled. */
export function cancelled(runId: string): DOMException {
  return new DOMException(`run ${runId} is cancelled`, "AbortError");
}

/** A row that nobody can trust wishes nothing. */
function unlessTampered(error: unknown): undefined {
  if (!isWorkflowError(error, "record-tampered")) throw error;
}

/** What the registry gets with a commit (O7). */
function rowsOf({ moves, record }: Ahead, writes: readonly Write[]): readonly RunRecord[] {
  const isSeen = moves.at(-1)?.revision === record.revision;
  return isSeen || !writes.some(isSnapshot) ? moves : [...moves, record];
}

function isSnapshot({ statement }: Write): boolean {
  return statement === "snapshots.put";
}

function isAppend({ statement }: Write): boolean {
  return statement === "log.append";
}

/** The highest revision that these writes append; 0 where they append nothing. */
function lastRevision(writes: readonly Write[]): number {
  return Math.max(
    0,
    ...writes.map((write) => (isAppend(write) ? Number(write.values["revision"]) : 0)),
  );
}
