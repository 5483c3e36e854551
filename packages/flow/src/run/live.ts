/**
 * A run that is under way in this process: its fold, and the way of its events into the log.
 *
 * E1 Every event goes through `emit` or `commit`: folded in order, logged in that order, and told in that order, once it
 *    is as durable as it will get (FLOW-08).
 * E2 Entries that are ready together are appended together; an append never overtakes another one (FLOW-72).
 * E3 A refused append ends this process's part in the run: somebody else has it, and nothing more is done (FLOW-75).
 * E4 What must be together commits together: writes of other ports go along with events where they live in one database.
 * E5 An append that failed ends that part too, whatever failed: its events are in the state and on no record, so anything appended
 *    behind it would leave a gap that no number shows. The run goes on from its log, by adoption.
 * E6 A run that is left asks nobody: what of its code is still under way files no question that this process would not take in.
 */
import type { ApprovalRecords, Decision, Write } from "@holdpoint/approvals";

import { Chain, chainStart, type ChainEnd } from "../checkpoint/chain.ts";
import { graphHeader } from "../checkpoint/graph-header.ts";
import { formParts } from "../checkpoint/seal.ts";
import {
  isDue,
  noSnapshot,
  sealSnapshot,
  snapshotBody,
  type SnapshotNeed,
} from "../checkpoint/snapshot.ts";
import { FlowError, RevisionConflictError } from "../errors.ts";
import type { Graph } from "../graph/flow.ts";
import type { State } from "../graph/node.ts";
import { alongTriesMax } from "../limits.ts";
import { commitKnown, type Known } from "./commit.ts";
import type { RunEvent } from "./event.ts";
import { fold } from "./fold.ts";
import type { RunNotice } from "./notice.ts";
import type { Parts } from "./parts.ts";
import { frameAt } from "./path.ts";
import type { Prepared } from "./prepare.ts";
import type { RunState } from "./state.ts";
import type { Teller } from "./telling.ts";

/** Makes writes by what stands now. */
export type MakeWrites = () => Promise<readonly Write[]>;

/** An event without its time, which is filled in here. */
export type NewEvent = RunEvent extends infer E
  ? E extends RunEvent
    ? Omit<E, "at">
    : never
  : never;

/** Of which graph a sealed text is, and where its run stood. */
export interface Sealed {
  readonly digest: string;
  readonly revision: number;
}

/** An event on its way into the log. */
interface Entry {
  readonly event: RunEvent;
  readonly body: string;
}

/** The event itself with its time: a copy of each costs more than all else that is done with it. */
function at(time: number, event: NewEvent): RunEvent {
  const timed = event as RunEvent & { at: number };
  timed.at = time;
  return timed;
}

export class LiveRun {
  readonly graph: Graph;
  readonly parts: Parts;
  readonly state: RunState;
  readonly signal: AbortSignal;
  /** What the text or the log said that this process goes on from, where the run was carried over since. */
  readonly opened: Sealed | undefined;
  /** Names the checkpoint that this process goes on from, where it was passed by value. */
  readonly mac: string | undefined;
  /** Where the log stands; behind `state.revision` by what is queued. */
  #end: ChainEnd;
  #need: SnapshotNeed;
  readonly #chain: Chain | undefined;
  readonly #teller: Teller;
  #untold: RunEvent[] = [];
  #queue: Entry[] = [];
  #along: MakeWrites[] = [];
  #committing: Promise<unknown> = Promise.resolve();
  /** Why nothing more is appended here (E5). */
  #lost: { readonly by: unknown } | undefined;
  /** Why this process's part in the run is over, where something ended it (E6). */
  #left: { readonly by: unknown } | undefined;

