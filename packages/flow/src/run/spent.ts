/**
 * What this process has done with the checkpoints it was given (FLOW-54, FLOW-57): the one thing that refuses a second use
 * where no store does.
 *
 * Keyed by the checkpoint's own MAC. Bounded and kept for a day; two copies of the package share it, worker threads and
 * other processes don't. After that, or there, only a store behind the port can refuse.
 */
import { spentMax, spentMs } from "../limits.ts";

/** What became of a checkpoint. */
export type Use = "resumed" | "cancelled";

interface Spent {
  readonly at: number;
  readonly use: Use;
}

const place = Symbol.for("@holdpoint/flow.spent");

function memory(): Map<string, Spent> {
  const home = globalThis as { [place]?: Map<string, Spent> };
  return (home[place] ??= new Map());
}

/** Takes a checkpoint if nobody did: `undefined`, or what was done with it before. */
export function takeOnce(mac: string, use: Use, now: number): Use | undefined {
  const spent = memory();
  for (const [old, { at }] of spent) {
    // Insertion order is time order: the first that is young enough ends the sweep.
    if (spent.size < spentMax && now - at < spentMs) break;
    spent.delete(old);
  }
  const before = spent.get(mac);
  if (before === undefined) spent.set(mac, { at: now, use });
  return before?.use;
}

/** What was done with a checkpoint, as far as this process remembers. */
export function usedBefore(mac: string): Use | undefined {
  return memory().get(mac)?.use;
}

/** Gives a checkpoint back: what it was taken for did not happen (FLOW-59). */
export function giveBack(mac: string): void {
  memory().delete(mac);
}
