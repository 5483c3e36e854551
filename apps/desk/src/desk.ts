/**
 * The desk: the refund workflow over its store. Everything it knows is in the store; a new process with the same folder and
 * key is the same desk. One process at a time works, by a lease; any number may look and decide.
 */
import { setTimeout } from "node:timers/promises";

import { SealedRecords, type ApprovalView } from "@holdpoint/approvals";
import { keyringOf } from "@holdpoint/seal";
import type { SqliteStore } from "@holdpoint/sqlite";
import { editsOf } from "@holdpoint/tools";
import { Supervisor, Workflows, type Activity, type RunView } from "@holdpoint/workflows";

import { DeskError } from "./failure.ts";
import { refundFlow } from "./flow.ts";
import type { Folder } from "./folder.ts";
import type { Provider } from "./provider.ts";
import type { RefundRequest } from "./requests.ts";
import { isElsewhere, restOf, setAside, whyNot, type Rest, type Standing } from "./standing.ts";
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
/** How long the work of a process that was killed waits for the next one: short, since somebody looks on. */
const leaseMs = 2_000;
const pollMs = 100;

export class Desk {
  readonly tools: DeskTools;
  /** The approvals' records, for those who decide. */
  readonly records: SealedRecords;
  readonly #store: SqliteStore;
  readonly #definition: RefundWorkflow;
  readonly #supervisor: Supervisor<readonly [RefundWorkflow]>;

  private constructor(store: SqliteStore, provider: Provider, key: Uint8Array) {
    const keyring = keyringOf(key);
    this.#store = store;
    this.tools = deskTools(provider);
    this.#definition = refundWorkflow(refundFlow(this.tools));
    const edits = editsOf([this.tools.payBack]);
    const definitions = [this.#definition] as const;
    // One request after the other: who came first is served first.
    const how = { session: scope, workers: 1, leaseMs, pollMs };
    this.#supervisor = new Supervisor({ store, definitions, keyring, scope, edits, ...how });
    this.records = new SealedRecords(store.approvals, { keyring, edits });
  }

  /** @throws DeskError `store-unusable`, `key-wrong` */
  static async open(folder: Folder, provider: Provider, key: Uint8Array): Promise<Desk> {
    const store = openStoreFile(folder.store);
    try {
      const desk = new Desk(store, provider, key);
      await assertOpens(desk.#supervisor, folder);
      return desk;
    } catch (error) {
      store.close();
      throw error;
    }
  }

  /**
   * Begins to work: takes the desk over from a process that died, and goes on with what that left. Where another one is at
   * work it stands by, and answers false.
   */
  async begin(): Promise<boolean> {
    await this.#supervisor.activate();
    // A lease of nobody has lapsed by then, and was looked at.
    for (let waitedMs = 0; waitedMs < leaseMs + 5 * pollMs; waitedMs += pollMs) {
      if (this.#supervisor.ready().ready) return true;
      await setTimeout(pollMs);
    }
    return this.#supervisor.ready().ready;
  }

  /**
   * Brings a request as far as it goes without a person: starts its run, or goes on where that stood, wherever a process that
   * was killed left it. A decision that people took meanwhile is carried out. The request's id is the start key, so it is one
   * run however often it comes.
   */
  async carryOn(request: RefundRequest): Promise<Rest> {
    try {
      const { runId, version } = await this.#supervisor.start("refund", request, {
        key: request.id,
      });
      if (version !== this.#definition.version) {
        return setAside(`run ${runId} is of another version of the desk`);
      }
      return restOf(await this.#supervisor.settled(runId));
    } catch (error) {
      if (isElsewhere(error)) return { status: "elsewhere" };
      const why = whyNot(error);
      if (why === undefined) throw error;
      return setAside(why);
    }
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
    return this.#supervisor.history(runId, { limit: pageMax });
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

  /** Gives the desk back, where it was taken. */
  async close(): Promise<void> {
    await this.#supervisor.shutdown();
    this.#store.close();
  }

  async #runs(): Promise<readonly RunView[]> {
    const runs: RunView[] = [];
    let from: { cursor?: string } | undefined = {};
    while (from !== undefined) {
      const page = await this.#supervisor.list({ order: "oldest", limit: pageMax, ...from });
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
      outcome: await this.#supervisor.output(this.#definition, run.runId),
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
