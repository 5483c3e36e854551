import type { Keyring } from "@holdpoint/seal";
import { digest } from "@holdpoint/seal";

import type { Ids } from "./clock.ts";
import type { CommitOutcome, Row, Write } from "./commit.ts";
import { decisionRecord, type DecisionRecord } from "./decision.ts";
import type { EditPort } from "./edits.ts";
import { ApprovalError } from "./errors.ts";
import { limits } from "./limits.ts";
import type { Examined, OpenRecord, RecordCodec } from "./record-codec.ts";
import { denialOf, type ApprovalRecord, type PendingRecord, type Standing } from "./record.ts";
import { ApprovalRequest, checkedId } from "./request.ts";
import type { ApprovalStore, AsOf } from "./store.ts";

/** A commit that was applied, or that certainly was not: what is left once an unknown one was asked again. */
export type KnownOutcome = Exclude<CommitOutcome, { readonly status: "unknown" }>;

/** Reading and committing records: what all operations on them share. */
export class RecordAccess {
  readonly store: ApprovalStore;
  readonly codec: RecordCodec;
  readonly ids: Ids;
  readonly edits: EditPort | undefined;

  constructor(parts: {
    readonly store: ApprovalStore;
    readonly codec: RecordCodec;
    readonly ids: Ids;
    readonly edits: EditPort | undefined;
  }) {
    this.store = parts.store;
    this.codec = parts.codec;
    this.ids = parts.ids;
    this.edits = parts.edits;
  }

  get keyring(): Keyring {
    return this.codec.keyring;
  }

  /** The record as it stands, its seal checked. @throws ApprovalError `record-tampered`, `id-invalid`, `store-unavailable` */
  async load(scope: string, id: string): Promise<OpenRecord | undefined> {
    checkedPlace(scope, id);
    const row = await this.store.get(scope, id);
    return row === undefined ? undefined : this.open(scope, row);
  }

  /** As `load`, for whoever is about to move the record: with the store's time, which no row waits for by itself. @throws as `load` */
  async loadNow(scope: string, id: string): Promise<AsOf<OpenRecord | undefined>> {
    const { store } = this;
    if (store.getNow === undefined) {
      const opened = await this.load(scope, id);
      return { found: opened, now: await store.now() };
    }
    checkedPlace(scope, id);
    const { found: row, now } = await store.getNow(scope, id);
    return { found: row && this.open(scope, row), now };
  }

  /** What stands under request keys, and the store's time. @throws ApprovalError `store-unavailable` */
  async findNow(
    scope: string,
    requestKeys: readonly string[],
  ): Promise<AsOf<readonly (Row | undefined)[]>> {
    const { store } = this;
    if (store.findNow !== undefined) return store.findNow(scope, requestKeys);
    const found: (Row | undefined)[] = [];
    for (const key of requestKeys) found.push(await store.find(scope, key));
    return { found, now: await store.now() };
  }

  /** As `open`, but what is wrong with the row is an answer. */
  examine(scope: string, row: Row): Examined {
    return this.codec.examine(scope, row);
  }

  /** @throws ApprovalError `record-tampered` */
  open(scope: string, row: Row): OpenRecord {
    const opened = this.examine(scope, row);
    if ("fault" in opened) throw opened.fault;
    return opened;
  }

  /** The record that stands for this one's call: itself, or the last of those that replaced it because of edits. */
  async loadStanding(scope: string, id: string): Promise<OpenRecord | undefined> {
    return this.#standingOf(id, scope, await this.load(scope, id));
  }

  /** As `loadStanding`, with the store's time. @throws as `load` */
  async loadStandingNow(scope: string, id: string): Promise<AsOf<OpenRecord | undefined>> {
    const { found, now } = await this.loadNow(scope, id);
    return { found: await this.#standingOf(id, scope, found), now };
  }

  async #standingOf(
    id: string,
    scope: string,
    first: OpenRecord | undefined,
  ): Promise<OpenRecord | undefined> {
    let found = first;
    for (let hops = 0; hops < limits.successorsMax; hops += 1) {
      const next = found?.record.state === "consumed" ? found.record.replacedBy : undefined;
      if (next === undefined || found === undefined) return found;
      const successor = await this.load(scope, next);
      if (successor?.record.replaces !== found.record.id) {
        throw new ApprovalError("record-tampered", `the approval ${id} has no successor ${next}`, {
          approvalId: id,
        });
      }
      found = successor;
    }
    return found;
  }

  /**
   * Commits, and asks again under the same attempt id while the answer is lost (APR-26).
   *
   * @throws ApprovalError `commit-unknown` where it stays lost, `store-unavailable`
   */
  async commit(attemptId: string, writes: readonly Write[]): Promise<KnownOutcome> {
    let cause: unknown;
    for (let asked = 0; asked <= limits.unknownRepeatsMax; asked += 1) {
      const outcome = await this.store.commit(attemptId, writes);
      if (outcome.status !== "unknown") return outcome;
      cause = outcome.cause;
    }
    throw new ApprovalError("commit-unknown", `no answer to the commit of attempt ${attemptId}`, {
      cause,
    });
  }

  /** The request of a record, arguments and all. */
  requestOf(record: ApprovalRecord): ApprovalRequest {
    const { facts, id, requestedAt, proposed } = record;
    return new ApprovalRequest(
      { ...facts, id, requestedAt, argumentsDigest: proposed.digest },
      {
        arguments: this.codec.read(proposed, facts.tool),
        context: this.codec.readContext(record.context),
      },
    );
  }

  /** A decision as plain data. Of a record that stands for an edit, the edit is part of it (APR-16). */
  decisionOf(record: ApprovalRecord, standing: Standing): DecisionRecord {
    const { approved, by, at, note, forRun, reason } = standing;
    const runs = standing.edited?.effective ?? (record.replaces && record.proposed);
    const edited =
      approved && runs ? { arguments: this.codec.read(runs, record.facts.tool) } : undefined;
    return decisionRecord({ approved, by, note, edited, forRun, reason }, at);
  }

  /** What an expired record that nobody swept counts as (APR-13). */
  expiredDecision(record: PendingRecord, at: number): DecisionRecord {
    return this.decisionOf(record, denialOf(record, "expired", "expired", at));
  }
}

/** @throws ApprovalError `id-invalid` */
function checkedPlace(scope: string, id: string): void {
  checkedId(scope, "scope"); // APR-05: nothing stands for "all"
  checkedId(id, "approval id");
}

/** Names one call for the records: the same run, tool, argument key and call id is one record (APR-12, APR-17). */
export function requestKeyOf(call: {
  readonly runId: string;
  readonly tool: string;
  readonly argumentKey: string;
  readonly callId: string;
}): string {
  return digest(["request", call.runId, call.tool, call.argumentKey, call.callId]);
}

/** Names what a denial for the rest of a run covers: the same tool with the same arguments (APR-18). */
export function denialKeyOf(call: {
  readonly runId: string;
  readonly tool: string;
  readonly argumentKey: string;
}): string {
  return digest(["denial", call.runId, call.tool, call.argumentKey]);
}
