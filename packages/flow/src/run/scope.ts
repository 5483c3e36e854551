/**
 * One execution of user code: its latch, its journal's order, its re-run. Owns nothing durable; what it needs of its
 * owner is `ScopeOps`.
 *
 * S1 After the latch closed nothing reaches the code: outstanding and later promises stay unsettled (FLOW-23).
 * S2 The latch closes when a call waits for a person, when the function returned or threw, and when it is stopped.
 * S3 A scope is over when its latch is closed and no call is under way and every outcome is recorded. Only then:
 *    something waits → waiting; threw → failed; else finished. A pause wins over a throw.
 * S4 Outcomes reach the code one at a time, each after the code that the last one woke has come to rest; that order is
 *    the journal's order (FLOW-46).
 * S5 A re-run gets recorded outcomes in that order, matched by identity (FLOW-31).
 * S6 On a re-run new calls start when no recorded outcome that was asked for is outstanding; entries unclaimed at that
 *    moment, or when the function returns without having asked for anything new, are the divergence, told or refused before
 *    anything new runs (FLOW-41); what lies behind a cursor that the code has looked at is none.
 */
import type { AskedWait, Entry, NestedRun, Prior, Settled, Started } from "./journal.ts";
import { Tally, type Asked, type Identity, type Made } from "./identity.ts";
import type { Rest } from "./rest.ts";
import type { InDoubtWait } from "./wait.ts";

/** What stands on record for a call that is made again. */
export interface Standing {
  readonly wait: AskedWait | undefined;
  readonly started: Started | undefined;
  readonly doubt: InDoubtWait | undefined;
  readonly nested: NestedRun | undefined;
}

/** What a scope needs of whoever runs it. */
export interface ScopeOps {
  /** Puts an outcome on record. Called in the order in which outcomes reach the code. */
  record(made: Made, outcome: Settled): void;
  /** Resolves once everything recorded so far is durable; `undefined` where nothing has to be waited for. */
  durable(): Promise<void> | undefined;
  /** The value or error that the code gets for an outcome: live ones as they are, recorded ones built anew. */
  reveal(made: Made, outcome: Settled, how: "live" | "recorded"): Revealed;
  /** The code asked for other things than are on record; an error here ends the execution before anything new runs. */
  diverged(expected: readonly Identity[], came: readonly Made[]): unknown;
  /** Something was begun after the function had returned: it never starts (FLOW-37). */
  dropped(name: string): void;
  readonly rest: Rest;
}

export type Revealed = { readonly value: unknown } | { readonly error: unknown };

/** `undefined` as an outcome: it waits for a person. */
export type Begin = (made: Made, standing: Standing) => Promise<Settled | undefined>;

export type ScopeEnd =
  | { readonly how: "finished"; readonly value: unknown }
  | { readonly how: "failed"; readonly error: unknown }
  | { readonly how: "waiting" }
  /** Stopped from outside or by a fault of the machinery: the run itself can't go on. */
  | { readonly how: "stopped"; readonly error: unknown };

/** The code, and whom its end is told. */
export interface ScopeCode<E> {
  body(execution: E): unknown;
  over(end: ScopeEnd): void;
}

interface Job {
  readonly made: Made;
  readonly begin: Begin;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
}

/** A call that ended. */
interface Ended {
  readonly job: Job;
  readonly outcome: Settled;
}

const none: never[] = [];

type Latch = { readonly is: "open" } | { readonly is: "closed"; readonly end: ScopeEnd };

const ignore = (): void => {};

function put<T>(list: T[], item: T): T[] {
  if (list === none) return [item];
  list.push(item);
  return list;
}

const open: Latch = { is: "open" };

export class Scope {
  readonly #ops: ScopeOps;
  readonly #prior: Prior | undefined;
  #tally: Tally | undefined;
  #claimed: Map<Entry, Job> | undefined;
  #latch: Latch = open;
  #replaying: boolean;
  // Most executions ask for nothing: they pay for no lists.
  #fresh: Job[] = none;
  #arrived: Ended[] = none;
  #deliverable: Ended[] = none;
  #underWay = 0;
  #turning = false;
  #next: (() => void) | undefined;
  #waits = false;
  #code: ScopeCode<unknown> | undefined;
  #isOver = false;

