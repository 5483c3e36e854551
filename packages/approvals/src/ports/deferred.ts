/**
 * The port that files a record and answers `pending`, until somebody decided (APR-11, APR-12).
 *
 * F1 `prepare` runs before anything is filed, each time, and its failure passes (FLOW-26): where a filing lost its race, whoever
 *    asked may be gone by the next look.
 * F2 What is decided is handed back unspent; spending is the runner's commit.
 * F3 A race for the same call ends with one record, which all callers are answered from.
 * F4 A denial for the rest of the run answers what is not decided yet; a record that waits for the same is ended (APR-18).
 */

import { isApprovalError, StoreUnavailable } from "../errors.ts";
import {
  askedWrite,
  filingWrites,
  findDenial,
  findPointer,
  findRecord,
  type Denial,
  type Found,
  type Pointer,
} from "../filing.ts";
import { hideIn } from "../hidden-arguments.ts";
import { limits } from "../limits.ts";
import type { ApprovalPort, PortAnswer, RecordedArguments, RequestHow } from "../port.ts";
import type { RecordAccess } from "../record-access.ts";
import type { OpenRecord } from "../record-codec.ts";
import { isExpired, withdrawn, type ApprovalRecord, type PendingRecord } from "../record.ts";
import { accessOf, SealedRecords, type RecordOptions } from "../records.ts";
import { assertReadable, type ApprovalRequest } from "../request.ts";
import type { ApprovalStore } from "../store.ts";

/** Approvals by people who answer later, kept in a store. */
export class DeferredApproval implements ApprovalPort {
  readonly records: SealedRecords;
  readonly #access: RecordAccess;

  /** @throws ApprovalError `key-required` for a store that outlives the process without a key that does (APR-28) */
  constructor(store: ApprovalStore, options: RecordOptions = {}) {
    this.records = new SealedRecords(store, options);
    this.#access = accessOf(this.records);
  }

  /**
   * @throws StoreUnavailable; what `prepare` throws; ApprovalError `request-redacted`, `arguments-differ` for a request that
   *   can't be filed, and `record-tampered` for a record that can't be trusted
   */
  async request(request: ApprovalRequest, how: RequestHow): Promise<PortAnswer> {
    assertReadable(request); // APR-04
    for (let races = 0; races < limits.racesMax; races += 1) {
      const found = await findRecord(this.#access, request);
      const standing = found.opened?.record.state === "consumed" ? undefined : found.opened;
      if (standing?.record.state !== "decided") {
        const denial = await findDenial(this.#access, request, found);
        if (denial !== undefined) {
          const { record } = standing ?? {};
          const waits = record?.state === "pending" ? { ...standing!, record } : undefined;
          if (waits !== undefined && !(await this.#end(waits, denial, found.now))) continue;
          return this.#covered(denial);
        }
      }
      if (standing !== undefined) return this.#answer(request, found, standing);
      if (how.signal.aborted) return { status: "pending" }; // nobody waits: nobody is asked
      await how.prepare(); // F1
      if (await this.#file(request, found)) return { status: "pending", approvalId: request.id };
    }
    throw new StoreUnavailable(`the record of call ${request.callId} moves without an end`);
  }

  #covered(denial: Denial): PortAnswer {
    const decision = this.#access.decisionOf(denial, denial.decision);
    return { status: "decided", decision: { ...decision, coveredBy: denial.id } };
  }

  /**
   * Ends a record that waits for what was denied for the run; false where somebody moved it meanwhile (F4): decided, it
   * answers by itself, and it may be the very record whose denial was found.
   */
  async #end(opened: OpenRecord<PendingRecord>, denial: Denial, at: number): Promise<boolean> {
    const { codec, ids } = this.#access;
    const attemptId = ids.id();
    const note = `denied for the run by ${denial.id}`;
    const how = { reason: "cancelled", attemptId, at, note } as const;
    const writes = codec.writes(opened, withdrawn(opened.record, how), { attemptId });
    return (await this.#commit(attemptId, writes)).status === "done";
  }

  /** Files a record; false where somebody else did (F3). */
  async #file(request: ApprovalRequest, found: Found): Promise<boolean> {
    const access = this.#access;
    const attemptId = access.ids.id();
    const writes = filingWrites(access, request, attemptId, found);
    return (await this.#commit(attemptId, writes)).status === "done";
  }

  async #answer(request: ApprovalRequest, found: Found, standing: OpenRecord): Promise<PortAnswer> {
    const access = this.#access;
    const { record } = standing;
    const base = { approvalId: record.id, ...this.#recorded(request, record) };
    if (record.state === "decided") {
      return { status: "decided", decision: access.decisionOf(record, record.decision), ...base }; // F2
    }
    const { now } = found;
    if (record.state === "pending" && isExpired(record, now)) {
      return { status: "decided", decision: access.expiredDecision(record, now), ...base };
    }
    await this.#count(request, found.pointer, record.id);
    return { status: "pending", ...base };
  }

  /** One more asking; a count lost to another caller's is tried again on what stands then. */
  async #count(request: ApprovalRequest, first: Pointer, id: string): Promise<void> {
    const access = this.#access;
    let pointer = first;
    for (let races = 0; races < limits.racesMax; races += 1) {
      const outcome = await this.#commit(access.ids.id(), [askedWrite(request, pointer, id)]);
      if (outcome.status === "done") return;
      pointer = await findPointer(access, request);
      if (pointer.id !== id) return; // another record stands by now, with a count of its own
    }
  }

  #recorded(
    request: ApprovalRequest,
    record: ApprovalRecord,
  ): { readonly recorded?: RecordedArguments } {
    const { calledDigest, proposed } = record;
    if (calledDigest === request.argumentsDigest) return {};
    const { codec } = this.#access;
    return {
      recorded: hideIn(
        { argumentsDigest: proposed.digest },
        codec.read(proposed, record.facts.tool),
      ),
    };
  }

  async #commit(...how: Parameters<RecordAccess["commit"]>) {
    try {
      return await this.#access.commit(...how);
    } catch (cause) {
      // Filing and counting are repeatable: to the caller a lost answer is a store that is away (APR-10).
      if (!isApprovalError(cause, "commit-unknown")) throw cause;
      throw new StoreUnavailable(cause.message, cause);
    }
  }
}
