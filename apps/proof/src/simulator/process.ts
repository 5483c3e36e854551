/**
 * One process from its start to its death: what works on runs there, over ports that the scheduler owns. Nothing of it is
 * left when it dies but what the stores applied.
 */
import { DeferredApproval, type Ids } from "@holdpoint/approvals";
import type { Logger, RunLog, RunNotice } from "@holdpoint/flow";
import type { CallContext } from "@holdpoint/tools";

import type { Desk, DeskParts } from "./desk.ts";
import { supervisorDesk } from "./desk-of-supervisors.ts";
import { facadeDesk } from "./desk-of-workflows.ts";
import { runnerDesk } from "./desk-of-runners.ts";
import { flowsDoing, type Flows } from "./flows/flows.ts";
import type { Args } from "./flows/tools.ts";
import { keyring } from "./keyring.ts";
import { wired, type Caller, type Wires } from "./ports.ts";
import type { Mode } from "./profile.ts";
import { never } from "./schedule.ts";
import type { Stores } from "./stores.ts";
import type { VirtualTime } from "./virtual-time.ts";

/** What a process gets from its world. */
export interface Surroundings {
  readonly mode: Mode;
  readonly stores: Stores;
  readonly time: VirtualTime;
  readonly ids: Ids;
  readonly wires: Wires;
  /** A tool's code is entered. */
  act(process: Process, tool: string, args: Args, context: CallContext): Promise<{ ref: string }>;
  /** An event was told, or an operator was. */
  heard(process: Process, notice: RunNotice): void;
  logged(process: Process, message: string, facts: Readonly<Record<string, unknown>>): void;
  died(process: Process): void;
}

const desks: Readonly<Record<Mode, (parts: DeskParts) => Desk>> = {
  runner: runnerDesk,
  facade: facadeDesk,
  supervisor: supervisorDesk,
};

export class Process implements Caller {
  readonly name: string;
  readonly slot: Slot;
  readonly desk: Desk;
  alive = true;
  /** Stands still: nothing of it happens, and what it sent is not answered. */
  stalled = false;
  /** How far its wall clock is off. */
  wallMs = 0;
  /** How far it has read each run's log. */
  readonly readTo = new Map<string, number>();
  readonly #around: Surroundings;

  constructor(name: string, slot: Slot, around: Surroundings) {
    this.name = name;
    this.slot = slot;
    this.#around = around;
    const { stores, wires, time, ids, mode } = around;
    slot.process = this;
    const store = {
      approvals: wired(stores.approvals, "approvals", this, wires),
      log: wired(this.#noted(stores.log), "log", this, wires),
      runs: wired(stores.runs, "runs", this, wires),
      leases: wired(stores.leases, "leases", this, wires),
    };
    const logger: Logger = {
      warn: (message, facts) => around.logged(this, message, facts),
      error: (message, facts) => around.logged(this, message, facts),
    };
    const shared = {
      ...slot.flows,
      store,
      keyring,
      ids,
      logger,
      clock: time.clockOf(this, () => this.wallMs),
      approvals: new DeferredApproval(store.approvals, { keyring, ids, edits: slot.flows.edits }),
      onEvent: (notice: RunNotice) => around.heard(this, notice),
    };
    this.desk = desks[mode](shared);
  }

  act(tool: string, args: Args, context: CallContext): Promise<{ ref: string }> {
    return this.alive ? this.#around.act(this, tool, args, context) : never();
  }

  die(): void {
    if (!this.alive) return;
    this.alive = false;
    this.#around.wires.schedule.bury(this);
    this.#around.died(this);
  }

  /** The log, with a note of how far a run was read at the moment of reading. */
  #noted(log: RunLog): RunLog {
    return {
      ...log,
      read: async (scope, runId, after, limit) => {
        const rows = await log.read(scope, runId, after, limit);
        this.readTo.set(runId, after + rows.length);
        return rows;
      },
    };
  }
}

/** A place for one process at a time. Flows and tools are built once for it: they are code, which outlives processes. */
export class Slot {
  readonly flows: Flows;
  process: Process | undefined;

  constructor() {
    this.flows = flowsDoing((tool, args, context) =>
      this.process === undefined ? never() : this.process.act(tool, args, context),
    );
  }
}
