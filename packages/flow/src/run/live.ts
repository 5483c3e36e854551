/**
 * A run that is under way in this process: its fold, and the way of its events into the log.
 *
 * E1 Every event goes through `emit` or `commit`: folded in order, logged in that order, and told in that order, once it
 *    is as durable as it will get (FLOW-08).
 * E2 Entries that are ready together are appended together; an append never overtakes another one (FLOW-72).
 * E3 A refused append ends this process's part in the run: somebody else has it, and nothing more is done (FLOW-75).
 * E4 What must be together commits together: writes of other ports go along with events where they live in one database.
 */
import type { Write } from "@holdpoint/approvals";

import { Chain, chainStart, type ChainEnd } from "../checkpoint/chain.ts";
import { graphHeader } from "../checkpoint/seal.ts";
import { RevisionConflictError } from "../errors.ts";
import type { Graph } from "../graph/flow.ts";
import { commitKnown, type Known } from "./commit.ts";
import type { RunEvent } from "./event.ts";
import { fold } from "./fold.ts";
import type { Parts } from "./parts.ts";
import type { RunState } from "./state.ts";

/** An event without its time, which is filled in here. */
export type NewEvent = RunEvent extends infer E
  ? E extends RunEvent
    ? Omit<E, "at">
    : never
  : never;

/** An event on its way into the log. */
interface Entry {
  readonly event: RunEvent;
  readonly body: string;
}

export class LiveRun {
  readonly graph: Graph;
  readonly parts: Parts;
  readonly state: RunState;
  readonly signal: AbortSignal;
  /** Where the log stands; behind `state.revision` by what is queued. */
  #end: ChainEnd;
  readonly #chain: Chain | undefined;
  #queue: Entry[] = [];
  #alongside: Write[] = [];
  #committing: Promise<unknown> = Promise.resolve();

  constructor(how: {
    graph: Graph;
    parts: Parts;
    state: RunState;
    signal: AbortSignal;
    end?: ChainEnd;
    /** Events that made `state` and are not logged yet. */
    queued?: readonly RunEvent[];
  }) {
    this.graph = how.graph;
    this.parts = how.parts;
    this.state = how.state;
    this.signal = how.signal;
    this.#end = how.end ?? chainStart;
    const { keyring, sealer, log } = how.parts;
    const { scope, runId } = how.state.seed;
    this.#chain =
      log && new Chain({ keyring, sealer, scope, runId, of: graphHeader(how.state.seed) });
    for (const event of how.queued ?? []) this.#keep(event, this.#encoded(event));
  }

  get durable(): boolean {
    return this.#chain !== undefined;
  }

  /** Whether a store's writes can be part of this run's commits (E4). */
  sharesHome(store: { readonly home: object }): boolean {
    return this.parts.log?.home === store.home;
  }

  /**
   * Takes an event in. It is durable after the next `flush`.
   * @throws FlowError `state-not-sealable`: then it did not happen.
   */
  emit(event: NewEvent): void {
    const timed = { at: this.parts.clock.now(), ...event } as RunEvent;
    const body = this.#encoded(timed);
    fold(this.state, timed);
    this.#keep(timed, body);
  }

  /** Writes that go along with the next flush. */
  along(writes: readonly Write[]): void {
    this.#alongside.push(...writes);
  }

  /** Resolves once everything emitted so far is durable; `undefined` where nothing has to be waited for. */
  flush(): Promise<void> | undefined {
    if (this.#chain === undefined || (this.#queue.length === 0 && this.#alongside.length === 0))
      return undefined;
    return this.#inTurn(async () => {
      if (this.#queue.length === 0 && this.#alongside.length === 0) return; // an earlier turn took them along
      const known = await this.#append(this.parts.ids.id(), [], []);
      if (known.status === "refused") throw this.#conflict();
    });
  }

  /**
   * Commits writes and the events that say so, all or nothing, with what is queued. The events are taken in only when the
   * commit stands. `refused`: one of `writes` was, and nothing happened.
   */
  commit(how: {
    attemptId: string;
    writes: readonly Write[];
    events: readonly NewEvent[];
  }): Promise<Known> {
    return this.#inTurn(async () => {
      const at = this.parts.clock.now();
      const entries = how.events.map((event) => {
        const timed = { at, ...event } as RunEvent;
        return { event: timed, body: this.#encoded(timed) };
      });
      const known = await this.#append(how.attemptId, how.writes, entries);
      if (known.status === "refused" && known.write >= how.writes.length) throw this.#conflict();
      return known;
    });
  }

  /** Encoded at once in durable mode: what can't be sealed is refused where it arises. */
  #encoded(event: RunEvent): string {
    return this.#chain?.encode(event) ?? "";
  }

  #keep(event: RunEvent, body: string): void {
    if (this.#chain === undefined) this.#tell([event]);
    else this.#queue.push({ event, body });
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.#committing.then(work, work);
    this.#committing = turn.catch(() => undefined);
    return turn;
  }

  /** One commit: `writes` first, so that a refusal's number says whose it was. */
  async #append(
    attemptId: string,
    writes: readonly Write[],
    entries: readonly Entry[],
  ): Promise<Known> {
    const queued = this.#queue;
    const along = this.#alongside;
    this.#queue = [];
    this.#alongside = [];
    const all = [...queued, ...entries];
    const sealed = this.#chain!.seal(
      this.#end,
      all.map((entry) => entry.body),
    );
    const { alongside } = this.parts;
    const above = alongside
      ? all.flatMap(({ event }) => alongside(event, this.state.seed.runId))
      : [];
    const known = await commitKnown(this.parts.log!, attemptId, [
      ...writes,
      ...sealed.writes,
      ...along,
      ...above,
    ]);
    if (known.status === "refused") {
      this.#queue.unshift(...queued);
      this.#alongside.unshift(...along);
      return known;
    }
    this.#end = sealed.end;
    for (const { event } of entries) fold(this.state, event);
    this.#tell(all.map((entry) => entry.event));
    return known;
  }

  /** E3 */
  #conflict(): RevisionConflictError {
    const { runId } = this.state.seed;
    return new RevisionConflictError(
      "revision-conflict",
      `somebody else wrote the next revision of run ${runId}: this process does nothing more with it`,
      { runId, revision: this.#end.revision + 1 },
    );
  }

  #tell(events: readonly RunEvent[]): void {
    const { listeners, logger } = this.parts;
    if (listeners.length === 0) return;
    const { runId } = this.state.seed;
    // In portable mode the fold is at this event; in a log it may be ahead, so revisions count back from the log's end.
    const last = this.#chain === undefined ? this.state.revision : this.#end.revision;
    for (const [index, event] of events.entries()) {
      const about = { runId, revision: last - (events.length - 1 - index) };
      for (const listener of listeners) {
        try {
          const told = listener(event, about);
          if (told instanceof Promise) {
            told.catch(() =>
              logger.error("a listener of run events failed", { runId, type: event.type }),
            );
          }
        } catch {
          logger.error("a listener of run events failed", { runId, type: event.type });
        }
      }
    }
  }
}
