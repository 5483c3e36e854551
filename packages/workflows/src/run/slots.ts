/**
 * How many runs execute at once (WF-25): slots that are taken first come, first served, and given back when a run stops. A
 * run that waits for a person has none.
 */
export class Slots {
  readonly #max: number;
  #taken = 0;
  readonly #queue: Waiting[] = [];
  #closed: { readonly reason: unknown } | undefined;

  /** `max`: 1 or more; `Infinity`: as many as come. */
  constructor(max: number) {
    this.#max = max;
  }

  /** Whether one that asks now gets a slot at once. */
  get isFree(): boolean {
    return this.#taken < this.#max && this.#queue.length === 0;
  }

  /** Whether a run waits for a slot. */
  isWaiting(runId: string): boolean {
    return this.#queue.some((waiting) => waiting.runId === runId);
  }

  /** Runs a run's task once there is a slot. @throws the signal's reason, where it aborts before that */
  async enter<T>(runId: string, signal: AbortSignal, task: () => Promise<T>): Promise<T> {
    await this.#slot(runId, signal);
    try {
      return await task();
    } finally {
      this.#taken -= 1;
      this.#queue.shift()?.turn();
    }
  }

  /** Gives none out any more; who has one keeps it. */
  close(reason: unknown): void {
    this.#closed = { reason };
    for (const { leave } of this.#queue.splice(0)) leave(reason);
  }

  async #slot(runId: string, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    if (this.#closed !== undefined) throw this.#closed.reason;
    if (this.isFree) {
      this.#taken += 1;
      return;
    }
    await new Promise<void>((resolve, reject) => {
      const onAbort = (): void => {
        this.#queue.splice(this.#queue.indexOf(waiting), 1);
        reject(signal.reason);
      };
      const waiting: Waiting = {
        runId,
        turn: () => {
          signal.removeEventListener("abort", onAbort);
          this.#taken += 1; // before anybody else looks
          resolve();
        },
        leave: (reason) => {
          signal.removeEventListener("abort", onAbort);
          reject(reason);
        },
      };
      this.#queue.push(waiting);
      signal.addEventListener("abort", onAbort, { once: true });
    });
  }
}

interface Waiting {
  readonly runId: string;
  readonly turn: () => void;
  readonly leave: (reason: unknown) => void;
}
