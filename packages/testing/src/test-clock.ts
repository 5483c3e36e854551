/**
 * A clock that stands until a test moves it (TEST-01).
 *
 * T1 Timers fire in the order of their times, equal ones in the order they were set, each while the clock reads its time.
 * T2 Nothing fires by itself: real time does not pass here.
 */

import type { Clock } from "@holdpoint/approvals";

export interface TestClock extends Clock {
  /** Moves on by `ms` and fires what becomes due, all within this call. */
  move(ms: number): void;
  /**
   * Moves on by `ms`, and lets promises settle before it starts and after each timer: code that waits, and sets its next timer
   * then, is served too.
   */
  advance(ms: number): Promise<void>;
  /** Moves on to the next timer and fires it; false where there is none. */
  next(): boolean;
  /** Puts the wall clock anywhere, backwards too, as an operator or a time server does. Fires nothing. */
  setWall(now: number): void;
  /** How many timers wait. */
  readonly waiting: number;
}

interface Timer {
  readonly due: number;
  readonly fire: () => void;
}

/** How many turns of the microtask queue a chain of promises gets to settle in. */
const turns = 100;

/** A clock at `start` (milliseconds since 1970; default the first of January 2026). */
export function testClock(start: number = Date.UTC(2026, 0, 1)): TestClock {
  let elapsed = 0;
  let wall = start;
  const timers: Timer[] = [];

  function pass(to: number): void {
    wall += to - elapsed;
    elapsed = to;
  }

  /** Fires the first timer due by `limit`. */
  function fireFirst(limit: number): boolean {
    const first = timers[0];
    if (first === undefined || first.due > limit) return false;
    timers.shift();
    pass(Math.max(elapsed, first.due)); // T1
    first.fire();
    return true;
  }

  return {
    now: () => wall,
    monotonic: () => elapsed,
    timer(delayMs, fire) {
      const timer = { due: elapsed + Math.max(0, delayMs), fire };
      const after = timers.findIndex(({ due }) => due > timer.due);
      timers.splice(after === -1 ? timers.length : after, 0, timer);
      return () => {
        const at = timers.indexOf(timer);
        if (at !== -1) timers.splice(at, 1);
      };
    },
    move(ms) {
      const limit = elapsed + ms;
      while (fireFirst(limit));
      pass(limit);
    },
    async advance(ms) {
      const limit = elapsed + ms;
      await settle();
      while (fireFirst(limit)) await settle();
      pass(limit);
      await settle();
    },
    next: () => fireFirst(Number.POSITIVE_INFINITY),
    setWall: (now) => void (wall = now),
    get waiting() {
      return timers.length;
    },
  };
}

async function settle(): Promise<void> {
  for (let turn = 0; turn < turns; turn += 1) await Promise.resolve();
}
