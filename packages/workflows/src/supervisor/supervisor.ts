/**
 * A supervisor: owns sessions by lease, takes up their runs, and keeps them going until each has ended or waits for somebody.
 *
 * V1 What a caller was told stands: a start that returned an id, a decision that was acknowledged, a wish to cancel, are on
 *    record before the answer (WF-31). A caller who goes away changes nothing.
 * V2 Whatever changes a run is written under its session's fence, or is somebody's word beside it: decisions and wishes to
 *    cancel need no session (WF-20).
 * V3 Reading takes no lane, no slot and no lease (WF-32).
 * V4 What may be on record without anybody having been told is found by the session's owner, not only by the next one.
 */

import type { Decision } from "@holdpoint/approvals";
import type { DoubtAnswer } from "@holdpoint/flow";
import { errorInfo } from "@holdpoint/tools";

import type { Workflow } from "../definition/define.ts";
import { SessionOwnedError, WorkflowError } from "../errors.ts";
import { shutdownMsDefault } from "../limits.ts";
import { isTerminal } from "../registry/moves.ts";
import type { RunQuery } from "../registry/listing.ts";
import { viewOf, type RunView } from "../registry/run-view.ts";
import type { Activity, HistoryQuery } from "../run/activity.ts";
import type { Adoption } from "../run/adopting.ts";
import { cancelRun, requestCancel, wishOf } from "../run/cancelling.ts";
import { decideApproval, type DecisionTaken } from "../run/deciding.ts";
import { partsOn } from "../run/options.ts";
import type { CancelHow, Parts } from "../run/parts.ts";
import { readHistory, readOutput, readRun, readRuns, type RunList } from "../run/reading.ts";
import { answerDoubt, resumeRun, type ResumeHow, type ResumeTaken } from "../run/resuming.ts";
import { retryRun, type RetryHow, type RetryTaken } from "../run/retrying.ts";
import { execute, seedRun, type StartOptions } from "../run/starting.ts";
import type { Picked, WorkflowInput, WorkflowOutput, WorkflowResume } from "../workflows.ts";
import { explainRun, type Explanation } from "./explaining.ts";
import { Hearing } from "./hearing.ts";
import type { Hold } from "./hold.ts";
import { Rounds } from "./rounds.ts";
import { Sessions, type SessionStanding } from "./sessions.ts";
import { shutDown, type Shutdown } from "./shutting-down.ts";
import { takeUpSessions } from "./taking-up.ts";
import { wire, type SupervisorOptions, type Wiring } from "./wiring.ts";

/** What activating found and did. */
export interface Activation {
  readonly sessions: readonly SessionStanding[];
  /** Runs that were not waiting for a person, and what became of each. */
  readonly adoptions: readonly Adoption[];
}

/** Whether this process can do its work. */
export interface Readiness {
  /** Whether it holds every session that it was given, or at least one of those that it shares. */
  readonly ready: boolean;
  readonly sessions: readonly SessionStanding[];
}

/** `final`: the run has ended, so or otherwise. `requested`: it is at work, and ends as soon as it stops. */
export interface CancelTaken {
  readonly status: "requested" | "final";
  readonly runId: string;
}

export class Supervisor<const D extends readonly Workflow[] = readonly Workflow[]> {
  readonly #wiring: Wiring;
  /** Over the stores as they are: for reading, deciding and wishes. */
  readonly #free: Parts;
  readonly #sessions: Sessions;
  readonly #hearing: Hearing;
  readonly #rounds: Rounds;
  #phase: "made" | "active" | "ending" | "ended" = "made";

  /** Touches no store yet. @throws WorkflowError `definition-invalid`, `key-required`, `option-invalid` */
  constructor(options: SupervisorOptions<D>) {
    const wiring = wire(options);
    const { base, store, slots, pollMs } = wiring;
    this.#wiring = wiring;
    this.#free = partsOn(base, { store, session: undefined, slots });
    this.#sessions = new Sessions(wiring);
    const { clock } = base;
    this.#hearing = new Hearing(this.#free, this.#sessions, { clock, pauseMs: pollMs });
    this.#rounds = new Rounds(wiring, this.#sessions, this.#hearing);
  }

