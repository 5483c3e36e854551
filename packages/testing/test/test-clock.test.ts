import { describe, expect, it } from "vitest";

import { testClock } from "../src/index.ts";

describe("a test clock", () => {
  it("TEST-01 stands until it is moved", () => {
    const clock = testClock(1_000);
    expect([clock.now(), clock.monotonic()]).toEqual([1_000, 0]);
    clock.move(250);
    expect([clock.now(), clock.monotonic()]).toEqual([1_250, 250]);
    expect(testClock().now()).toBe(Date.UTC(2026, 0, 1));
  });

  it("TEST-01 fires timers in the order of their times, each at its time, and none early", () => {
    const clock = testClock(0);
    const fired: unknown[] = [];
    for (const [name, due] of [
      ["c", 30],
      ["a", 10],
      ["b1", 20],
      ["b2", 20],
      ["late", 31],
    ] as const) {
      clock.timer(due, () => fired.push([name, clock.now()]));
    }
    clock.move(9);
    expect([fired, clock.waiting]).toEqual([[], 5]);
    clock.move(21);
    expect(fired).toEqual([
      ["a", 10],
      ["b1", 20],
      ["b2", 20],
      ["c", 30],
    ]);
    expect(clock.now()).toBe(30);
  });

  it("TEST-01 fires what timers set while it moves, also past 2^31 ms, and at once for no delay", () => {
    const clock = testClock(0);
    const fired: number[] = [];
    const again = (): void => {
      fired.push(clock.now());
      if (fired.length < 3) clock.timer(2 ** 32, again);
    };
    clock.timer(-5, again);
    clock.move(2 ** 34);
    expect(fired).toEqual([0, 2 ** 32, 2 ** 33]);
    expect(clock.now()).toBe(2 ** 34);
  });

  it("TEST-01 takes timers back, once or often, before or after they fired", () => {
    const clock = testClock(0);
    const fired: string[] = [];
    const cancel = clock.timer(10, () => fired.push("cancelled"));
    const done = clock.timer(10, () => fired.push("done"));
    cancel();
    cancel();
    clock.move(10);
    done();
    expect([fired, clock.waiting]).toEqual([["done"], 0]);
  });

  it("TEST-01 serves code that waits and sets its next timer then", async () => {
    const clock = testClock(0);
    const seen: number[] = [];
    const sleep = (ms: number) => new Promise<void>((wake) => void clock.timer(ms, wake));
    const working = (async () => {
      for (let at = 0; at < 4; at += 1) {
        await sleep(10);
        seen.push(clock.now());
      }
    })();
    await clock.advance(35);
    expect([seen, clock.now()]).toEqual([[10, 20, 30], 35]);
    await clock.advance(5);
    await working;
    expect(seen).toEqual([10, 20, 30, 40]);
  });

  it("TEST-01 jumps to the next timer, and says where there is none", () => {
    const clock = testClock(0);
    let fired = 0;
    clock.timer(5_000, () => (fired += 1));
    expect([clock.next(), clock.now(), fired]).toEqual([true, 5_000, 1]);
    expect([clock.next(), clock.now()]).toEqual([false, 5_000]);
  });

  it("TEST-01 puts the wall clock back without touching durations or timers", () => {
    const clock = testClock(10_000);
    let fired = 0;
    clock.timer(100, () => (fired += 1));
    clock.setWall(2_000);
    expect([clock.now(), clock.monotonic(), fired]).toEqual([2_000, 0, 0]);
    clock.move(100);
    expect([clock.now(), clock.monotonic(), fired]).toEqual([2_100, 100, 1]);
  });
});
