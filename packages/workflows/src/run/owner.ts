/**
 * One process's hold on one run while it works on it: the runner that performs it, and the registry's row that follows.
 *
 * O1 Where log and registry have one home, a move is in the very commit of the event that makes it: the log is never ahead of
 *    the registry, nor behind.
 * O2 Where they don't, the registry follows after the log, in the order of events; a crash in between is reconciled
 *    (`reconcile.ts`), always towards the log.
 * O3 What is on its way counts only once its commit stands: a refused one is forgotten, so that a second try expects what
 *    really stands.
 * O4 A refused registry write is a refused commit: the runner stops as for a revision that somebody else took, and this
 *    process does nothing more with the run (FLOW-75).
 */

import type { CommitOutcome, Write } from "@holdpoint/approvals";
import type { FlowRunner, RunEvent, RunLog } from "@holdpoint/flow";

import type { OpenRun } from "../registry/record-codec.ts";
import { follow, moved, type RunRecord, type Standing } from "../registry/record.ts";
import type { Parts } from "./parts.ts";

export class RunOwner {
  readonly runner: FlowRunner;
  readonly #parts: Parts;
  /** As committed. */
  #stands: OpenRun;
  /** With the events of a commit that is on its way. */
  #ahead: OpenRun;
  /** O2 */
  #following: Promise<void> = Promise.resolve();

  constructor(parts: Parts, opened: OpenRun) {
    this.#parts = parts;
    this.#stands = opened;
    this.#ahead = opened;
    const together = parts.log.home === parts.access.registry.home;
    this.runner = together
      ? parts.runner({
          log: this.#observed(parts.log),
          alongside: (event) => this.#alongside(event), // O1
        })
      : parts.runner({ log: parts.log, onEvent: (event) => this.#followLater(event) });
  }

  /** The run as it is known to stand. */
  get record(): RunRecord {
    return this.#stands.record;
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
    this.#stands = await this.#parts.access.put(record, this.#stands.version);
    this.#ahead = this.#stands;
  }

  #alongside(event: RunEvent): readonly Write[] {
    const { record, version } = this.#ahead;
    const next = follow(record, event);
    if (next.standing === record.standing) {
      this.#ahead = { record: next, version };
      return [];
    }
    this.#ahead = { record: next, version: version + 1 };
    return [this.#parts.access.write(next, version)];
  }

  /** The log, seen through: what becomes of a commit decides what stands. */
  #observed(log: RunLog): RunLog {
    return {
      durable: log.durable,
      home: log.home,
      now: () => log.now(),
      read: (scope, runId, after, limit) => log.read(scope, runId, after, limit),
      head: (scope, runId) => log.head(scope, runId),
      commit: async (attemptId, writes) => {
        let outcome: CommitOutcome;
        try {
          outcome = await log.commit(attemptId, writes);
        } catch (error) {
          this.#ahead = this.#stands; // O3: nothing was applied
          throw error;
        }
        if (outcome.status === "done") this.#stands = this.#ahead;
        if (outcome.status === "refused") this.#ahead = this.#stands; // O3
        return outcome; // unknown: asked again under the same attempt
      },
    };
  }

  #followLater(event: RunEvent): void {
    this.#following = this.#following.then(async () => {
      const { record, version } = this.#stands;
      const seen = follow(record, event);
      if (seen.standing === record.standing) this.#stands = { record: seen, version };
      else await this.put(seen);
    });
    // Who works on the run awaits it in `caughtUp`; until then nobody does.
    this.#following.catch(() => undefined);
  }
}
