/**
 * A session that this process holds: its lease, and the parts that work on its runs, every write of which carries the fence.
 *
 * H1 The lease is renewed from a third of it on; at two thirds without a renewal that counts, everything here is told to stop,
 *    and nothing more is written (WF-33).
 * H2 Lost is lost: the session may be taken again, with another epoch, by another hold.
 * H3 What a lost hold had begun comes to rest before this process takes the session again: it never adopts what it runs itself.
 */

import type { CancelTimer } from "@holdpoint/approvals";

import { fencedStores, assertLive } from "../lease/fenced-stores.ts";
import { dueAfterMs, overAfterMs } from "../lease/term.ts";
import type { Tenure } from "../lease/tenure.ts";
import { WorkflowError } from "../errors.ts";
import { partsOn } from "../run/options.ts";
import type { Parts } from "../run/parts.ts";
import { Backlog } from "./backlog.ts";
import { Patrol } from "./patrol.ts";
import type { Wiring } from "./wiring.ts";

export class Hold {
  readonly session: string;
  readonly tenure: Tenure;
  readonly parts: Parts;
  readonly backlog: Backlog;
  readonly patrol: Patrol;
  /** Whether its runs were looked through since it was taken. */
  takenUp = false;
  /** Runs that were due, and whose definition is not here: while this process runs, nothing changes that. */
  readonly foreign = new Set<string>();
  readonly #wiring: Wiring;
  readonly #onEnd: (hold: Hold) => void;
  #over = false;
  #doubtedUntil = -Infinity;
  #cancelBeat: CancelTimer | undefined;
  #cancelWatch: CancelTimer | undefined;

  constructor(wiring: Wiring, tenure: Tenure, onEnd: (hold: Hold) => void) {
    const { base, store, slots, turns, courier, pollMs } = wiring;
    this.#wiring = wiring;
    this.#onEnd = onEnd;
    this.session = tenure.session;
    this.tenure = tenure;
    this.backlog = new Backlog(base.clock, pollMs);
    this.parts = partsOn(base, {
      store: fencedStores(store, {
        tenure,
        turn: () => turns.due(),
        onLost: () => this.lose(),
        onTold: () => void courier?.look(),
      }),
      session: tenure.session,
      slots,
      tells: courier !== undefined,
      onFault: (runId) => {
        if (!this.#over) this.backlog.note(runId);
      },
    });
    this.patrol = new Patrol(this.parts, tenure.session);
    this.#armBeat();
    this.#armWatch();
  }

  /** Whether it has ended. */
  get over(): boolean {
    return this.#over;
  }

  /**
   * What was asked of one of its runs may be on record, now or in a moment, and nobody was told so: its runs are looked through
   * with each round for one lease time, after which no commit of it is under way.
   */
  doubt(): void {
    this.#doubtedUntil = this.#wiring.base.clock.monotonic() + this.#wiring.leaseMs;
  }

  /** Whether its runs are to be looked through (again). */
  get isToLookThrough(): boolean {
    return !this.takenUp || this.#wiring.base.clock.monotonic() < this.#doubtedUntil;
  }

  /** @throws WorkflowError `lease-lost` */
  assertLive(): void {
    if (!this.tenure.live) this.lose();
    assertLive(this.tenure);
  }

  /** Ends it without the store's help: what it began is told to stop, and what it holds lapses (H1). */
  lose(): void {
    if (this.#over) return;
    this.#end();
    const { session } = this;
    this.#wiring.base.logger.error("a session was lost", {
      session,
      epoch: this.tenure.fence.epoch,
    });
    const message = `session '${session}' was lost: another process goes on with its runs`;
    this.parts.lanes.close(new WorkflowError("lease-lost", message, { session }));
  }

  /** Gives the session back; nothing of it may be under way. @throws WorkflowError `store-unavailable`: it lapses then */
  async release(): Promise<void> {
    if (this.#over) return;
    this.#stopTimers();
    try {
      await this.tenure.release();
    } finally {
      this.#end();
    }
  }

  #end(): void {
    this.#over = true;
    this.tenure.end();
    this.#stopTimers();
    this.#onEnd(this);
  }

  #stopTimers(): void {
    this.#cancelBeat?.();
    this.#cancelWatch?.();
  }

  #armBeat(): void {
    const { base, leaseMs } = this.#wiring;
    const dueMs = dueAfterMs(leaseMs) - this.tenure.elapsedMs;
    const soonMs = Math.ceil(leaseMs / 12); // after a renewal that failed
    this.#cancelBeat = base.clock.timer(Math.max(dueMs, soonMs), () => void this.#beat());
  }

  async #beat(): Promise<void> {
    if (!this.tenure.live) return this.lose(); // the event loop stood still, or the machine did
    try {
      if (!(await this.tenure.renew())) return this.lose();
    } catch {
      // The store is away: tried again, until the term is over.
      this.#wiring.base.logger.warn("a lease could not be renewed", { session: this.session });
    }
    if (!this.#over) this.#armBeat();
  }

  /** H1, also where a renewal hangs. */
  #armWatch(): void {
    const { base, leaseMs } = this.#wiring;
    const leftMs = Math.max(1, overAfterMs(leaseMs) - this.tenure.elapsedMs);
    this.#cancelWatch = base.clock.timer(leftMs, () => {
      if (this.#over) return;
      if (this.tenure.live) this.#armWatch();
      else this.lose();
    });
  }
}