  constructor(ops: ScopeOps, prior: Prior | undefined) {
    this.#ops = ops;
    this.#prior = prior;
    this.#replaying = prior?.replays ?? false;
  }

  /**
   * Runs the code until this execution is over (S3), and says once how it ended: where it was stopped, a turn after that, so
   * that whoever stops it has done all that goes with it.
   */
  run<E>(code: ScopeCode<E>, execution: E): void {
    this.#code = code as ScopeCode<unknown>;
    let returned: unknown;
    try {
      returned = code.body(execution);
    } catch (error) {
      return this.#close({ how: "failed", error });
    }
    Promise.resolve(returned).then(
      (value) => this.#close({ how: "finished", value }),
      (error: unknown) => this.#close({ how: "failed", error }),
    );
  }

  /** Closes the latch from outside: time is over, or the run ends. Nothing more reaches the code. */
  stop(error: unknown): void {
    this.#close({ how: "stopped", error });
  }

  /** What stopped it, where something did. */
  get stopped(): { readonly by: unknown } | undefined {
    if (this.#latch.is === "open" || this.#latch.end.how !== "stopped") return undefined;
    return { by: this.#latch.end.error };
  }

  /** Whether this execution has ended. */
  get over(): boolean {
    return this.#isOver;
  }

  /** How many things the code has asked for. */
  get asked(): number {
    return this.#tally?.size ?? 0;
  }

  /** Something the code asks for. The promise settles in journal order, or never (S1, S4). */
  ask(what: Asked, begin: Begin): Promise<unknown> {
    if (this.#latch.is === "closed") {
      this.#ops.dropped(what.name);
      return new Promise(ignore); // S1
    }
    const made = (this.#tally ??= new Tally()).add(what);
    const promise = new Promise<unknown>((resolve, reject) => {
      const job: Job = { made, begin, resolve, reject };
      const entry = this.#prior?.claim(made);
      if (entry !== undefined) {
        (this.#claimed ??= new Map()).set(entry, job);
        this.#turnSoon();
      } else if (this.#replaying) {
        this.#fresh = put(this.#fresh, job);
        this.#turnSoon();
      } else {
        this.#start(job);
      }
    });
    promise.catch(ignore); // a floating call that fails is an event, not the end of the process (FLOW-37)
    return promise;
  }

  /** A synchronous step: the recorded value, or a fresh one that is recorded at once. */
  moment(name: string, fresh: () => Settled): Settled {
    const made = (this.#tally ??= new Tally()).add({ kind: "moment", name });
    const entry = this.#prior?.take(made);
    if (entry !== undefined) return entry.outcome;
    const outcome = fresh();
    // Also of code that goes on behind a closed latch: should it be run again, it sees the same.
    if (!this.#isOver) this.#ops.record(made, outcome);
    return outcome;
  }

  #start(job: Job): void {
    this.#underWay += 1;
    const standing: Standing = {
      wait: this.#prior?.wait(job.made),
      started: this.#prior?.started(job.made),
      doubt: this.#prior?.doubt(job.made),
      nested: job.made.kind === "run" ? this.#prior?.nested(job.made) : undefined,
    };
    job.begin(job.made, standing).then(
      (outcome) => {
        this.#underWay -= 1;
        if (this.#isOver) return; // stopped meanwhile: nobody records for it any more
        if (outcome === undefined) {
          this.#waits = true;
          this.#close({ how: "waiting" }); // S2
        } else {
          this.#arrived = put(this.#arrived, { job, outcome });
          this.#turnSoon();
        }
        this.#overIfDone();
      },
      (error: unknown) => {
        // Begins report what is expected as outcomes: what is thrown is a fault of the run.
        this.#underWay -= 1;
        this.#close({ how: "stopped", error });
        this.#overIfDone();
      },
    );
  }

  #close(end: ScopeEnd): void {
    const was = this.#latch;
    if (was.is === "closed") {
      // A later fault must not be lost behind a return; nothing else changes how it ended.
      if (end.how === "stopped" && was.end.how !== "stopped") this.#latch = { is: "closed", end };
      return;
    }
    this.#latch = { is: "closed", end };
    if (end.how !== "stopped") {
      if (this.#fresh.length > 0) this.#startFresh(); // else S3 would wait for ever
      else if (this.#replaying && end.how === "finished") this.#noteDivergence([]);
    }
    this.#overIfDone();
  }

  /** S6 */
  #startFresh(): void {
    const fresh = this.#fresh;
    this.#fresh = none;
    this.#replaying = false;
    const came = fresh.map((job) => job.made);
    if (this.#noteDivergence(came)) return;
    for (const job of fresh) this.#start(job);
  }

  /** Tells what is on record and was not asked for. `true`: refused, and nothing new may run. */
  #noteDivergence(came: readonly Made[]): boolean {
    const unclaimed = this.#prior?.unclaimed(came) ?? [];
    if (unclaimed.length === 0) return false;
    const refused = this.#ops.diverged(unclaimed, came);
    if (refused === undefined) return false;
    this.#latch = { is: "closed", end: { how: "failed", error: refused } };
    return true;
  }

  #turnSoon(): void {
    if (this.#turning) return;
    this.#turning = true;
    this.#rest();
  }

  #rest(): void {
    this.#ops.rest((this.#next ??= () => this.#turn()));
  }

  /** One turn, with the code at rest: at most one outcome reaches it (S4). */
  #turn(): void {
    if (this.#isOver) return;
    if (this.#latch.is === "open") {
      const entry = this.#prior?.next(); // S5
      if (entry !== undefined) {
        const job = this.#claimed!.get(entry)!;
        this.#claimed!.delete(entry);
        this.#deliver(job, entry.outcome, "recorded");
        return this.#rest();
      }
      if (this.#fresh.length > 0) this.#startFresh();
    }
    if (this.#arrived.length > 0) return this.#recordArrived();
    const next = this.#deliverable.shift();
    if (next !== undefined && this.#latch.is === "open") {
      this.#deliver(next.job, next.outcome, "live");
      return this.#rest();
    }
    this.#turning = false;
    this.#overIfDone();
  }

  /** Outcomes that are ready together are recorded together, before the first of them reaches the code. */
  #recordArrived(): void {
    const arrived = this.#arrived;
    this.#arrived = none;
    try {
      for (const { job, outcome } of arrived) this.#ops.record(job.made, outcome);
    } catch (error) {
      this.#close({ how: "stopped", error });
    }
    this.#deliverable =
      this.#deliverable.length === 0 ? arrived : [...this.#deliverable, ...arrived];
    const durable = this.#ops.durable();
    if (durable === undefined) return this.#turn();
    durable.then(
      () => this.#turn(),
      (error: unknown) => {
        this.#close({ how: "stopped", error });
        this.#turn();
      },
    );
  }

  #deliver(job: Job, outcome: Settled, how: "live" | "recorded"): void {
    const shown = this.#ops.reveal(job.made, outcome, how);
    if ("error" in shown) job.reject(shown.error);
    else job.resolve(shown.value);
  }

  /** S3. A stop waits for nothing: what is under way is cut off, and its late outcome is nobody's. */
  #overIfDone(): void {
    if (this.#latch.is === "open" || this.#isOver) return;
    const { end } = this.#latch;
    const stopped = end.how === "stopped";
    if (!stopped && (this.#underWay > 0 || this.#turning || this.#arrived.length > 0)) return;
    this.#isOver = true;
    if (stopped) queueMicrotask(() => this.#code?.over(end));
    else this.#code?.over(this.#waits ? { how: "waiting" } : end);
  }
}
