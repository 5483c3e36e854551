/**
 * What this process has resumed already, for ports that keep no records (FLOW-54, FLOW-57).
 *
 * Bounded and kept for a day; two copies of the package share it, worker threads and other processes don't. After that, or
 * there, only a store behind the port can refuse a second use.
 */
import { spentMax, spentMs } from "../limits.ts";

interface Spent {
  readonly at: number;
}

const place = Symbol.for("@holdpoint/flow.spent");

function memory(): Map<string, Spent> {
  const home = globalThis as { [place]?: Map<string, Spent> };
  return (home[place] ??= new Map());
}

/** Takes a key if nobody did; whether it was free. */
export function takeOnce(key: string, now: number): boolean {
  const spent = memory();
  for (const [old, { at }] of spent) {
    // Insertion order is time order: the first that is young enough ends the sweep.
    if (spent.size < spentMax && now - at < spentMs) break;
    spent.delete(old);
  }
  if (spent.has(key)) return false;
  spent.set(key, { at: now });
  return true;
}

/** Gives a key back: what it was taken for did not happen (FLOW-59). */
export function giveBack(key: string): void {
  memory().delete(key);
}
