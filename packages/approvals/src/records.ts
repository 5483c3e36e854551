import { processKeyring, type Keyring } from "@holdpoint/seal";

import { checkAudit, type AuditReport } from "./audit-check.ts";
import { systemIds, type Ids } from "./clock.ts";
import type { Write } from "./commit.ts";
import { decideRecord, sweepExpired, type DecideHow, type DecideResult } from "./deciding.ts";
import type { EditPort } from "./edits.ts";
import { ApprovalError } from "./errors.ts";
import { limits } from "./limits.ts";
import { listRecords, type ApprovalList, type ListQuery } from "./listing.ts";
import type {
  ApprovalRecords,
  ConcludeHow,
  RecordState,
  SettleHow,
  SettlePlan,
  WithdrawHow,
} from "./port.ts";
import { RecordAccess } from "./record-access.ts";
import { plainSealer, RecordCodec, type ArgumentSealer } from "./record-codec.ts";
import { ApprovalView } from "./record-view.ts";
import { planConclude, planSettle, planWithdraw, readState } from "./settling.ts";
import type { ApprovalStore } from "./store.ts";
import {
  currentCursor,
  readChanges,
  watchChanges,
  type ApprovalChanges,
  type ApprovalEvent,
  type ChangesQuery,
} from "./watching.ts";

export interface RecordOptions {
  /** Seals the records. Required where the store outlives the process; else a random key of this process serves (APR-28). */
  readonly keyring?: Keyring;
  /** Default: the platform's randomness. */
  readonly ids?: Ids;
  /** Checks edited arguments; without it they are refused (`edits-not-checkable`). */
  readonly edits?: EditPort;
  /** For arguments that hold registered classes or values of codecs. */
  readonly sealer?: ArgumentSealer;
  /** The schema that a tool's arguments are read back with, where they hold registered classes. */
  readonly schema?: (tool: string) => unknown;
}

/** What this package's own port reads of the records it was made with; not for anybody else. */
export let accessOf: (records: SealedRecords) => RecordAccess;

/** Records in a store, sealed: the one way to read and change them. */
export class SealedRecords implements ApprovalRecords {
  // Private, so that printing whatever holds the records prints no store and no key.
  readonly #access: RecordAccess;

  static {
    accessOf = (records) => records.#access;
  }

  /** @throws ApprovalError `key-required` */
  constructor(store: ApprovalStore, options: RecordOptions = {}) {
    const { ids = systemIds, edits, sealer = plainSealer, schema = () => undefined } = options;
    const keyring = keyringFor(store, options.keyring);
    const codec = new RecordCodec({ keyring, sealer, schema });
    this.#access = new RecordAccess({ store, codec, ids, edits });
  }

  get store(): ApprovalStore {
    return this.#access.store;
  }

  read(scope: string, id: string): Promise<RecordState | undefined> {
    return readState(this.#access, scope, id);
  }

  settle(how: SettleHow): Promise<SettlePlan> {
    return planSettle(this.#access, how);
  }

  withdraw(how: WithdrawHow): Promise<readonly Write[]> {
    return planWithdraw(this.#access, how);
  }

  conclude(how: ConcludeHow): Promise<readonly Write[]> {
    return planConclude(this.#access, how);
  }

  /**
   * Records what a person says, at once, and spends nothing.
   *
   * @throws ApprovalAlreadyDecided naming what stands; ApprovalError `approval-expired`, `approval-not-found`,
   *   `arguments-differ`, `actor-…`, `edits-…`, `record-tampered`, `commit-unknown`, `store-unavailable`
   */
  decide(how: DecideHow): Promise<DecideResult> {
    return decideRecord(this.#access, how);
  }

  /** Ends records of a scope that expired undecided, at most `limit` (default a page); answers their ids. */
  sweep(scope: string, limit: number = limits.pageDefault): Promise<readonly string[]> {
    return sweepExpired(this.#access, scope, limit);
  }

  /** One record for a person to read. @throws ApprovalError `record-tampered`, `id-invalid`, `store-unavailable` */
  async show(scope: string, id: string): Promise<ApprovalView | undefined> {
    const { found, now } = await this.#access.loadNow(scope, id);
    return found && new ApprovalView(this.#access, found, now);
  }

  /** How often the call of this record asked while it stood (APR-17). Counted beside the record, unsealed. */
  async asked(scope: string, id: string): Promise<number> {
    const opened = await this.#access.load(scope, id);
    if (opened === undefined) return 0;
    const row = await this.store.find(scope, opened.record.requestKey);
    return row?.values["id"] === id ? Number(row.values["asked"]) : 0;
  }

  /** A page of records. @throws ApprovalError `filter-invalid`, `cursor-invalid`, `id-invalid`, `store-unavailable` */
  list(scope: string, query: ListQuery = {}): Promise<ApprovalList> {
    return listRecords(this.#access, scope, query);
  }

  /** Checks the audit trail of a record, and names the first entry that does not fit (APR-22). */
  verifyAudit(scope: string, id: string): Promise<AuditReport> {
    return checkAudit(this.#access, scope, id);
  }

  /** What happened in a scope past a cursor. @throws ApprovalError `cursor-invalid`, `id-invalid`, `store-unavailable` */
  changes(scope: string, query: ChangesQuery = {}): Promise<ApprovalChanges> {
    return readChanges(this.#access, scope, query);
  }

  /** A cursor at the newest change of a scope. */
  cursor(scope: string): Promise<string> {
    return currentCursor(this.#access, scope);
  }

  /** What happens in a scope, as it happens, from a cursor on (absent: from the beginning), until `signal` aborts. */
  watch(
    scope: string,
    how: { readonly after?: string; readonly signal: AbortSignal },
  ): AsyncIterable<ApprovalEvent> {
    return watchChanges(this.#access, scope, how);
  }
}

function keyringFor(store: ApprovalStore, keyring: Keyring | undefined): Keyring {
  if (keyring !== undefined && !(store.durable && keyring.ephemeral)) return keyring;
  if (!store.durable) return processKeyring();
  throw new ApprovalError(
    "key-required",
    "the store outlives this process, so the keyring has to: pass one made of a key that you keep",
  );
}
