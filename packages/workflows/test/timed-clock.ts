import type { Clock } from "@holdpoint/approvals";

export interface TimedClock extends Clock {
  /** Moves both clocks on, firing what becomes due, and lets what was woken come to rest after each. */
  advance(ms: number): Promise<void>;
  /** Moves both on and fires nothing: what a process sees that stood still for so long. */
  leap(ms: number): void;
  /** Puts the wall clock on, or back, and nothing else. */
  step(ms: number): void;
  /** Timers that wait. */
  readonly timers: number;
}

/** A clock that stands until it is moved, with timers that fire by it. */
export function timedClock(start = 1_000_000): TimedClock {
  let elapsed = 0;
  let wall = start;
  const timers = new Set<{ readonly due: number; readonly fire: () => void }>();
  const first = (limit: number) =>
    [...timers].filter(({ due }) => due <= limit).toSorted((a, b) => a.due - b.due)[0];
  const pass = (to: number): void => {
    wall += to - elapsed;
    elapsed = to;
  };
  return {
    now: () => wall,
    monotonic: () => elapsed,
    timer(delayMs, fire) {
      const timer = { due: elapsed + delayMs, fire };
      timers.add(timer);
      return () => void timers.delete(timer);
    },
    async advance(ms) {
      const limit = elapsed + ms;
      await rest();
      for (let next = first(limit); next !== undefined; next = first(limit)) {
        timers.delete(next);
        pass(Math.max(elapsed, next.due));
        next.fire();
        await rest();
      }
      pass(limit);
      await rest();
    },
    leap: (ms) => pass(elapsed + ms),
    step: (ms) => void (wall += ms),
    get timers() {
      return timers.size;
    },
  };
}

/** Until what runs without a timer has come to rest: the stores are in memory, and flows rest by turns of the event loop. */
export async function rest(): Promise<void> {
  for (let turn = 0; turn < 30; turn += 1)
    await new Promise((resolve) => void setImmediate(resolve));
}
