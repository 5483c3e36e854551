import type { Clock, Ids } from "@holdpoint/approvals";

export interface HandClock extends Clock {
  /** Moves the time; what is due fires in its order. */
  move(ms: number): Promise<void>;
  readonly waiting: number;
}

/** A clock that stands until a test moves it. */
export function handClock(start = 1_000_000): HandClock {
  let time = start;
  const timers = new Set<{ at: number; fire: () => void }>();
  return {
    now: () => time,
    monotonic: () => time,
    timer(delayMs, fire) {
      const timer = { at: time + delayMs, fire };
      timers.add(timer);
      return () => void timers.delete(timer);
    },
    get waiting() {
      return timers.size;
    },
    async move(ms) {
      await settle();
      const end = time + ms;
      for (;;) {
        const [due] = [...timers].filter(({ at }) => at <= end).sort((a, b) => a.at - b.at);
        if (due === undefined) break;
        time = due.at;
        timers.delete(due);
        due.fire();
        await settle();
      }
      time = end;
      await settle();
    },
  };
}

/** Lets everything that needs no timer come to rest. */
export async function settle(turns = 5): Promise<void> {
  for (let turn = 0; turn < turns; turn++) await new Promise((resolve) => setImmediate(resolve));
}

/** Ids that count. */
export function countingIds(prefix = "id"): Ids {
  let count = 0;
  let thrown = 0;
  const next = () => `${prefix}-${(count += 1)}`;
  return { id: next, uuid: next, random: () => ((thrown += 1) % 1000) / 1000 };
}
