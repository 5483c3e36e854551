import type { Fence, Ids, Refusal, Row, Write } from "@holdpoint/approvals";
import type { Keyring } from "@holdpoint/seal";

import { WorkflowError } from "../errors.ts";
import { unknownTriesMax } from "../limits.ts";
import { RunCodec, type OpenRun } from "./record-codec.ts";
import type { RunRecord } from "./record.ts";
import type { RunFilter, RunPage, RunRegistry } from "./store.ts";

/** The ownership under which a run's rows are written; none where one process alone works on them (WF-20). */
export type FenceOf = (record: RunRecord) => Fence | undefined;

export interface RunAccessOptions {
  readonly registry: RunRegistry;
  readonly keyring: Keyring;
  readonly scope: string;
  readonly ids: Ids;
  readonly fence: FenceOf;
}

/** What became of a commit whose outcome is known. */
export type Known =
  | { readonly status: "done" }
  | { readonly status: "refused"; readonly write: number; readonly refusal: Refusal };

/** The registry's rows of one scope, as records. */
export class RunAccess {
  readonly registry: RunRegistry;
  readonly scope: string;
  readonly keyring: Keyring;
  readonly codec: RunCodec;
  readonly #ids: Ids;
  readonly #fence: FenceOf;

  constructor({ registry, keyring, scope, ids, fence }: RunAccessOptions) {
    this.registry = registry;
    this.scope = scope;
    this.keyring = keyring;
    this.codec = new RunCodec(keyring);
    this.#ids = ids;
    this.#fence = fence;
  }

  /** @throws WorkflowError `record-tampered`, `store-unavailable` */
  async load(runId: string): Promise<OpenRun | undefined> {
    const row = await reached(this.registry.get(this.scope, runId));
    return row === undefined ? undefined : this.codec.open(this.scope, row);
  }

  /** @throws WorkflowError `run-not-found`, `record-tampered`, `store-unavailable` */
  async require(runId: string): Promise<OpenRun> {
    const opened = await this.load(runId);
    if (opened !== undefined) return opened;
    throw new WorkflowError("run-not-found", `there is no run ${runId}`, { runId });
  }

  /** @throws WorkflowError `store-unavailable` */
  rows(filter: RunFilter, page: RunPage): Promise<readonly Row[]> {
    return reached(this.registry.list(this.scope, filter, page));
  }

  /** The run that a start key was taken for. @throws WorkflowError `record-tampered`, `store-unavailable` */
  async started(definition: string, key: string): Promise<OpenRun | undefined> {
    const row = await reached(this.registry.find(this.scope, definition, key));
    if (row === undefined) return undefined;
    const runId = String(row.values["runId"]);
    const opened = await this.load(runId);
    const facts = opened?.record.facts;
    if (facts?.startKey === key && facts.definition === definition) return opened;
    throw new WorkflowError(
      "record-tampered",
      `the start key of '${definition}' leads to run ${runId}, which was not started under it`,
      { runId, definition },
    );
  }

  /** The write of a record's next version, under the fence of its owner. */
  write(record: RunRecord, expect: number): Write {
    const fence = this.#fence(record);
    const write = this.codec.write(record, expect);
    return fence === undefined ? write : { ...write, fence };
  }

  /**
   * Commits until the outcome is known: a lost answer is asked for again under the same attempt id.
   * @throws WorkflowError `store-unavailable`
   */
  async commit(writes: readonly Write[]): Promise<Known> {
    const attemptId = this.#ids.id();
    let cause: unknown;
    for (let tries = 0; tries < unknownTriesMax; tries += 1) {
      const outcome = await reached(this.registry.commit(attemptId, writes));
      if (outcome.status !== "unknown") return outcome;
      cause = outcome.cause;
    }
    throw unavailable("gave no answer to a commit: whether it stands is not known", cause);
  }

  /** Puts a record in the place of what was read. @throws WorkflowError `run-moved`, `store-unavailable` */
  async put(record: RunRecord, expect: number): Promise<OpenRun> {
    const known = await this.commit([this.write(record, expect)]);
    if (known.status === "done") return { record, version: expect + 1 };
    const { id: runId } = record.facts;
    const { because } = known.refusal;
    throw new WorkflowError("run-moved", `somebody else has run ${runId} by now`, {
      runId,
      because,
    });
  }
}

async function reached<T>(answer: Promise<T>): Promise<T> {
  try {
    return await answer;
  } catch (cause) {
    throw unavailable("could not be reached", cause);
  }
}

function unavailable(what: string, cause: unknown): WorkflowError {
  return new WorkflowError("store-unavailable", `the registry of runs ${what}`, {}, cause);
}
