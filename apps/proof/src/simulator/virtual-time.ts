/**
 * Time that passes when the scheduler says so.
 *
 * V1 One course of time for all; each process and the store read it through a wall clock of their own, which may be wrong and
 *    may be put elsewhere at any moment.
 * V2 A timer that is due does not fire: it becomes something that may happen next, after others of its owner that were due
 *    before. An event loop that is late looks just so.
 * V3 Timers of a process that died never fire.
 */
import type { Clock } from "@holdpoint/approvals";

/** Whose timer it is. */
export interface Living {
  readonly alive: boolean;
  /** Its timers do not fire now. */
  readonly stalled?: boolean;
}

export interface DueTimer {
  readonly owner: Living;
  readonly due: number;
  readonly fire: () => void;
}

/** Where every world begins, by a wall clock that is right. */
const dawn: number = Date.UTC(2026, 0, 1);

/** Worlds so far in this process: what lives longer than a world must not find one time in two of them. */
let worlds = 0;

export class VirtualTime {
  /** Of the monotonic clocks, so far apart that no two worlds meet. */
  readonly #origin = (worlds += 1) * 1e9;
  #elapsed = 0;
  #timers: DueTimer[] = [];

  get elapsed(): number {
    return this.#elapsed;
  }

  pass(ms: number): void {
    this.#elapsed += ms;
  }

  /** Milliseconds to the next timer of somebody who lives; `undefined`: there is none. 0: one is due. */
  untilNext(): number | undefined {
    this.#forgetDead();
    const first = this.#timers.find(({ owner }) => owner.stalled !== true);
    return first && Math.max(0, first.due - this.#elapsed);
  }

  /** The first due timer of each owner (V2). */
  due(): readonly DueTimer[] {
    this.#forgetDead();
    const seen = new Set<Living>();
    return this.#timers.filter(({ owner, due }) => {
      if (due > this.#elapsed || owner.stalled === true || seen.has(owner)) return false;
      seen.add(owner);
      return true;
    });
  }

  fire(timer: DueTimer): void {
    this.#take(timer);
    timer.fire();
  }

  /** A process's or a store's clock; `wall` says how far its wall clock is off now. */
  clockOf(owner: Living, wall: () => number): Clock {
    return {
      now: () => dawn + Math.floor(this.#elapsed) + wall(),
      monotonic: () => this.#origin + this.#elapsed,
      timer: (delayMs, fire) => {
        const timer = { owner, due: this.#elapsed + Math.max(0, delayMs), fire };
        const after = this.#timers.findIndex(({ due }) => due > timer.due);
        this.#timers.splice(after === -1 ? this.#timers.length : after, 0, timer);
        return () => this.#take(timer);
      },
    };
  }

  #take(timer: DueTimer): void {
    const at = this.#timers.indexOf(timer);
    if (at !== -1) this.#timers.splice(at, 1);
  }

  // V3
  #forgetDead(): void {
    this.#timers = this.#timers.filter(({ owner }) => owner.alive);
  }
}
