import {
  DeferredApproval,
  isId,
  systemClock,
  systemIds,
  type Clock,
  type EditPort,
  type Ids,
} from "@holdpoint/approvals";
import { FlowRunner, type FlowRunnerOptions, type Listener, type Logger } from "@holdpoint/flow";
import {
  createSealer,
  processKeyring,
  type Codec,
  type Keyring,
  type Model,
  type Sealer,
} from "@holdpoint/seal";
import { Executor } from "@holdpoint/tools";

import type { Workflow } from "../definition/define.ts";
import { Definitions } from "../definition/versions.ts";
import { WorkflowError } from "../errors.ts";
import { DeliveryCodec } from "../outbox/delivery.ts";
import { RunAccess } from "../registry/access.ts";
import { RunCodec } from "../registry/record-codec.ts";
import { FaultBook } from "./fault-book.ts";
import { Filings } from "./filings.ts";
import { Lanes } from "./lanes.ts";
import type { Parts, WorkflowStore } from "./parts.ts";
import { Slots } from "./slots.ts";

/** What running workflows takes, whoever supervises it. */
export interface CommonOptions<D extends readonly Workflow[]> {
  readonly definitions: D;
  /** Seals everything. Required where a store outlives the process; else a random key of this process serves. */
  readonly keyring?: Keyring;
  /** The tenant-like text that every run, record and event carries (default `default`). */
  readonly scope?: string;
  /** Checks edited arguments: `editsOf(tools)`. Without it edits are refused. */
  readonly edits?: EditPort;
  /** Classes and custom values that inputs, states and results may hold. */
  readonly models?: readonly Model[];
  readonly codecs?: readonly Codec[];
  /** Told of every event of every run that is worked on here, once it is durable. */
  readonly onEvent?: Listener;
  readonly logger?: Logger;
  readonly clock?: Clock;
  readonly ids?: Ids;
  /** How flows run: visits side by side, budgets, strictness. */
  readonly runs?: Pick<FlowRunnerOptions, "concurrency" | "roundsMax" | "visitsMax" | "strict">;
}

/** What workflows are made of. */
export interface WorkflowsOptions<D extends readonly Workflow[]> extends CommonOptions<D> {
  readonly store: WorkflowStore;
  /** The session that runs started here belong to; default: none. */
  readonly session?: string;
}

const silent: Logger = { warn: () => {}, error: () => {} };

/** What all parts of one process have in common, with every default in its place. */
export interface Base {
  readonly definitions: Definitions;
  readonly keyring: Keyring;
  readonly scope: string;
  readonly edits: EditPort | undefined;
  readonly models: readonly Model[];
  readonly codecs: readonly Codec[];
  readonly sealer: Sealer;
  readonly records: RunCodec;
  /** Of all parts: what one of them began to file may land while another has the run. */
  readonly filings: Filings;
  readonly onEvent: Listener | undefined;
  readonly logger: Logger;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly runs: NonNullable<CommonOptions<readonly Workflow[]>["runs"]>;
}

/** @throws WorkflowError `definition-invalid`, `key-required`, `option-invalid` */
export function resolveBase(
  store: WorkflowStore,
  options: CommonOptions<readonly Workflow[]>,
): Base {
  const { clock = systemClock, ids = systemIds, scope = "default" } = options;
  const { models = [], codecs = [], logger = silent, onEvent, edits, runs = {} } = options;
  if (!isId(scope)) throw new WorkflowError("option-invalid", "a scope is an id");
  const keyring = keyringFor(store, options.keyring);
  return {
    definitions: new Definitions(options.definitions),
    keyring,
    records: new RunCodec(keyring),
    filings: new Filings(),
    sealer: createSealer({ models, codecs }),
    scope,
    edits,
    models,
    codecs,
    onEvent,
    logger,
    clock,
    ids,
    runs,
  };
}

/** Options with every default in its place. @throws as `resolveBase` */
export function resolveParts(options: WorkflowsOptions<readonly Workflow[]>): Parts {
  const { store, session } = options;
  if (session !== undefined && !isId(session)) {
    throw new WorkflowError("option-invalid", "a session is an id");
  }
  return partsOn(resolveBase(store, options), { store, session, slots: new Slots(Infinity) });
}

/** What works on runs over these stores. */
export function partsOn(
  base: Base,
  {
    store,
    session,
    slots,
    onFault,
    tells = false,
  }: {
    readonly store: WorkflowStore;
    readonly session: string | undefined;
    readonly slots: Slots;
    readonly onFault?: (runId: string) => void;
    /** Whether moves are put into an outbox, which is where the log is. */
    readonly tells?: boolean;
  },
): Parts {
  const { keyring, scope, clock, ids, logger, models, codecs, sealer, edits, onEvent } = base;
  const approvals = new DeferredApproval(store.approvals, {
    keyring,
    ids,
    sealer,
    ...(edits !== undefined && { edits }),
  });
  const port = base.filings.watched(approvals);
  const executor = new Executor({ approvals: port, clock, ids, sealer });
  const shared = { approvals: port, executor, keyring, models, codecs, scope, clock, ids, logger };
  return {
    definitions: base.definitions,
    access: new RunAccess({ registry: store.runs, keyring, codec: base.records, scope, ids }),
    log: store.log,
    approvals,
    filings: base.filings,
    lanes: new Lanes(),
    clock,
    newId: () => ids.id(),
    sealer,
    logger,
    session,
    faults: new FaultBook(logger, onFault),
    slots,
    deliveries: tells ? new DeliveryCodec(keyring) : undefined,
    runner: ({ log, alongside }) =>
      new FlowRunner({
        ...shared,
        ...base.runs,
        log,
        ...(onEvent !== undefined && { onEvent }),
        ...(alongside !== undefined && { alongside }),
      }),
  };
}

function keyringFor({ approvals, log, runs }: WorkflowStore, keyring?: Keyring): Keyring {
  const durable = approvals.durable || log.durable || runs.durable;
  if (keyring !== undefined && !(durable && keyring.ephemeral)) return keyring;
  if (!durable) return processKeyring();
  throw new WorkflowError(
    "key-required",
    "a store outlives this process, so the keyring has to: pass one made of a key that you keep",
  );
}
