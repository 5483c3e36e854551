import { writeSync } from "node:fs";
import { join } from "node:path";

import { DeferredApproval } from "@holdpoint/approvals";
import { FlowRunner } from "@holdpoint/flow";
import { createKeyring } from "@holdpoint/seal";
import { nodeMac } from "@holdpoint/seal/node";
import { editsOf } from "@holdpoint/tools";
import { Supervisor, Workflows, type Delivery } from "@holdpoint/workflows";

import { claims } from "./claim.ts";
import { Dying, type Told } from "./dying.ts";
import { stamps } from "./effects.ts";
import { errands } from "./errand.ts";
import { Ledger, type Effect } from "./ledger.ts";
import { parcels } from "./parcel.ts";
import { openedAt, type Place } from "./places.ts";
import { overheard } from "./write-points.ts";

/** Says a line to whoever started this process, at once. */
export function tell(line: Told): void {
  writeSync(1, `${JSON.stringify(line)}\n`);
}

const keyring = createKeyring({
  current: { id: "k1", key: new Uint8Array(32).fill(7) },
  mac: nodeMac,
});

/** Which flow is carried out. */
export type Scenario = "claim" | "parcel" | "errand";
export const scenarios: readonly Scenario[] = ["errand", "parcel", "claim"]; // the shortest first

export interface WorldHow extends Place {
  /** By a supervisor, which owns its session, tells of moves and looks round by itself; or by hand. */
  readonly supervised: boolean;
  /** How far the time is ahead of the machine's: each process begins where the lease of the one before has lapsed. */
  readonly aheadMs: number;
}

/** Longer than any process of a proof lives. */
export const leaseMs = 3_600_000;

/** The stores of a place, and what runs over them, in a process that may die at a point or meet a fault. */
export async function worldIn(how: WorldHow, say: (line: Told) => void = tell) {
  const dying = new Dying(say);
  const stores = await openedAt(how, dying, how.aheadMs);
  const store = {
    approvals: overheard(stores.approvals, dying, keyring),
    log: overheard(stores.log, dying, keyring),
    runs: overheard(stores.runs, dying, keyring),
    leases: overheard(stores.leases, dying, keyring),
    outbox: overheard(stores.outbox, dying, keyring),
  };
  const ledger = new Ledger<Effect>(join(how.folder, "effects.jsonl"));
  const told = new Ledger<Delivery>(join(how.folder, "told.jsonl"));
  const atWork = new AtWork();
  const parts = partsOf(dying, ledger, atWork);
  const { definitions, edits, codecs } = parts;
  const approvals = new DeferredApproval(store.approvals, { keyring, edits });
  const common = { store, definitions, keyring, codecs, edits };
  const notify = (delivery: Delivery): void => dying.effect("notify", () => told.add(delivery));
  const session = "desk";
  const supervisor = how.supervised
    ? new Supervisor({ ...common, session, notify, leaseMs, pollMs: 50 })
    : undefined;
  const byHand = how.supervised ? undefined : new Workflows({ ...common, session });
  return {
    ...parts,
    dying,
    ledger,
    told: how.supervised ? told : undefined,
    atWork,
    stores,
    records: approvals.records,
    /** What takes calls. */
    desk: supervisor ?? byHand!,
    runner: new FlowRunner({ log: store.log, approvals, keyring, codecs }),
    /** Takes up what earlier processes left, or what became due. */
    takeUp: async (): Promise<void> => {
      await supervisor?.activate();
      await byHand?.adoptAll();
    },
    /** Looks at what became due; a supervisor does so by itself. */
    look: async (): Promise<void> => void (await byHand?.adoptAll()),
    close: async (): Promise<void> => {
      await supervisor?.shutdown();
      await stores.close();
    },
  };
}

export type World = Awaited<ReturnType<typeof worldIn>>;

function partsOf(dying: Dying, ledger: Ledger<Effect>, atWork: AtWork) {
  const moments: Parameters<typeof claims>[0] = {
    effect: (tool, args, { idempotencyKey: key, runId }) =>
      dying.effect(tool, () => ledger.add({ tool, key, runId, args: JSON.stringify(args) })),
    sealing: () => dying.sealing(),
  };
  const claim = claims(moments);
  const parcel = parcels(moments);
  const errand = errands(moments, (runId) => atWork.begun(runId));
  const { ship, onceTools } = claim;
  return {
    claim: claim.definition,
    parcel: parcel.definition,
    flows: { claim: claim.flow, parcel: parcel.flow, errand: errand.flow },
    ship,
    onceTools,
    definitions: [claim.definition, parcel.definition, errand.definition] as const,
    codecs: [stamps(moments.sealing)],
    edits: editsOf([ship]),
  };
}

/** Runs whose errand has begun in this process. */
class AtWork {
  readonly #begun = new Set<string>();
  readonly #waiting = new Map<string, () => void>();

  begun(runId: string): void {
    this.#begun.add(runId);
    this.#waiting.get(runId)?.();
  }

  /** Resolves once the run's errand has begun. */
  on(runId: string): Promise<void> {
    return new Promise((resolve) => {
      if (this.#begun.has(runId)) resolve();
      else this.#waiting.set(runId, resolve);
    });
  }
}
