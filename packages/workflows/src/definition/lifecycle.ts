/**
 * The runs of one definition over stores, by hand (WF-05): what a supervisor does, one run at a time, for whoever asks. One
 * process at a time works on a run here (see `Workflows`, which does it).
 */

import type { Decision } from "@holdpoint/approvals";

import type { RunView } from "../registry/run-view.ts";
import type { Activity, HistoryQuery } from "../run/activity.ts";
import type { DecisionTaken } from "../run/deciding.ts";
import type { WorkflowsOptions } from "../run/options.ts";
import type { CancelHow } from "../run/parts.ts";
import type { ResumeHow } from "../run/resuming.ts";
import type { StartOptions } from "../run/starting.ts";
import { Workflows } from "../workflows.ts";
import type { Workflow } from "./define.ts";

/** Where the runs are kept, and what they are worked on with. */
export type LifecycleOptions = Omit<WorkflowsOptions<readonly Workflow[]>, "definitions">;

export class Lifecycle<In = unknown, Resume = unknown, Out = unknown> {
  readonly #definition: Workflow<string, In, Resume, Out>;
  readonly #runs: Workflows<readonly [Workflow<string, In, Resume, Out>]>;

  /** @throws as `new Workflows` */
  constructor(definition: Workflow<string, In, Resume, Out>, options: LifecycleOptions) {
    this.#definition = definition;
    this.#runs = new Workflows({ ...options, definitions: [definition] });
  }

  /** Puts a run on record, then has it executed: resolves as soon as it is on record. @throws as `Workflows.start` */
  start(input: In, options: StartOptions = {}): Promise<RunView> {
    return this.#runs.start(this.#definition, input, options);
  }

  /** A run as it stands. @throws as `Workflows.get` */
  get(runId: string): Promise<RunView | undefined> {
    return this.#runs.get(runId);
  }

  /**
   * Answers what a run's code asks, and resolves at its next stop, with its status and its summary.
   * @throws as `Workflows.resume` before anything is spent, and as `settled` after it
   */
  async resume(runId: string, payload: Resume, how: ResumeHow = {}): Promise<RunView> {
    await this.#runs.resume(this.#definition, runId, payload, how);
    return this.#runs.settled(runId);
  }

  /** Records a decision, and has the waiting run resumed, once. @throws as `Workflows.decide` */
  decide(approvalId: string, decision: Decision): Promise<DecisionTaken> {
    return this.#runs.decide(approvalId, decision);
  }

  /** Takes up a run that nobody holds, and resolves at its next stop. @throws as `Workflows.adopt` and `settled` */
  async adopt(runId: string): Promise<RunView> {
    await this.#runs.adopt(runId);
    return this.#runs.settled(runId);
  }

  /** Ends a run, and resolves when it has ended. @throws as `Workflows.cancel` */
  cancel(runId: string, how: CancelHow): Promise<RunView> {
    return this.#runs.cancel(runId, how);
  }

  /** What happened to a run, in order, verified. @throws as `Workflows.history` */
  history(runId: string, query: HistoryQuery = {}): Promise<readonly Activity[]> {
    return this.#runs.history(runId, query);
  }

  /** Waits until this process does nothing more with a run. @throws as `Workflows.settled` */
  settled(runId: string): Promise<RunView> {
    return this.#runs.settled(runId);
  }

  /** What a completed run gives, read from its log. @throws as `Workflows.output` */
  output(runId: string): Promise<Out> {
    return this.#runs.output(this.#definition, runId) as Promise<Out>; // by its schema
  }
}