  /** What it was given. */
  get definitions(): readonly Workflow[] {
    return this.#wiring.definitions;
  }

  /**
   * Takes the sessions that are free and reconciles their runs: what a crash left at work goes on, what waits for a person
   * waits, what was decided meanwhile is resumed. Sessions held elsewhere are stood by for. Once.
   * @throws SessionOwnedError where `exclusive`; WorkflowError `not-active` the second time, `store-unavailable`
   */
  async activate(): Promise<Activation> {
    if (this.#phase !== "made") throw this.#notActive();
    this.#phase = "active";
    try {
      await this.#hearing.begin(); // before anything is looked for: what is decided from now on is heard of
      const fresh = await this.#sessions.look();
      await this.#assertExclusive();
      const adoptions = await takeUpSessions(fresh, this.#wiring);
      this.#rounds.begin();
      void this.#wiring.courier?.look();
      return { sessions: this.#sessions.standings, adoptions };
    } catch (error) {
      await this.shutdown({ timeoutMs: 0 });
      throw error;
    }
  }

  /**
   * Puts a run on record, then has it executed: resolves as soon as it is on record (V1). A name takes the newest version, a
   * definition exactly itself. The same key with the same input answers the run that it began.
   * @throws InvalidInputError; StartKeyTakenError; SessionOwnedError; WorkflowError `unknown-definition`, `option-invalid`,
   *   `not-active`, `lease-lost`, `store-unavailable`
   */
  async start<const T extends D[number]["name"] | D[number]>(
    what: T,
    input: WorkflowInput<Picked<D, T>>,
    options: StartOptions & { readonly session?: string } = {},
  ): Promise<RunView> {
    const { session, ...how } = options;
    const hold = await this.#own(session);
    const { parts } = hold;
    const definition = this.#definition(what);
    const { opened } = await asked(hold, seedRun(parts, definition, input, how));
    const { facts, standing } = opened.record;
    // Not only what this call put on record: the answer of the one that did may have been lost.
    if (standing.status === "pending" && facts.session === parts.session) execute(parts, facts.id);
    return viewOf(opened);
  }

  /**
   * Records a decision, whoever holds the run's session, and has the waiting run resumed by itself, once, also if every
   * process dies right after (WF-24). Resolves when the decision is on record.
   * @throws ApprovalAlreadyDecided; ApprovalError `approval-not-found`, `approval-expired`, `actor-…`, `edits-…`,
   *   `store-unavailable`; WorkflowError `not-active`
   */
  async decide(approvalId: string, decision: Decision): Promise<DecisionTaken> {
    this.#assertActive();
    return decideApproval(this.#free, approvalId, decision, (runId, decided) =>
      this.#hearing.told(runId, decided),
    );
  }

  /**
   * Answers what a run's code asks: checks everything, then spends the answer in the commit that moves the run to running,
   * all or nothing (WF-22). Resolves with that commit; `settled` waits for the next stop.
   * @throws as `resumeRun`; SessionOwnedError; WorkflowError `not-active`, `lease-lost`
   */
  async resume<W extends D[number]>(
    definition: W,
    runId: string,
    payload: WorkflowResume<W>,
    how: ResumeHow = {},
  ): Promise<ResumeTaken> {
    const hold = await this.#own(await this.#sessionOf(runId));
    return asked(hold, resumeRun(hold.parts, definition, runId, { ...how, payload }));
  }

  /**
   * Says what became of a call in doubt, which only a person can know: `inDoubt.ran(…)`, `.didNotRun(…)`, `.failed(…)`. `id` is
   * that of what the run waits for.
   * @throws as `answerDoubt`; SessionOwnedError; WorkflowError `not-active`, `lease-lost`
   */
  async answerDoubt(runId: string, id: string, said: DoubtAnswer): Promise<ResumeTaken> {
    const hold = await this.#own(await this.#sessionOf(runId));
    return asked(hold, answerDoubt(hold.parts, runId, id, said));
  }

  /**
   * Lets a failed run go on under its id, with its journal, budgets and keys (WF-29): what finished stays finished, what failed is
   * attempted anew, what waited or was denied is asked again. Resolves once that is on record; `settled` waits for the next stop.
   * @throws as `retryRun`; SessionOwnedError; WorkflowError `not-active`, `lease-lost`
   */
  async retry(runId: string, how: RetryHow = {}): Promise<RetryTaken> {
    const hold = await this.#own(await this.#sessionOf(runId));
    return asked(hold, retryRun(hold.parts, runId, how));
  }

  /**
   * Ends a run. One that waits ends at once; one at work is told to stop, and its end and reason survive a crash (WF-26).
   * @throws WorkflowError `run-not-found`, `unknown-definition`, `not-active`, `run-moved`, `store-unavailable`
   */
  async cancel(runId: string, how: CancelHow): Promise<CancelTaken> {
    this.#assertActive();
    const { record } = await this.#free.access.require(runId);
    if (isTerminal(record.standing.status)) return { status: "final", runId };
    const hold = this.#sessions.of(record.facts.session);
    if (hold === undefined) {
      const wished = await requestCancel(this.#free, runId, wishOf(this.#free, how));
      const ended = isTerminal(wished.record.standing.status);
      return { status: ended ? "final" : "requested", runId }; // its owner ends it
    }
    const { lanes, faults } = hold.parts;
    const atWork = lanes.busy(runId);
    if (atWork) await requestCancel(this.#free, runId, wishOf(this.#free, how));
    const ending = cancelRun(hold.parts, runId, how);
    if (!atWork) {
      await ending;
      return { status: "final", runId };
    }
    ending.catch((fault: unknown) => faults.put(runId, fault));
    return { status: "requested", runId };
  }

  /** A run as it stands. @throws WorkflowError `record-tampered`, `store-unavailable` */
  get(runId: string): Promise<RunView | undefined> {
    return readRun(this.#free, runId);
  }

  /** A page of runs, of all sessions. @throws WorkflowError `filter-invalid`, `cursor-invalid`, `store-unavailable` */
  list(query: RunQuery = {}): Promise<RunList> {
    return readRuns(this.#free, query);
  }

  /** What happened to a run, in order, verified. @throws as `readHistory` */
  history(runId: string, query: HistoryQuery = {}): Promise<readonly Activity[]> {
    return readHistory(this.#free, runId, query);
  }

  /** What a completed run gives, read from its log. @throws as `readOutput` */
  async output<W extends D[number]>(definition: W, runId: string): Promise<WorkflowOutput<W>> {
    return (await readOutput(this.#free, definition, runId)) as WorkflowOutput<W>; // by its schema
  }

  /** Why a run stands where it stands, and what would move it. @throws as `explainRun` */
  async explain(runId: string): Promise<Explanation> {
    const { facts } = (await this.#free.access.require(runId)).record;
    const hold = this.#sessions.of(facts.session);
    return explainRun(this.#wiring, this.#free, hold, runId);
  }

  /**
   * Waits for a run's next stop: it ended, or waits for somebody. What its store kept from going on is tried again meanwhile;
   * a run of another process's session is looked at with each round.
   * @throws WorkflowError `run-not-found`, `not-active` once this supervisor has ended; `signal`'s reason
   */
  async settled(
    runId: string,
    { signal }: { readonly signal?: AbortSignal } = {},
  ): Promise<RunView> {
    for (;;) {
      signal?.throwIfAborted();
      await unless(signal, this.#hearing.looked(runId));
      for (const { parts } of this.#sessions.holds) await unless(signal, parts.lanes.idle(runId));
      const view = viewOf(await this.#free.access.require(runId));
      if (isTerminal(view.status) || view.status === "interrupted") return view;
      this.#assertActive();
      const busy = this.#sessions.holds.some(({ parts }) => parts.lanes.busy(runId));
      if (!busy) await unless(signal, this.#rounds.next());
    }
  }

  /** Whether it can work: for whoever sends it work. */
  ready(): Readiness {
    const sessions = this.#sessions.standings;
    const held = sessions.some(({ status }) => status === "held");
    return { ready: this.#phase === "active" && held, sessions };
  }

  /** Resolves once this process works on no run. */
  async waitIdle(): Promise<void> {
    const busy = () => this.#sessions.holds.filter(({ parts }) => parts.lanes.runs.length > 0);
    await this.#hearing.allLooked();
    for (let holds = busy(); holds.length > 0; holds = busy()) {
      await Promise.all(holds.map(({ parts }) => parts.lanes.allIdle()));
      await this.#hearing.allLooked();
    }
  }

  /**
   * Takes no work any more, lets runs come to their next stop for `timeoutMs` (5,000), aborts those that did not, and gives the
   * sessions back. A session of which something is still under way is not given back: it lapses, and another process goes on.
   */
  async shutdown({
    timeoutMs = shutdownMsDefault,
  }: { readonly timeoutMs?: number } = {}): Promise<Shutdown> {
    if (this.#phase !== "ended") this.#phase = "ending";
    this.#sessions.close();
    this.#rounds.end();
    this.#hearing.end();
    this.#wiring.slots.close(this.#notActive());
    this.#wiring.courier?.end();
    const done = await shutDown(this.#wiring, this.#sessions.holds, timeoutMs);
    this.#phase = "ended";
    return done;
  }

  #definition(what: string | Workflow): Workflow {
    return this.#wiring.base.definitions.resolve(what);
  }

  async #own(session: string | undefined): Promise<Hold> {
    this.#assertActive();
    const { hold, fresh } = await this.#sessions.own(session);
    if (fresh && !hold.takenUp) await takeUpSessions([hold], this.#wiring);
    return hold;
  }

  async #sessionOf(runId: string): Promise<string | undefined> {
    const { facts } = (await this.#free.access.require(runId)).record;
    if (facts.session === undefined) throw new SessionOwnedError("", 0);
    return facts.session;
  }

  async #assertExclusive(): Promise<void> {
    if (!this.#wiring.exclusive) return;
    const elsewhere = this.#sessions.standings.find(({ status }) => status === "standby");
    if (elsewhere !== undefined) throw new SessionOwnedError(elsewhere.session, elsewhere.epoch);
  }

  #assertActive(): void {
    if (this.#phase !== "active") throw this.#notActive();
  }

  #notActive(): WorkflowError {
    const why = this.#phase === "made" ? "was not activated yet" : "was activated before";
    const ending = this.#phase === "ending" || this.#phase === "ended";
    return new WorkflowError(
      "not-active",
      `this supervisor ${ending ? "has been shut down" : why}`,
    );
  }
}

/** What is asked of a session's runs; where nobody knows whether it is on record, its owner looks for it (V4). */
async function asked<T>(hold: Hold, answer: Promise<T>): Promise<T> {
  try {
    return await answer;
  } catch (error) {
    if (errorInfo(error).code === "store-unavailable") hold.doubt();
    throw error;
  }
}

/** A promise, unless the signal aborts first. */
function unless<T>(signal: AbortSignal | undefined, promise: Promise<T>): Promise<T> {
  if (signal === undefined) return promise;
  return new Promise((resolve, reject) => {
    const abort = (): void => reject(signal.reason);
    if (signal.aborted) return abort(); // it tells nobody of it again
    signal.addEventListener("abort", abort, { once: true });
    void promise.then(resolve, reject).finally(() => signal.removeEventListener("abort", abort));
  });
}
