/**
 * Telling of events (FLOW-08): in order, once they are as durable as they will get, to listeners and to whoever watches.
 *
 * T1 A listener is called, never awaited; what it throws is logged, and changes nothing.
 * T2 A watcher reads at its own pace from the notices of the run's time in this process; it never holds the run up.
 */
import type { RunEvent } from "./event.ts";
import { noticeOf, type RunNotice } from "./notice.ts";
import type { Logger } from "./parts.ts";
import { Watch, Watched } from "./watch.ts";

/** Told of every event of every run of a runner. */
export type Listener = (notice: RunNotice) => unknown;

export class Telling {
  readonly #listeners: readonly Listener[];
  readonly #logger: Logger;
  readonly #watched = new Map<string, Watched>();

  constructor(listeners: readonly Listener[], logger: Logger) {
    this.#listeners = listeners;
    this.#logger = logger;
  }

  get heard(): boolean {
    return this.#listeners.length > 0 || this.#watched.size > 0;
  }

  of(runId: string): Teller {
    return new Teller(this, runId);
  }

  /**
   * Notices of a run from this call on, until it pauses or ends in this process. Begin watching before `run`, `resume` or
   * `adopt` is called to see all of them; leaving the loop, or `return()`, ends the watch.
   */
  watch(runId: string): Watch {
    let watched = this.#watched.get(runId);
    if (watched === undefined) {
      watched = new Watched(() => void this.#watched.delete(runId));
      this.#watched.set(runId, watched);
    }
    return new Watch(watched);
  }

  give(runId: string, notice: RunNotice): void {
    for (const listener of this.#listeners) this.#call(listener, notice);
    this.#watched.get(runId)?.give(notice);
  }

  /** T1 */
  #call(listener: Listener, notice: RunNotice): void {
    const failed = (): void => {
      const { runId, type } = notice;
      this.#logger.error("a listener of run events failed", { runId, type });
    };
    try {
      const told = listener(notice);
      if (told instanceof Promise) told.catch(failed);
    } catch {
      failed();
    }
  }
}

/** Tells of one run. */
export class Teller {
  readonly #telling: Telling;
  readonly #runId: string;

  constructor(telling: Telling, runId: string) {
    this.#telling = telling;
    this.#runId = runId;
  }

  /** Whether anybody hears. */
  get heard(): boolean {
    return this.#telling.heard;
  }

  tell(event: RunEvent, revision: number): void {
    if (!this.heard) return; // most runs are told to nobody: then nothing is made
    const runId = this.#runId;
    this.#telling.give(runId, noticeOf(event, runId, revision));
  }

  /** A notice that is no event of the run's log. */
  notice(notice: Omit<RunNotice, "runId">): void {
    const runId = this.#runId;
    if (this.heard) this.#telling.give(runId, Object.freeze({ runId, ...notice }));
  }
}
