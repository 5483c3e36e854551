import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { afterEach } from "vitest";

import { systemClock, type Clock } from "@holdpoint/approvals";

/** A folder of a test's own, with the paths in it; gone when the test ends. */
export function place(): (name?: string) => string {
  const folder = mkdtempSync(join(tmpdir(), "holdpoint-sqlite-"));
  folders.push(folder);
  return (name = "store.db") => join(folder, name);
}

const folders: string[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

export interface MovedClock extends Clock {
  move(ms: number): void;
}

/** A clock whose wall time stands until it is moved; its timers are real, since other connections are real too. */
export function movedClock(start = 1_000_000): MovedClock {
  let now = start;
  return {
    now: () => now,
    monotonic: () => systemClock.monotonic(),
    timer: (delayMs, fire) => systemClock.timer(delayMs, fire),
    move: (ms) => void (now += ms),
  };
}
