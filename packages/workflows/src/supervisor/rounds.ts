/**
 * What a supervisor does again and again, by one timer: look for sessions, honour wishes to cancel, find times that ran out and what was
 * settled by hand before, and try again what was left. It costs what is found, not what waits.
 *
 * P1 One part that fails keeps no other from being done, and all come round again.
 * P2 No round waits for a run at work, which may take any time: it would look for no session meanwhile (WF-30).
 */

import type { CancelTimer } from "@holdpoint/approvals";
import { errorInfo } from "@holdpoint/tools";

import { lookAgain } from "../run/adopting.ts";
import type { Hearing } from "./hearing.ts";
import type { Hold } from "./hold.ts";
import type { Sessions } from "./sessions.ts";
import { takeUp, takeUpDue, takeUpSessions } from "./taking-up.ts";
import type { Wiring } from "./wiring.ts";

/** A round comes at most so many times as often as asked for, where leases of others lapse before. */
const oftener = 10;

export class Rounds {
  readonly #wiring: Wiring;
  readonly #sessions: Sessions;
  readonly #hearing: Hearing;
  readonly #waiting = new Set<() => void>();
  #cancel: CancelTimer | undefined;
  #ended = false;

  constructor(wiring: Wiring, sessions: Sessions, hearing: Hearing) {
    this.#wiring = wiring;
    this.#sessions = sessions;
    this.#hearing = hearing;
  }

  begin(): void {
    const { base, pollMs } = this.#wiring;
    const soonestMs = Math.ceil(pollMs / oftener);
    const waitMs = Math.min(pollMs, Math.max(Math.ceil(this.#sessions.lapsesInMs), soonestMs));
    this.#cancel = base.clock.timer(waitMs, () => {
      void this.#round().then(() => {
        for (const wake of this.#waiting) wake();
        this.#waiting.clear();
        if (!this.#ended) this.begin();
      });
    });
  }

  end(): void {
    this.#ended = true;
    this.#cancel?.();
    for (const wake of this.#waiting) wake();
    this.#waiting.clear();
  }

  /** Resolves after the next round, or when there are no more. */
  next(): Promise<void> {
    if (this.#ended) return Promise.resolve();
    return new Promise((resolve) => this.#waiting.add(resolve));
  }

  async #round(): Promise<void> {
    await this.#part("sessions", () => this.#sessions.look());
    await this.#part("runs of sessions", () => this.#takeUp());
    for (const hold of this.#sessions.holds) {
      await this.#part("what is due", () => takeUpDue(hold, this.#wiring));
      await this.#part("what was settled by hand", () => this.#patrol(hold));
    }
    await this.#part("times that ran out", () => this.#hearing.lookForExpired());
    void this.#wiring.courier?.look(); // a port may take its time
    for (const hold of this.#sessions.holds) {
      await this.#again(hold);
    }
  }

  async #takeUp(): Promise<void> {
    const due = this.#sessions.holds.filter(({ isToLookThrough }) => isToLookThrough);
    await takeUpSessions(due, this.#wiring);
  }

  async #again(hold: Hold): Promise<void> {
    const { parts, backlog } = hold;
    for (const runId of backlog.take((id) => parts.lanes.busy(id))) {
      if (parts.lanes.busy(runId)) lookAgain(parts, runId); // P2
      else await takeUp(hold, runId);
    }
  }

  async #patrol(hold: Hold): Promise<void> {
    if (!hold.takenUp) return;
    const { lanes } = hold.parts;
    for (const runId of await hold.patrol.look()) {
      if (!lanes.busy(runId)) await takeUp(hold, runId); // one at work finds it when it stops
    }
  }

  // P1
  async #part(what: string, work: () => Promise<unknown>): Promise<void> {
    try {
      await work();
    } catch (error) {
      const { code } = errorInfo(error);
      this.#wiring.base.logger.warn(`a look for ${what} failed, and comes round again`, { code });
    }
  }
}