  constructor(how: {
    graph: Graph;
    parts: Parts;
    state: RunState;
    signal: AbortSignal;
    end?: ChainEnd;
    need?: SnapshotNeed;
    mac?: string;
    opened?: Sealed | undefined;
    /** Events that made `state` and are on no record yet: they go along with, and are told before, the next. */
    queued?: readonly RunEvent[];
  }) {
    this.graph = how.graph;
    this.parts = how.parts;
    this.state = how.state;
    this.signal = how.signal;
    this.mac = how.mac;
    const { calls, cost } = how.state.counters;
    this.charged = { calls, cost };
    this.#end = how.end ?? chainStart;
    this.#need = how.need ?? noSnapshot;
    const { keyring, log } = how.parts;
    const { scope, runId } = how.state.seed;
    this.#chain =
      log &&
      new Chain({
        keyring,
        forms: formParts(how.graph, how.parts),
        scope,
        runId,
      });
    this.#teller = how.parts.telling.of(runId);
    this.opened = how.opened;
    for (const event of how.queued ?? []) {
      if (this.#chain === undefined) this.#untold.push(event);
      else this.#queue.push({ event, body: this.#encoded(event) });
    }
  }

  /** What the run has spent, calls that are about to run included: they are charged before they start (TOOL-05). */
  readonly charged: { calls: number; cost: number };
  // Most runs need none of these.
  #brought: Map<string, Decision> | undefined;
  #foreign: Map<string, ApprovalRecords> | undefined;
  #rerun: Set<string> | undefined;
  #nestedUnderWay: Map<string, Promise<void>> | undefined;

  /** Decisions as this resume's caller brought them, by call id: for stores that calls bring along (FLOW-56). */
  get brought(): Map<string, Decision> {
    return (this.#brought ??= new Map());
  }

  /** Records that calls of this process brought along, by call id (FLOW-56). */
  get foreign(): Map<string, ApprovalRecords> {
    return (this.#foreign ??= new Map());
  }

  /** Visits whose code ran again in this process: what became of their approvals is theirs to say. */
  get rerun(): Set<string> {
    return (this.#rerun ??= new Set());
  }

  /** Nested runs that are being performed, by path: each settles when nothing of it is under way any more. */
  get nestedUnderWay(): Map<string, Promise<void>> {
    return (this.#nestedUnderWay ??= new Map());
  }

  /** What was sealed and compared before somebody was asked. */
  prepared: Prepared | undefined;

  charge(cost: number): void {
    this.charged.calls += 1;
    this.charged.cost += cost;
  }

  /** Tells of something that is no event of the log. */
  notice(notice: Omit<RunNotice, "runId" | "revision" | "at">): void {
    this.#teller.notice({ ...notice, revision: this.state.revision, at: this.parts.clock.now() });
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
  emit(event: NewEvent, merged?: State): void {
    if (this.#chain === undefined && !this.#teller.heard) {
      // Nobody keeps or hears it: it needs no time, and what made the state before it is told to nobody.
      if (this.#untold.length > 0) this.#untold = [];
      return fold(this.state, event as RunEvent, merged);
    }
    const timed = at(this.parts.clock.now(), event);
    const body = this.#encoded(timed, this.#fieldsBefore(timed));
    fold(this.state, timed, merged);
    this.#keep(timed, body);
  }

  /** This process's part in the run is over, whatever of it is still under way. */
  leave(by: unknown): void {
    this.#left ??= { by };
  }

  /** E6: right before something is filed for the run. @throws what it was left by */
  assertAsks(): void {
    if (this.#left !== undefined) throw this.#left.by;
  }

  /**
   * Writes that go along with the next commit, made when it is: another's late vote may have moved the row meanwhile, and
   * then they are made anew.
   */
  along(make: MakeWrites): void {
    this.#along.push(make);
  }

  /** Resolves once everything emitted so far is durable; `undefined` where nothing has to be waited for. */
  flush(): Promise<void> | undefined {
    if (this.#chain === undefined || (this.#idle && this.#lost === undefined)) return undefined;
    return this.#inTurn(async () => {
      this.#assertKept(); // an earlier turn may have taken them along, and lost them
      if (!this.#idle) await this.#append(this.parts.ids.id(), [], []); // else an earlier turn took them along
    });
  }

  get #idle(): boolean {
    return this.#queue.length === 0 && this.#along.length === 0;
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
      const now = this.parts.clock.now();
      const entries = how.events.map((event) => {
        const timed = at(now, event);
        return { event: timed, body: this.#encoded(timed) };
      });
      return this.#append(how.attemptId, how.writes, entries);
    });
  }

  /** Encoded at once in durable mode: what can't be sealed is refused where it arises. */
  #encoded(event: RunEvent, before?: State): string {
    return this.#chain?.encode(event, before) ?? "";
  }

  /** What the frame of an event that writes fields holds before it. */
  #fieldsBefore(event: RunEvent): State | undefined {
    const { state } = this;
    if (event.type === "visit-finished") return frameAt(state, event.visit).state;
    if (event.type !== "routed") return undefined;
    return (event.frame === undefined ? state : state.frames.get(event.frame))?.state;
  }

  #keep(event: RunEvent, body: string): void {
    if (this.#chain !== undefined) return void this.#queue.push({ event, body });
    const { revision } = this.state;
    const untold = this.#untold;
    if (untold.length > 0) this.#untold = [];
    for (const [index, before] of untold.entries())
      this.#teller.tell(before, revision - untold.length + index);
    this.#teller.tell(event, revision);
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.#committing.then(work, work);
    this.#committing = turn.catch(() => undefined);
    return turn;
  }

  /** E5 */
  #assertKept(): void {
    if (this.#lost !== undefined) throw this.#lost.by;
  }

  async #append(
    attemptId: string,
    writes: readonly Write[],
    entries: readonly Entry[],
  ): Promise<Known> {
    this.#assertKept();
    const sealed = this.#sealed([...this.#queue, ...entries], entries.length === 0);
    try {
      return await this.#committed(attemptId, writes, entries, sealed);
    } catch (error) {
      this.#lost = { by: error };
      throw error;
    }
  }

  /** One commit: `writes` first, so that a refusal's number says whose it was. `refused`: one of `writes`. */
  async #committed(
    attemptId: string,
    writes: readonly Write[],
    entries: readonly Entry[],
    sealed: SealedAppend,
  ): Promise<Known> {
    const queued = this.#queue;
    const along = this.#along;
    this.#queue = [];
    this.#along = [];
    const all = [...queued, ...entries];
    const { alongside, log } = this.parts;
    const above = alongside
      ? all.flatMap(({ event }) => alongside(event, this.state.seed.runId))
      : [];
    const own = [...writes, ...sealed.writes, ...above];
    let stands = false;
    try {
      for (let tries = 0; tries < alongTriesMax; tries++) {
        const beside = await Promise.all(along.map((make) => make()));
        const known = await commitKnown(log!, attemptId, [...own, ...beside.flat()]);
        if (known.status === "done") {
          stands = true;
          this.#end = sealed.end;
          this.#need = sealed.need;
          for (const { event } of entries) fold(this.state, event);
          const first = sealed.end.revision - all.length + 1;
          for (const [index, { event }] of all.entries()) this.#teller.tell(event, first + index);
          return known;
        }
        if (known.write >= own.length) continue; // a row of `along` moved: made anew
        this.#queue.unshift(...queued);
        this.#along.unshift(...along);
        if (known.write < writes.length) return known;
        throw this.#conflict();
      }
    } finally {
      if (!stands) sealed.takeBack();
    }
    const { runId } = this.state.seed;
    throw new FlowError("store-unavailable", `rows that go with run ${runId} move without an end`, {
      runId,
    });
  }

  /** Entries as writes. `folded`: they are in the state already, so a snapshot of it can go along where one is due. */
  #sealed(entries: readonly Entry[], folded: boolean): SealedAppend {
    const { state, graph, parts } = this;
    const chain = this.#chain!;
    const due = folded && state.phase.is !== "ended" && isDue(this.#need);
    const body = due ? snapshotBody(state, graph, parts) : undefined;
    const sealed = chain.seal(
      this.#end,
      entries.map(({ event, body: text }) => ({
        body: text,
        of: "seed" in event ? graphHeader(event.seed) : undefined,
      })),
      body !== undefined,
    );
    const { end } = sealed;
    const takeBack = (): void => chain.takeBack(sealed);
    if (body === undefined || end.revision !== state.revision) {
      const { eventsSince, charsSince } = this.#need;
      const need = {
        ...this.#need,
        eventsSince: eventsSince + entries.length,
        charsSince: charsSince + charsOf(sealed.writes),
      };
      return { writes: sealed.writes, end, need, takeBack };
    }
    const version = this.#need.version + 1;
    const snapshot = sealSnapshot(body, state, { end, version, parts });
    const need = { version, chars: body.length, eventsSince: 0, charsSince: 0 };
    return { writes: [...sealed.writes, snapshot], end, need, takeBack };
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
}

/** Entries as writes, and where they leave the log. */
interface SealedAppend {
  readonly writes: readonly Write[];
  readonly end: ChainEnd;
  readonly need: SnapshotNeed;
  readonly takeBack: () => void;
}

function charsOf(writes: readonly Write[]): number {
  return writes.reduce((sum, { values }) => sum + String(values["text"]).length, 0);
}

/** The signal of a run that nobody can abort: most can't be, and pay nothing for it. */
export const neverAborted: AbortSignal = new AbortController().signal;

/** What ends this process's part in a run whose signal was aborted. */
export function abortedRun(live: LiveRun): FlowError {
  const { runId, flow } = live.state.seed;
  return new FlowError("aborted", `run ${runId} was aborted`, { runId, flow }, live.signal.reason);
}
