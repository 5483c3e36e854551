/**
 * Workflows by hand: start, decide, adopt, cancel, read. One process at a time works on a run here; what keeps many processes
 * apart are the leases of a supervisor, which does the same by the same parts.
 *
 * F1 What a caller was told stands: a start that returned an id, a decision that was acknowledged, are on record before the
 *    answer (WF-31).
 * F2 A run is worked on in its own lane, one thing after another; reading takes none (WF-32).
 * F3 A caller who goes away changes nothing for a run.
 */

import type { Decision } from "@holdpoint/approvals";
import type { DoubtAnswer, ResumePlan } from "@holdpoint/flow";

import type { Workflow } from "./definition/define.ts";
import type { RunQuery } from "./registry/listing.ts";
import { viewOf, type RunView } from "./registry/run-view.ts";
import type { Activity, HistoryQuery } from "./run/activity.ts";
import { adoptAll, adoptRun, wakeRun, type Adoption } from "./run/adopting.ts";
import { cancelRun } from "./run/cancelling.ts";
import { decideApproval, type DecisionTaken } from "./run/deciding.ts";
import type { CancelHow, Parts } from "./run/parts.ts";
import { resolveParts, type WorkflowsOptions } from "./run/options.ts";
import {
  readHistory,
  readOutput,
  readPlan,
  readRun,
  readRuns,
  type RunList,
} from "./run/reading.ts";
import { answerDoubt, resumeRun, type ResumeHow, type ResumeTaken } from "./run/resuming.ts";
import { retryRun, type RetryHow, type RetryTaken } from "./run/retrying.ts";
import { execute, seedRun, type StartOptions } from "./run/starting.ts";

/** The definition that a name or a definition stands for. */
export type Picked<D extends readonly Workflow[], T> = T extends string ? Named<D[number], T> : T;
type Named<W, T> = W extends { readonly name: infer N } ? (T extends N ? W : never) : never;
/** What a definition's runs start from. */
export type WorkflowInput<W> = W extends { readonly types?: { readonly input: infer In } }
  ? In
  : never;
/** What a resume of a definition's run brings. */
export type WorkflowResume<W> = W extends { readonly types?: { readonly resume: infer R } }
  ? R
  : never;
/** What a definition's completed runs give. */
export type WorkflowOutput<W> = W extends { readonly types?: { readonly output: infer Out } }
  ? Out
  : never;

export class Workflows<const D extends readonly Workflow[] = readonly Workflow[]> {
  readonly #parts: Parts;

  /** @throws WorkflowError `definition-invalid`, `key-required`, `option-invalid` */
  constructor(options: WorkflowsOptions<D>) {
    this.#parts = resolveParts(options);
  }

  /**
   * Puts a run on record, then has it executed: resolves as soon as it is on record (F1). A name takes the newest version, a
   * definition exactly itself. The same key with the same input answers the run that it began.
   * @throws InvalidInputError; StartKeyTakenError; WorkflowError `unknown-definition`, `option-invalid`, `store-unavailable`
   */
  async start<const T extends D[number]["name"] | D[number]>(
    what: T,
    input: WorkflowInput<Picked<D, T>>,
    options: StartOptions = {},
  ): Promise<RunView> {
    const definition = this.#parts.definitions.resolve(what);
    const { opened, fresh } = await seedRun(this.#parts, definition, input, options);
    if (fresh) execute(this.#parts, opened.record.facts.id);
    return viewOf(opened);
  }

  /** A run as it stands. @throws WorkflowError `record-tampered`, `store-unavailable` */
  get(runId: string): Promise<RunView | undefined> {
    return readRun(this.#parts, runId);
  }

  /** A page of runs. @throws WorkflowError `filter-invalid`, `cursor-invalid`, `store-unavailable` */
  list(query: RunQuery = {}): Promise<RunList> {
    return readRuns(this.#parts, query);
  }

  /** What happened to a run, in order, verified; a run that was not executed yet has none. @throws as `readHistory` */
  history(runId: string, query: HistoryQuery = {}): Promise<readonly Activity[]> {
    return readHistory(this.#parts, runId, query);
  }

  /**
   * What a resume would do with each node of a run, were it called now: keep, re-run or blocked, and why. Runs nothing and spends
   * nothing. @throws as `readPlan`
   */
  plan(runId: string): Promise<ResumePlan> {
    return readPlan(this.#parts, runId);
  }

  /** Records a decision, and has the waiting run resumed by itself, once. @throws as `decideApproval` */
  decide(approvalId: string, decision: Decision): Promise<DecisionTaken> {
    return decideApproval(this.#parts, approvalId, decision, (runId, decided) =>
      wakeRun(this.#parts, runId, decided),
    );
  }

  /** Answers what a run's code asks; resolves once the answer is on record, and the run goes on. @throws as `resumeRun` */
  resume<W extends D[number]>(
    definition: W,
    runId: string,
    payload: WorkflowResume<W>,
    how: ResumeHow = {},
  ): Promise<ResumeTaken> {
    return resumeRun(this.#parts, definition, runId, { ...how, payload });
  }

  /** Says what became of a call in doubt; resolves once that is on record, and the run goes on. @throws as `answerDoubt` */
  answerDoubt(runId: string, id: string, said: DoubtAnswer): Promise<ResumeTaken> {
    return answerDoubt(this.#parts, runId, id, said);
  }

  /** Takes up a run that nobody holds. @throws WorkflowError `run-not-found`, `record-tampered`, `store-unavailable` */
  adopt(runId: string): Promise<Adoption> {
    return adoptRun(this.#parts, runId);
  }

  /** One pass over every run that is not terminal; a broken one is reported and set aside. @throws WorkflowError `store-unavailable` */
  adoptAll(): Promise<readonly Adoption[]> {
    return adoptAll(this.#parts);
  }

  /** Ends a run; one that has ended is left. Resolves when it has. @throws WorkflowError `run-not-found`, `unknown-definition` */
  cancel(runId: string, how: CancelHow): Promise<RunView> {
    return cancelRun(this.#parts, runId, how);
  }

  /**
   * Lets a failed run go on under its id: what finished stays finished, what failed is attempted anew, what waited or was denied
   * is asked again. Resolves once that is on record. @throws as `retryRun`
   */
  retry(runId: string, how: RetryHow = {}): Promise<RetryTaken> {
    return retryRun(this.#parts, runId, how);
  }

  /**
   * Waits until this process does nothing more with a run: it ended, waits for a person, or was left to adoption.
   * @throws what took the run out of this process's hands; WorkflowError `run-not-found`
   */
  async settled(runId: string): Promise<RunView> {
    const { lanes, faults, access } = this.#parts;
    await lanes.idle(runId);
    faults.raise(runId);
    return viewOf(await access.require(runId));
  }

  /** Resolves once this process works on no run. */
  waitIdle(): Promise<void> {
    return this.#parts.lanes.allIdle();
  }

  /** What a completed run gives, read from its log. @throws as `readOutput` */
  async output<W extends D[number]>(definition: W, runId: string): Promise<WorkflowOutput<W>> {
    return (await readOutput(this.#parts, definition, runId)) as WorkflowOutput<W>; // by its schema
  }
}
