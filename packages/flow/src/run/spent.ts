/**
 * What this process has done with the checkpoints it was given (FLOW-54, FLOW-57): the one thing that refuses a second use
 * where no store does.
 *
 * Keyed by the checkpoint's own MAC. Bounded and kept for a day; two copies of the package share it, worker threads and
 * other processes don't. After that, or there, only a store behind the port can refuse.
 */
import { spentMax, spentMs } from "../limits.ts";
import type { Standing } from "./already.ts";

/** What became of a checkpoint. */
export type Use = { readonly use: "resumed"; readonly stands: readonly Standing[] } | Cancelled;

interface Cancelled {
  readonly use: "cancelled";
}

interface Spent {
  readonly mac: string;
  readonly at: number;
  readonly was: Use;
}

/** What was taken, oldest first from `first` on. A map whose first members go has to be read past all that went before. */
interface Order {
  list: Spent[];
  first: number;
}

const place = Symbol.for("@holdpoint/flow.spent");
const inOrder = Symbol.for("@holdpoint/flow.spent-order");

type Memory = Map<string, Spent> & { [inOrder]?: Order };

function memory(): Memory {
  const home = globalThis as { [place]?: Memory };
  return (home[place] ??= new Map<string, Spent>());
}

/** Takes a checkpoint if nobody did: `undefined`, or what was done with it before. */
export function takeOnce(mac: string, use: Use, now: number): Use | undefined {
  const spent = memory();
  const order = (spent[inOrder] ??= { list: [], first: 0 });
  forget(spent, order, now);
  const before = spent.get(mac);
  if (before !== undefined) return before.was;
  const taken: Spent = { mac, at: now, was: lean(use) };
  spent.set(mac, taken);
  order.list.push(taken);
  return undefined;
}

/** What is kept for a day says who decided what, and when; not what runs instead of what was asked, which may be large. */
function lean(use: Use): Use {
  if (use.use === "cancelled") return use;
  const stands = use.stands.map(({ decision, ...standing }) => {
    const { edited, ...kept } = decision;
    return { ...standing, decision: edited === undefined ? decision : kept };
  });
  return { use: "resumed", stands };
}

/** Lets go of what is too old, and of the oldest where there are too many. */
function forget(spent: Memory, order: Order, now: number): void {
  const stands = (taken: Spent): boolean => spent.get(taken.mac) === taken; // else it was given back
  for (; order.first < order.list.length; order.first++) {
    const oldest = order.list[order.first]!;
    if (!stands(oldest)) continue;
    if (spent.size < spentMax && now - oldest.at < spentMs) break;
    spent.delete(oldest.mac);
  }
  if (order.list.length <= 2 * spent.size + idleMax) return;
  order.list = order.list.slice(order.first).filter(stands);
  order.first = 0;
}

/** Places in the order that nothing stands for are let be up to here, and up to as many as there are others. */
const idleMax = 1_024;

/** What was done with a checkpoint, as far as this process remembers. */
export function usedBefore(mac: string): Use["use"] | undefined {
  return memory().get(mac)?.was.use;
}

/** Gives a checkpoint back: what it was taken for did not happen (FLOW-59). */
export function giveBack(mac: string): void {
  memory().delete(mac);
}
