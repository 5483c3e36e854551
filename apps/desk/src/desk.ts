/**
 * The desk: the refund workflow over its store. Everything it knows is in the store; a new process with the same folder and
 * key is the same desk.
 */
import { SealedRecords, type ApprovalView } from "@holdpoint/approvals";
import { keyringOf } from "@holdpoint/seal";
import type { SqliteStore } from "@holdpoint/sqlite";
import { editsOf } from "@holdpoint/tools";
import { isTerminal, Workflows, type Activity, type RunView } from "@holdpoint/workflows";

import { DeskError } from "./failure.ts";
import { refundFlow } from "./flow.ts";
import type { Folder } from "./folder.ts";
import type { Provider } from "./provider.ts";
import type { RefundRequest } from "./requests.ts";
import { isTakenOver, restOf, setAside, whyNot, type Rest, type Standing } from "./standing.ts";
import { openStoreFile } from "./store-file.ts";
import { deskTools, type DeskTools } from "./tools.ts";
import { refundWorkflow, type RefundWorkflow } from "./workflow.ts";

/** The tenant that all runs and records of this desk belong to. */
export const scope = "refund-desk";

/** Something that waits for a person, and the request that it is about. */
export interface Waiting {
  readonly request: string;
  readonly approval: ApprovalView;
}

const pageMax = 500;

export class Desk {
  readonly tools: DeskTools;
  /** The approvals' records, for those who decide. */
  readonly records: SealedRecords;
  readonly #store: SqliteStore;
  readonly #definition: RefundWorkflow;
  readonly #workflows: Workflows<readonly [RefundWorkflow]>;

  private constructor(store: SqliteStore, provider: Provider, key: Uint8Array) {
    const keyring = keyringOf(key);
    this.#store = store;
    this.tools = deskTools(provider);
    this.#definition = refundWorkflow(refundFlow(this.tools));
    const edits = editsOf([this.tools.payBack]);
    const definitions = [this.#definition] as const;
    this.#workflows = new Workflows({ store, definitions, keyring, scope, edits });
    this.records = new SealedRecords(store.approvals, { keyring, edits });
  }

  /** @throws DeskError `store-unusable`, `key-wrong` */
  static async open(folder: Folder, provider: Provider, key: Uint8Array): Promise<Desk> {
    const store = openStoreFile(folder.store);
    try {
      const desk = new Desk(store, provider, key);
      await assertOpens(desk.#workflows, folder);
      return desk;
    } catch (error) {
      store.close();
      throw error;
    }
  }

  /**
   * Brings a request as far as it goes without a person: starts its run, or goes on where that stood, wherever a process that
   * was killed left it. A decision that people took meanwhile is carried out. The request's id is the start key, so it is one
   * run however often it comes.
   */
  async carryOn(request: RefundRequest): Promise<Rest> {
    let begun: RunView | undefined;
    try {
      begun = await this.#workflows.start("refund", request, { key: request.id });
      return await this.#broughtOn(begun);
    } catch (error) {
      if (isTakenOver(error)) return this.#restElsewhere(begun);
      const why = whyNot(error);
      if (why === undefined) throw error;
      return setAside(why);
    }
  }

  async #broughtOn(begun: RunView): Promise<Rest> {
    const { runId, status } = begun;
    if (isTerminal(status)) return restOf(begun);
    if (status === "pending") {
      // Just put on record, and on its way here; or left so by a process that died before its first step.
      const now = await this.#workflows.settled(runId);
      if (now.status !== "pending") return restOf(now);
    }
    const adoption = await this.#workflows.adopt(runId);
    if (adoption.did === "left") return setAside(`run ${runId} is of another version of the desk`);
    return restOf(await this.#workflows.settled(runId));
  }

  /** Where a run stands that another process took over. */
  async #restElsewhere(begun: RunView | undefined): Promise<Rest> {
    const now = begun && (await this.#workflows.get(begun.runId));
    return now === undefined ? { status: "elsewhere" } : restOf(now);
  }

  /** Where every request stands, by its id. */
  async standings(): Promise<ReadonlyMap<string, Standing>> {
    const standings = new Map<string, Standing>();
    for (const run of await this.#runs()) {
      standings.set(requestOf(run), await this.#standing(run));
    }
    return standings;
  }

  /** What waits for a person, the oldest first. */
  async waiting(): Promise<readonly Waiting[]> {
    const approvals = await this.approvals("pending"); // before the runs: each of these has one by then
    const runs = await this.#runs();
    const requests = new Map(runs.map((run) => [run.runId, requestOf(run)]));
    return approvals.map((approval) => ({
      request: requests.get(approval.runId) ?? "",
      approval,
    }));
  }

  /** The run of each request, by the request's id. */
  async runIds(): Promise<ReadonlyMap<string, string>> {
    return new Map((await this.#runs()).map((run) => [requestOf(run), run.runId]));
  }

  /** What happened to a run, verified entry by entry. @throws FlowError `checkpoint-tampered` naming the run */
  history(runId: string): Promise<readonly Activity[]> {
    return this.#workflows.history(runId, { limit: pageMax });
  }

  /** Every approval's record, or those in one state. @throws ApprovalError `record-tampered` */
  async approvals(state?: ApprovalView["state"]): Promise<readonly ApprovalView[]> {
    const filter = state === undefined ? {} : { filter: { state } };
    const views: ApprovalView[] = [];
    let from: { cursor?: string } | undefined = {};
    while (from !== undefined) {
      const page = await this.records.list(scope, { ...filter, ...from, limit: pageMax });
      const [broken] = page.broken;
      if (broken !== undefined) throw broken.error;
      views.push(...page.items);
      from = page.cursor === undefined ? undefined : { cursor: page.cursor };
    }
    return views;
  }

  close(): void {
    this.#store.close();
  }

  async #runs(): Promise<readonly RunView[]> {
    const runs: RunView[] = [];
    let from: { cursor?: string } | undefined = {};
    while (from !== undefined) {
      const page = await this.#workflows.list({ order: "oldest", limit: pageMax, ...from });
      const [broken] = page.broken;
      if (broken !== undefined) throw broken.error;
      runs.push(...page.items);
      from = page.cursor === undefined ? undefined : { cursor: page.cursor };
    }
    return runs;
  }

  async #standing(run: RunView): Promise<Standing> {
    const rest = restOf(run);
    if (rest.status !== "completed") return rest;
    return {
      status: "completed",
      outcome: await this.#workflows.output(this.#definition, run.runId),
    };
  }
}

function requestOf({ startKey }: RunView): string {
  return startKey ?? "";
}

/** Looks whether a key opens what a folder's store holds, and changes nothing. @throws DeskError `store-unusable`, `key-wrong` */
export async function assertKeyOpens(folder: Folder, key: Uint8Array): Promise<void> {
  const store = openStoreFile(folder.store);
  try {
    const keyring = keyringOf(key);
    await assertOpens(new Workflows({ store, definitions: [], keyring, scope }), folder);
  } finally {
    store.close();
  }
}

/** A wrong key would set every run aside, one by one; where none of a page opens, that says it at once. */
async function assertOpens(
  workflows: Pick<Workflows, "list">,
  { store, keyFile }: Folder,
): Promise<void> {
  const { items, broken } = await workflows.list({ order: "oldest", limit: 20 });
  if (items.length > 0 || broken.length === 0) return;
  throw new DeskError(
    "key-wrong",
    `the store ${store} was sealed under another key than the one given by DESK_KEY or ${keyFile}; nothing was changed`,
  );
}
