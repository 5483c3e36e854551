/**
 * One lane a run: what this process does to a run, it does one thing after another. Runs don't wait for each other, and
 * reading takes no lane (WF-32).
 */
export class Lanes {
  readonly #lanes = new Map<string, Lane>();
  #closed: { readonly reason: unknown } | undefined;

  /**
   * Runs a task when those before it in the run's lane have ended, however they did. Its signal aborts when `interrupt` is
   * called while it runs.
   */
  enter<T>(runId: string, task: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const lane = this.#laneOf(runId);
    lane.waiting += 1;
    const turn = lane.tail.then(async () => {
      lane.controller = new AbortController();
      if (this.#closed !== undefined) lane.controller.abort(this.#closed.reason);
      try {
        return await task(lane.controller.signal);
      } finally {
        lane.waiting -= 1;
        if (lane.waiting === 0) this.#lanes.delete(runId);
      }
    });
    lane.tail = turn.catch(() => undefined);
    return turn;
  }

  /**
   * As `enter`, for a look at a run, unless one waits there already: it has not begun, so it finds what this one would. However
   * often a run at work is asked after, it is looked at once when it stops.
   */
  look(runId: string, task: (signal: AbortSignal) => Promise<void>): Promise<void> {
    const lane = this.#lanes.get(runId);
    if (lane?.isLookDue === true) return Promise.resolve();
    const turn = this.enter(runId, (signal) => {
      this.#laneOf(runId).isLookDue = false;
      return task(signal);
    });
    this.#laneOf(runId).isLookDue = true;
    return turn;
  }

  /** Tells the task that runs in a lane, if one does, that it is not wanted any more. */
  interrupt(runId: string, reason: unknown): void {
    this.#lanes.get(runId)?.controller.abort(reason);
  }

  /** Tells every task that runs, and every one that comes, that none is wanted any more. */
  close(reason: unknown): void {
    this.#closed = { reason };
    for (const lane of this.#lanes.values()) lane.controller.abort(reason);
  }

  /** The runs that something is done with. */
  get runs(): readonly string[] {
    return [...this.#lanes.keys()];
  }

  /** Whether something is done with a run here, or is about to be. */
  busy(runId: string): boolean {
    return this.#lanes.has(runId);
  }

  /** Resolves once a run's lane is empty; at once where it is. */
  async idle(runId: string): Promise<void> {
    for (let lane = this.#lanes.get(runId); lane !== undefined; lane = this.#lanes.get(runId)) {
      await lane.tail;
    }
  }

  /** Resolves once nothing runs in any lane. */
  async allIdle(): Promise<void> {
    while (this.#lanes.size > 0) await Promise.all([...this.#lanes.values()].map((l) => l.tail));
  }

  #laneOf(runId: string): Lane {
    let lane = this.#lanes.get(runId);
    if (lane === undefined) {
      const controller = new AbortController();
      lane = { tail: Promise.resolve(), waiting: 0, controller, isLookDue: false };
      this.#lanes.set(runId, lane);
    }
    return lane;
  }
}

interface Lane {
  tail: Promise<unknown>;
  waiting: number;
  controller: AbortController;
  /** Whether a look waits in it that has not begun. */
  isLookDue: boolean;
}
