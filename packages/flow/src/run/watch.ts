import type { RunNotice } from "./notice.ts";

/** What a process's part in a run ends with. */
const last: ReadonlySet<RunNotice["type"]> = new Set([
  "paused",
  "completed",
  "failed",
  "cancelled",
]);

/** The notices of one run, for as long as somebody watches it. */
export class Watched {
  readonly notices: RunNotice[] = [];
  readonly #watches = new Set<Watch>();
  readonly #unwatched: () => void;

  constructor(unwatched: () => void) {
    this.#unwatched = unwatched;
  }

  give(notice: RunNotice): void {
    this.notices.push(notice);
    for (const watch of this.#watches) watch.wake();
  }

  enter(watch: Watch): void {
    this.#watches.add(watch);
  }

  leave(watch: Watch): void {
    if (this.#watches.delete(watch) && this.#watches.size === 0) this.#unwatched();
  }
}

type Step = IteratorResult<RunNotice, void>;

/**
 * One watcher's place among a run's notices. No generator: one that was never begun, or that waits, could not be left, and
 * would keep the run's notices for ever.
 */
export class Watch implements AsyncIterableIterator<RunNotice, void, undefined> {
  readonly #watched: Watched;
  readonly #asked: ((step: Step) => void)[] = [];
  #next: number;
  #done = false;

  constructor(watched: Watched) {
    this.#watched = watched;
    this.#next = watched.notices.length;
    watched.enter(this);
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  next(): Promise<Step> {
    return new Promise((resolve) => {
      this.#asked.push(resolve);
      this.wake();
    });
  }

  /** Ends the watch; whoever waits for a notice gets the end. */
  return(): Promise<Step> {
    this.#end();
    return Promise.resolve({ done: true, value: undefined });
  }

  /** Answers whoever waits, as far as there are notices. */
  wake(): void {
    while (this.#asked.length > 0 && !this.#done && this.#next < this.#watched.notices.length) {
      const notice = this.#watched.notices[this.#next++]!;
      this.#asked.shift()!({ done: false, value: notice });
      if (last.has(notice.type)) this.#end();
    }
    if (this.#done) this.#end();
  }

  #end(): void {
    this.#done = true;
    this.#watched.leave(this);
    for (const resolve of this.#asked.splice(0)) resolve({ done: true, value: undefined });
  }
}
