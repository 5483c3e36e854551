/**
 * Workflows by hand: start, decide, adopt, cancel, read. One process at a time works on a run here; what keeps many processes
 * apart are the leases of a supervisor, whose fences go where `fence` is.
 *
 * F1 What a caller was told stands: a start that returned an id, a decision that was acknowledged, are on record before the
 *    answer (WF-31).
 * F2 A run is worked on in its own lane, one thing after another; reading takes none (WF-32).
 * F3 A caller who goes away changes nothing for a run.
 */

import type { Decision } from "@holdpoint/approvals";

import { checkValue } from "./definition/boundary.ts";
import { takesNone, workflowFacts, type Workflow } from "./definition/define.ts";
import { WorkflowError } from "./errors.ts";
import { pageDefault } from "./limits.ts";
import { checkedLimit, listRuns, type RunQuery } from "./registry/listing.ts";
import { viewOf, type RunView } from "./registry/run-view.ts";
import { activityOf, type Activity, type HistoryQuery } from "./run/activity.ts";
import { adoptAll, adoptRun, type Adoption } from "./run/adopting.ts";
import { cancelRun } from "./run/cancelling.ts";
import { decideApproval, type DecisionTaken } from "./run/deciding.ts";
import type { CancelHow, Parts } from "./run/parts.ts";
import { resolveParts, type WorkflowsOptions } from "./run/options.ts";
import { seedRun, type StartOptions } from "./run/starting.ts";
import { workOn } from "./run/work.ts";

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

/** A page of runs. */
export interface RunList {
  readonly items: readonly RunView[];
  /** Runs of this page whose records can't be trusted; they hold up none of the others. */
  readonly broken: readonly { readonly runId: string; readonly error: WorkflowError }[];
  /** Where the next page begins; absent on the last one. */
  readonly cursor?: string;
}

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
    if (fresh) this.#execute(opened.record.facts.id);
    return viewOf(opened.record);
  }

  /** A run as it stands. @throws WorkflowError `record-tampered`, `store-unavailable` */
  async get(runId: string): Promise<RunView | undefined> {
    const opened = await this.#parts.access.load(runId);
    return opened && viewOf(opened.record);
  }

  /** A page of runs. @throws WorkflowError `filter-invalid`, `cursor-invalid`, `store-unavailable` */
  async list(query: RunQuery = {}): Promise<RunList> {
    const { items, ...rest } = await listRuns(this.#parts.access, query);
    return { items: items.map(({ record }) => viewOf(record)), ...rest };
  }

  /**
   * What happened to a run, in order, verified; a run that was not executed yet has none.
   * @throws WorkflowError `run-not-found`, `unknown-definition`; FlowError `checkpoint-tampered`, `graph-version-mismatch`
   */
  async history(runId: string, query: HistoryQuery = {}): Promise<readonly Activity[]> {
    const { after = 0 } = query;
    const limit = checkedLimit(query.limit ?? pageDefault);
    const { access, definitions, log } = this.#parts;
    const { facts } = (await access.require(runId)).record;
    const definition = definitions.exactly(facts.definition, facts.version, runId);
    if ((await log.head(facts.scope, runId)) === 0) return [];
    const runner = this.#parts.runner({ log });
    const events = await runner.history(workflowFacts(definition).flow, runId);
    return events.slice(after, after + limit).map((event, at) => activityOf(event, after + at + 1));
  }

  /** Records a decision, and has the waiting run resumed by itself, once. @throws as `decideApproval` */
  decide(approvalId: string, decision: Decision): Promise<DecisionTaken> {
    return decideApproval(this.#parts, approvalId, decision);
  }

  /**
   * Answers an interrupt with a payload. Approvals are no interrupts: `decide` answers those, so a run that waits for nothing
   * else refuses every payload, and nothing is spent.
   * @throws InvalidInputError; WorkflowError `run-not-found`, `unknown-definition`, `status-wrong`, `resume-not-taken`,
   *   `no-interrupt-waits`
   */
  async resume<W extends D[number]>(
    definition: W,
    runId: string,
    payload: WorkflowResume<W>,
  ): Promise<never> {
    const { access, definitions } = this.#parts;
    const { facts, standing } = (await access.require(runId)).record;
    const exact = definitions.exactly(facts.definition, facts.version, runId);
    if (standing.status !== "interrupted" || exact !== definitions.resolve(definition)) {
      const is = `${standing.status} under '${facts.definition}' of version ${facts.version}`;
      throw new WorkflowError("status-wrong", `run ${runId} is ${is}`, { runId });
    }
    const { resume, limits } = workflowFacts(exact);
    if (resume === undefined) throw takesNone(exact.name, exact.version); // WF-04
    await checkValue("resume", resume, payload, limits);
    throw new WorkflowError(
      "no-interrupt-waits",
      `run ${runId} waits for approvals, and a payload answers interrupts only: decide those`,
      { runId },
    );
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
   * Waits until this process does nothing more with a run: it ended, waits for a person, or was left to adoption.
   * @throws what took the run out of this process's hands; WorkflowError `run-not-found`
   */
  async settled(runId: string): Promise<RunView> {
    const { lanes, faults, access } = this.#parts;
    await lanes.idle(runId);
    faults.raise(runId);
    return viewOf((await access.require(runId)).record);
  }

  /** Resolves once this process works on no run. */
  waitIdle(): Promise<void> {
    return this.#parts.lanes.allIdle();
  }

  /**
   * What a completed run gives, read from its log.
   * @throws WorkflowError `run-not-completed`, `run-not-found`, `output-invalid`
   */
  async output<W extends D[number]>(definition: W, runId: string): Promise<WorkflowOutput<W>> {
    const { access, definitions, log } = this.#parts;
    const { facts, standing } = (await access.require(runId)).record;
    const exact = definitions.exactly(facts.definition, facts.version, runId);
    if (standing.status !== "completed" || exact !== definitions.resolve(definition)) {
      const is = `${standing.status} under '${facts.definition}' of version ${facts.version}`;
      throw new WorkflowError("run-not-completed", `run ${runId} is ${is}`, { runId });
    }
    const { flow, end, output } = workflowFacts(exact);
    const result = await this.#parts.runner({ log }).adopt(flow, runId);
    if (result.status !== "completed") {
      throw new WorkflowError("run-not-completed", `run ${runId} waits`, { runId });
    }
    const given = end(result.state);
    if (output === undefined) return given as WorkflowOutput<W>;
    const read = await output["~standard"].validate(given);
    if (read.issues === undefined) return read.value as WorkflowOutput<W>;
    const message = `what run ${runId} ended in is not what the output schema of '${exact.name}' takes`;
    throw new WorkflowError("output-invalid", message, { runId, definition: exact.name });
  }

  #execute(runId: string): void {
    const parts = this.#parts;
    const work = parts.lanes.enter(runId, async (signal) => {
      const opened = await parts.access.require(runId);
      if (opened.record.standing.status !== "pending") return; // cancelled, or taken up, before its turn
      await workOn(parts, opened, "start", signal);
    });
    work.catch((fault: unknown) => parts.faults.put(runId, fault));
  }
}
