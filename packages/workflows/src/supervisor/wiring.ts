import { isId } from "@holdpoint/approvals";

import type { Workflow } from "../definition/define.ts";
import { WorkflowError } from "../errors.ts";
import type { LeaseStore } from "../lease/store.ts";
import type { Lessee } from "../lease/tenure.ts";
import {
  leaseMsDefault,
  leaseMsMax,
  leaseMsMin,
  pollMsDefault,
  pollMsMax,
  pollMsMin,
  sessionsMax,
  workersDefault,
  workersMax,
} from "../limits.ts";
import { Courier, type NotifyPort } from "../outbox/courier.ts";
import type { OutboxStore } from "../outbox/store.ts";
import type { RunView } from "../registry/run-view.ts";
import { resolveBase, type Base, type CommonOptions } from "../run/options.ts";
import type { WorkflowStore } from "../run/parts.ts";
import { Slots } from "../run/slots.ts";
import { Turns } from "./turns.ts";

/**
 * Where everything of a supervisor's runs is kept. Log, registry and leases have one home: a fence is judged where the lease's
 * row is. Approvals may be elsewhere.
 */
export interface SupervisorStore extends WorkflowStore {
  readonly leases: LeaseStore;
  /** What is to be told; needed where `notify` is given. */
  readonly outbox?: OutboxStore;
}

/** Sessions by their names, up to so many at a time. */
export interface SessionsWanted {
  readonly match: (session: string) => boolean;
  readonly max: number;
}

/** What becomes of runs that nobody works on when a session is taken: all go on, none does, or those that are chosen. */
export type AdoptMode = "auto" | "manual" | ((run: RunView) => boolean);

/** What a supervisor is made of. */
export interface SupervisorOptions<D extends readonly Workflow[]> extends CommonOptions<D> {
  readonly store: SupervisorStore;
  /** The session that this process owns: one of both has to be given. */
  readonly session?: string;
  /** The sessions that it shares with others. Known are those that somebody held before. */
  readonly sessions?: SessionsWanted;
  /** Whether activating fails where a session is held elsewhere, instead of standing by for it. */
  readonly exclusive?: boolean;
  /** Default `auto`. */
  readonly adopt?: AdoptMode;
  /**
   * Told of each move of a run that somebody may wait for: that it waits, was answered, ran out of time, ended. At least once,
   * under a stable id, and again after a pause where it fails; no run waits for it.
   */
  readonly notify?: NotifyPort;
  /** Runs that execute at once, 1 to 256 (4). One that waits for a person is none of them. */
  readonly workers?: number;
  /** How long a session stays with an owner that died, milliseconds, 300 to 3,600,000 (30,000). */
  readonly leaseMs?: number;
  /** How often it looks round for sessions, times that ran out and runs to try again, milliseconds, 10 to 60,000 (5,000). */
  readonly pollMs?: number;
}

/** Options with every default in its place. */
export interface Wiring {
  readonly base: Base;
  readonly definitions: readonly Workflow[];
  readonly store: SupervisorStore;
  readonly lessee: Lessee;
  readonly slots: Slots;
  readonly turns: Turns;
  readonly courier: Courier | undefined;
  readonly wanted: SessionsWanted & { readonly only: string | undefined };
  readonly exclusive: boolean;
  readonly adopt: AdoptMode;
  readonly leaseMs: number;
  readonly pollMs: number;
}

/** @throws WorkflowError `definition-invalid`, `key-required`, `option-invalid` */
export function wire(options: SupervisorOptions<readonly Workflow[]>): Wiring {
  const { store, exclusive = false, adopt = "auto" } = options;
  const { home } = store.leases;
  if (store.log.home !== home || store.runs.home !== home) {
    throw invalid("the leases are kept where log and registry are: elsewhere they fence nothing");
  }
  const base = resolveBase(store, options);
  const leaseMs = whole("leaseMs", options.leaseMs ?? leaseMsDefault, leaseMsMin, leaseMsMax);
  const pollMs = whole("pollMs", options.pollMs ?? pollMsDefault, pollMsMin, pollMsMax);
  const workers = whole("workers", options.workers ?? workersDefault, 1, workersMax);
  const { scope, clock, ids } = base;
  const owner = ids.id();
  return {
    base,
    definitions: Object.freeze([...options.definitions]),
    store,
    lessee: { store: store.leases, scope, owner, clock, ids, leaseMs },
    slots: new Slots(workers),
    turns: new Turns(clock),
    courier: courierOf(base, options),
    wanted: wantedOf(options),
    exclusive,
    adopt,
    leaseMs,
    pollMs,
  };
}

function courierOf(
  base: Base,
  { store, notify }: SupervisorOptions<readonly Workflow[]>,
): Courier | undefined {
  if (notify === undefined) return undefined;
  if (store.outbox === undefined || store.outbox.home !== store.log.home) {
    throw invalid(
      "`notify` needs `store.outbox`, where the log is: what is told commits with the move",
    );
  }
  return new Courier(base, store.outbox, notify);
}

function wantedOf({ session, sessions }: SupervisorOptions<readonly Workflow[]>): Wiring["wanted"] {
  if ((session === undefined) === (sessions === undefined)) {
    throw invalid("a supervisor is given `session`, or `sessions`");
  }
  if (sessions !== undefined) {
    return {
      match: sessions.match,
      max: whole("max", sessions.max, 1, sessionsMax),
      only: undefined,
    };
  }
  if (!isId(session)) throw invalid("a session is an id");
  return { match: (name) => name === session, max: 1, only: session };
}

function whole(name: string, value: number, min: number, max: number): number {
  if (Number.isSafeInteger(value) && value >= min && value <= max) return value;
  throw invalid(`${name} is a whole number from ${min} to ${max}`);
}

function invalid(message: string): WorkflowError {
  return new WorkflowError("option-invalid", message);
}
