/**
 * What may happen next. Every asynchronous call of a port ends up here, and waits until it is chosen.
 *
 * S1 Nothing that a process waits for happens by itself: a call is answered when it is chosen, and nothing else is under way
 *    then (`settled`). So the order of everything is the seed's.
 * S2 A process that died is told nothing any more; what it had sent may still arrive.
 */
import type { Said } from "./trace.ts";
import type { Living } from "./virtual-time.ts";

/** A process from its start to its end, or somebody outside of all of them. */
export interface Owner extends Living {
  readonly name: string;
  readonly stalled: boolean;
}

export interface Waiting {
  readonly owner: Owner;
  readonly kind: "read" | "commit" | "tool" | "reply" | "straggler";
  readonly what: Said;
  /** The idempotency key, of a tool's code that is under way. */
  readonly key?: string;
  /** Chosen: does what it stands for. */
  readonly happen: () => void;
}

export class Schedule {
  #waiting: Waiting[] = [];

  add(waiting: Waiting): void {
    this.#waiting.push(waiting);
  }

  /** Everything that may be chosen (S2); what stands still is not, and what it had sent already still arrives. */
  get open(): readonly Waiting[] {
    return this.#waiting.filter(({ owner, kind }) => !owner.stalled || kind === "straggler");
  }

  /** Whether a tool's code is under way under this key. */
  isUnderWay(key: string): boolean {
    return this.#waiting.some((waiting) => waiting.key === key);
  }

  take(waiting: Waiting): void {
    const at = this.#waiting.indexOf(waiting);
    this.#waiting.splice(at, 1);
  }

  /** S2: what a dead process waits for is nobody's. What it had sent already is no business of its owner any more. */
  bury(owner: Owner): void {
    this.#waiting = this.#waiting.filter(
      (waiting) => waiting.owner !== owner || waiting.kind === "straggler",
    );
  }
}

/** A promise that nobody ever settles: what a dead process waits for. */
export function never<T>(): Promise<T> {
  return new Promise<T>(() => undefined);
}

/**
 * Resolves when all code that was just woken waits again: promise reactions and ticks have run dry twice, so that a turn of
 * the event loop that the code itself took has passed too.
 */
export async function settled(): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve));
  await new Promise((resolve) => setImmediate(resolve));
}
