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
 */

import type { Write } from "@holdpoint/approvals";
import type { FlowRunner, RunEvent, RunLog } from "@holdpoint/flow";

import type { OpenRun } from "../registry/record-codec.ts";
import { follow, moved, type RunRecord, type Standing } from "../registry/record.ts";
import type { Parts } from "./parts.ts";

export class RunOwner {
  readonly runner: FlowRunner;
  readonly #parts: Parts;
  readonly #together: boolean;
  /** What the log says. */
  #record: RunRecord;
  /** Of the registry's row. */
  #version: number;
  /** With the events of the commit that is on its way; `undefined`: none was announced since the last one. */
  #ahead: OpenRun | undefined;
  #fresh = true;
  /** O2 */
  #following: Promise<void> = Promise.resolve();

  /** `opened`: the run as log and registry have it, its revision the log's. */
  constructor(parts: Parts, opened: OpenRun) {
    this.#parts = parts;
    this.#record = opened.record;
    this.#version = opened.version;
    this.#together = parts.log.home === parts.access.registry.home;
    this.runner = parts.runner({
      log: this.#observed(parts.log),
      alongside: (event) => this.#alongside(event),
    });
  }

  /** The run as it is known to stand. */
  get record(): RunRecord {
    return this.#record;
  }

  /** Resolves once the registry says what the log says. @throws WorkflowError `run-moved`, `store-unavailable` */
  caughtUp(): Promise<void> {
    return this.#following;
  }

  /** Moves the run without an event of the log. @throws WorkflowError `run-moved`, `store-unavailable` */
  async move(standing: Standing): Promise<void> {
    await this.put(moved(this.record, standing, this.#parts.clock.now()));
  }

  /** Puts a record in the place of what stands. @throws as `move` */
  async put(record: RunRecord): Promise<void> {
    const { version } = await this.#parts.access.put(record, this.#version);
    this.#record = record;
    this.#version = version;
  }

  /** Called with each event of a commit, right before it. */
  #alongside(event: RunEvent): readonly Write[] {
    if (this.#fresh) this.#ahead = undefined; // O3
    this.#fresh = false;
    const { record, version } = this.#ahead ?? { record: this.#record, version: this.#version };
    const seen = follow(record, event);
    const moves = this.#together && seen.standing !== record.standing;
    this.#ahead = { record: seen, version: moves ? version + 1 : version };
    return moves ? [this.#parts.access.write(seen, version)] : []; // O1
  }

  /** The log, seen through: what becomes of a commit decides what stands. */
  #observed(log: RunLog): RunLog {
    return {
      durable: log.durable,
      home: log.home,
      now: () => log.now(),
      read: (scope, runId, after, limit) => log.read(scope, runId, after, limit),
      head: (scope, runId) => log.head(scope, runId),
      snapshot: (scope, runId) => log.snapshot(scope, runId),
      commit: async (attemptId, writes) => {
        this.#fresh = true;
        const outcome = await log.commit(attemptId, writes);
        if (outcome.status === "done") this.#committed(writes);
        return outcome; // unknown: asked again under the same attempt
      },
    };
  }

  #committed(writes: readonly Write[]): void {
    const ahead = this.#ahead;
    if (ahead === undefined || lastRevision(writes) !== ahead.record.revision) return; // no events went along
    const before = this.#record.standing;
    this.#record = ahead.record;
    this.#ahead = undefined;
    if (this.#together) this.#version = ahead.version;
    else if (ahead.record.standing !== before) this.#follow(ahead.record);
  }

  /** O2 */
  #follow(record: RunRecord): void {
    this.#following = this.#following.then(async () => {
      const { version } = await this.#parts.access.put(record, this.#version);
      this.#version = version;
    });
    // Whoever works on the run awaits it in `caughtUp`; until then nobody does.
    this.#following.catch(() => undefined);
  }
}

/** The highest revision that these writes append; 0 where they append nothing. */
function lastRevision(writes: readonly Write[]): number {
  return Math.max(
    0,
    ...writes.map(({ statement, values }) =>
      statement === "log.append" ? Number(values["revision"]) : 0,
    ),
  );
}
