/**
 * The desk: the flow over its store. Everything it knows is in the store; a new process with the same folder and key is the
 * same desk.
 */
import { DeferredApproval, type ApprovalView, type SealedRecords } from "@holdpoint/approvals";
import {
  FlowRunner,
  isFlowError,
  type FlowErrorCode,
  type RunEvent,
  type RunResult,
} from "@holdpoint/flow";
import { keyringOf } from "@holdpoint/seal";
import { openSqlite, type SqliteStore } from "@holdpoint/sqlite";
import { editsOf } from "@holdpoint/tools";

import { DeskError } from "./failure.ts";
import { refundFlow, type RefundFlow } from "./flow.ts";
import type { Folder } from "./folder.ts";
import type { Provider } from "./provider.ts";
import type { RefundRequest } from "./requests.ts";
import { deskTools, type DeskTools } from "./tools.ts";

/** The tenant that all runs and records of this desk belong to. */
export const scope = "default";

/** Where a request's run stands. */
export type Standing =
  | RunResult<RefundFlow>
  | { readonly status: "set-aside"; readonly code: FlowErrorCode; readonly why: string };

export class Desk {
  readonly tools: DeskTools;
  readonly flow: RefundFlow;
  readonly records: SealedRecords;
  readonly #store: SqliteStore;
  readonly #runner: FlowRunner;

  private constructor(store: SqliteStore, provider: Provider, key: Uint8Array) {
    const keyring = keyringOf(key);
    this.tools = deskTools(provider);
    this.flow = refundFlow(this.tools);
    const approvals = new DeferredApproval(store.approvals, {
      keyring,
      edits: editsOf([this.tools.payBack]),
    });
    this.records = approvals.records;
    this.#store = store;
    this.#runner = new FlowRunner({ approvals, keyring, log: store.log });
  }

  /** @throws DeskError `store-unusable`, `key-wrong` */
  static async open(folder: Folder, provider: Provider, key: Uint8Array): Promise<Desk> {
    let store: SqliteStore;
    try {
      store = openSqlite(folder.store);
    } catch (error) {
      throw new DeskError("store-unusable", "the desk's store can't be used", error);
    }
    try {
      const desk = new Desk(store, provider, key);
      await desk.#checkKey(folder);
      return desk;
    } catch (error) {
      store.close();
      throw error;
    }
  }

  /** A wrong key would set every run aside, one by one; one record after another that does not open says it at once. */
  async #checkKey({ store, keyFile }: Folder): Promise<void> {
    const { items, broken } = await this.records.list(scope, { limit: 20 });
    if (items.length > 0 || broken.length === 0) return;
    throw new DeskError(
      "key-wrong",
      `the store ${store} was sealed under another key than the one given by DESK_KEY or ${keyFile}; nothing was changed`,
    );
  }
  /**
   * Brings a request's run as far as it goes without a person: starts it, or goes on where it stood, after a crash too. A
   * decision that people took meanwhile is carried out.
   */
  carryOn(request: RefundRequest): Promise<Standing> {
    return setAside(async () => {
      const standing = await this.#startOrAdopt(request);
      return standing.status === "paused" ? this.#runner.resume(this.flow, request.id) : standing;
    });
  }

  async #startOrAdopt(request: RefundRequest): Promise<RunResult<RefundFlow>> {
    try {
      return await this.#runner.run(this.flow, { request }, { runId: request.id });
    } catch (error) {
      if (!isFlowError(error, "run-exists")) throw error;
      return this.#runner.adopt(this.flow, request.id);
    }
  }

  /** Where a run stands. One that is paused or has ended does not go on because it was looked at. */
  look(id: string): Promise<Standing> {
    return setAside(() => this.#runner.adopt(this.flow, id));
  }

  /** Everything that happened to a run, verified. @throws FlowError `checkpoint-tampered` naming the run */
  history(id: string): Promise<readonly RunEvent[]> {
    return this.#runner.history(this.flow, id);
  }

  /** Every record of the desk, or those in one state. @throws DeskError where one can't be trusted */
  async approvals(state?: "pending" | "decided" | "consumed"): Promise<readonly ApprovalView[]> {
    const views: ApprovalView[] = [];
    let cursor: string | undefined;
    do {
      const page = await this.records.list(scope, {
        ...(state !== undefined && { filter: { state } }),
        ...(cursor !== undefined && { cursor }),
        limit: 500,
      });
      const [broken] = page.broken;
      if (broken !== undefined) throw broken.error;
      views.push(...page.items);
      ({ cursor } = page);
    } while (cursor !== undefined);
    return views;
  }

  close(): void {
    this.#store.close();
  }
}

/** One run that can't go on holds up none of the others: it is reported, and stays as it is. */
async function setAside(work: () => Promise<RunResult<RefundFlow>>): Promise<Standing> {
  try {
    return await work();
  } catch (error) {
    if (!isFlowError(error)) throw error;
    return { status: "set-aside", code: error.code, why: error.message };
  }
}
