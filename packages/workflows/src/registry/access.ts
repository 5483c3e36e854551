import type { Ids, Row, Write } from "@holdpoint/approvals";
import type { Keyring } from "@holdpoint/seal";

import { WorkflowError } from "../errors.ts";
import { commitKnown, reached, type Known } from "./commit.ts";
import type { OpenRun, RunCodec } from "./record-codec.ts";
import type { RunRecord } from "./record.ts";
import type { DuePage, RunFilter, RunPage, RunRegistry } from "./store.ts";

export interface RunAccessOptions {
  readonly registry: RunRegistry;
  readonly keyring: Keyring;
  /** Of this keyring; what one part of a process has verified, the others need not. */
  readonly codec: RunCodec;
  readonly scope: string;
  readonly ids: Ids;
}

/** The registry's rows of one scope, as records. */
export class RunAccess {
  readonly registry: RunRegistry;
  readonly scope: string;
  readonly keyring: Keyring;
  readonly codec: RunCodec;
  readonly #ids: Ids;

  constructor({ registry, keyring, codec, scope, ids }: RunAccessOptions) {
    this.registry = registry;
    this.scope = scope;
    this.keyring = keyring;
    this.codec = codec;
    this.#ids = ids;
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

  /** What is due of a session by now, by the registry's clock. @throws WorkflowError `store-unavailable` */
  async due(session: string, page: DuePage): Promise<readonly Row[]> {
    const now = await reached(this.registry.now());
    return reached(this.registry.due(this.scope, session, now, page));
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

  /** The write of a record's next version. */
  write(record: RunRecord, expect: number): Write {
    return this.codec.write(record, expect);
  }

  /** @throws WorkflowError `store-unavailable`, `lease-lost` */
  commit(writes: readonly Write[]): Promise<Known> {
    return commitKnown(this.registry, this.#ids.id(), writes);
  }

  /** Puts a record in the place of what was read, with what belongs to it. @throws WorkflowError `run-moved`, `store-unavailable` */
  async put(record: RunRecord, expect: number, beside: readonly Write[] = []): Promise<OpenRun> {
    const known = await this.commit([this.write(record, expect), ...beside]);
    if (known.status === "done") return { record, version: expect + 1 };
    const { id: runId } = record.facts;
    const { because } = known.refusal;
    throw new WorkflowError("run-moved", `somebody else has run ${runId} by now`, {
      runId,
      because,
    });
  }
}
