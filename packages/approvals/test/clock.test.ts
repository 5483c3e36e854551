// The machine's time and chance.
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";

import { isId, systemClock, systemIds } from "../src/index.ts";

describe("the machine's clock", () => {
  beforeEach(() => void vi.useFakeTimers({ now: 5_000 }));
  afterEach(() => void vi.useRealTimers());

  it("APR-13 tells wall time, and a time that only passes", () => {
    const start = systemClock.monotonic();
    vi.advanceTimersByTime(250);
    expect(systemClock.now()).toBe(5_250);
    expect(systemClock.monotonic() - start).toBe(250);
  });

  it("APR-13 fires once, after its delay and not before, also past 2^31 ms", () => {
    for (const delay of [0, 10, 2 ** 31 - 1, 2 ** 31, 40 * 86_400_000]) {
      const fired: number[] = [];
      const from = systemClock.now();
      systemClock.timer(delay, () => fired.push(systemClock.now() - from));
      vi.advanceTimersByTime(Math.max(0, delay - 1));
      expect(fired).toEqual(delay === 0 ? [0].slice(0, fired.length) : []);
      vi.advanceTimersByTime(2);
      expect(fired).toHaveLength(1);
      vi.advanceTimersByTime(2 ** 32);
      expect(fired).toHaveLength(1);
    }
  });

  it("APR-13 sets no timer longer than the runtime takes, which would fire at once", () => {
    const set = vi.spyOn(globalThis, "setTimeout");
    systemClock.timer(2 ** 33, () => undefined);
    vi.advanceTimersByTime(2 ** 33);
    const delays = set.mock.calls.map(([, delay]) => Number(delay));
    expect(Math.max(...delays)).toBe(2 ** 31 - 1);
    expect(delays.reduce((sum, delay) => sum + delay, 0)).toBe(2 ** 33);
    set.mockRestore();
  });

  it("APR-13 does not fire when it was taken back, in whichever stretch", () => {
    let fired = 0;
    const early = systemClock.timer(100, () => (fired += 1));
    const late = systemClock.timer(2 ** 32, () => (fired += 1));
    early();
    vi.advanceTimersByTime(2 ** 31 + 5);
    late();
    late();
    vi.advanceTimersByTime(2 ** 33);
    expect([fired, vi.getTimerCount()]).toEqual([0, 0]);
  });
});

describe("the machine's chance", () => {
  it("APR-01 makes ids of 128 random bits that fit every store, and none twice", () => {
    const ids = Array.from({ length: 20_000 }, () => systemIds.id());
    expect(new Set(ids).size).toBe(20_000);
    expect(ids.every((id) => isId(id) && /^[\w-]{22}$/.test(id))).toBe(true);
    // 128 bits leave four in the last character: one of A, Q, g, w.
    expect(new Set(ids.map((id) => id.at(-1)))).toEqual(new Set(["A", "Q", "g", "w"]));
    for (let place = 0; place < 21; place += 1) {
      expect(new Set(ids.map((id) => id[place])).size).toBe(64);
    }
  });

  it("APR-01 makes UUIDs, and numbers from 0 up to 1", () => {
    expect(systemIds.uuid()).toMatch(/^[\da-f-]{36}$/);
    const drawn = Array.from({ length: 1_000 }, () => systemIds.random());
    expect(drawn.every((number) => number >= 0 && number < 1)).toBe(true);
    expect(new Set(drawn).size).toBeGreaterThan(990);
  });
});
