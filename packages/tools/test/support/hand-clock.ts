import type { Clock } from "@holdpoint/approvals";

/** A clock that stands until a test moves it; timers that are due fire in their order. */
export function handClock(start = 1_000_000): Clock & {
  move(ms: number): Promise<void>;
  readonly waiting: number;
} {
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
export async function settle(): Promise<void> {
  for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setImmediate(resolve));
}
