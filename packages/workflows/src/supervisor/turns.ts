import { eventLoopTurn, type Clock } from "@holdpoint/approvals";

/**
 * How long the runs of a process may keep its thread before everything else gets a turn, milliseconds. A store in the process
 * answers at once, so that many runs would go from promise to promise and never let a heartbeat's timer fire (WF-33).
 */
const workMs = 5;

/** Turns of the event loop for everything that a supervisor does. */
export class Turns {
  readonly #clock: Clock;
  #turnedAt: number;
  #coming: Promise<void> | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#turnedAt = clock.monotonic();
  }

  /**
   * The turn that is due, where one is. Whoever asks until it has come waits for the very same: if others went on meanwhile,
   * it would never come.
   */
  due(): Promise<void> | undefined {
    if (this.#coming !== undefined) return this.#coming;
    if (this.#clock.monotonic() - this.#turnedAt < workMs) return undefined;
    this.#coming = eventLoopTurn().then(() => {
      this.#turnedAt = this.#clock.monotonic();
      this.#coming = undefined;
    });
    return this.#coming;
  }
}
