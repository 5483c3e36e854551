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
} from "@holdpoint/seal";
import { Executor } from "@holdpoint/tools";

import type { Workflow } from "../definition/define.ts";
import { Definitions } from "../definition/versions.ts";
import { WorkflowError } from "../errors.ts";
import { RunAccess, type FenceOf } from "../registry/access.ts";
import { FaultBook } from "./fault-book.ts";
import { Lanes } from "./lanes.ts";
import type { Parts, WorkflowStore } from "./parts.ts";

/** What workflows are made of. */
export interface WorkflowsOptions<D extends readonly Workflow[]> {
  readonly store: WorkflowStore;
  readonly definitions: D;
  /** Seals everything. Required where a store outlives the process; else a random key of this process serves. */
  readonly keyring?: Keyring;
  /** The tenant-like text that every run, record and event carries (default `default`). */
  readonly scope?: string;
  /** The session that runs started here belong to; default: none. */
  readonly session?: string;
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
  /** The ownership under which a run's rows are written; default: none, one process works on them. */
  readonly fence?: FenceOf;
  /** How flows run: visits side by side, budgets, strictness. */
  readonly runs?: Pick<FlowRunnerOptions, "concurrency" | "roundsMax" | "visitsMax" | "strict">;
}

const silent: Logger = { warn: () => {}, error: () => {} };

/** Options with every default in its place. @throws WorkflowError `definition-invalid`, `key-required`, `option-invalid` */
export function resolveParts(options: WorkflowsOptions<readonly Workflow[]>): Parts {
  const { store, clock = systemClock, ids = systemIds, scope = "default", session } = options;
  const { models = [], codecs = [], logger = silent, onEvent, edits, runs = {} } = options;
  if (!isId(scope)) throw new WorkflowError("option-invalid", "a scope is an id");
  if (session !== undefined && !isId(session)) {
    throw new WorkflowError("option-invalid", "a session is an id");
  }
  const keyring = keyringFor(store, options.keyring);
  const sealer = createSealer({ models, codecs });
  const approvals = new DeferredApproval(store.approvals, {
    keyring,
    ids,
    sealer,
    ...(edits !== undefined && { edits }),
  });
  const executor = new Executor({ approvals, clock, ids, sealer });
  const shared = { approvals, executor, keyring, models, codecs, scope, clock, ids, logger };
  return {
    definitions: new Definitions(options.definitions),
    access: new RunAccess({
      registry: store.runs,
      keyring,
      scope,
      ids,
      fence: options.fence ?? (() => undefined),
    }),
    log: store.log,
    approvals,
    lanes: new Lanes(),
    clock,
    newId: () => ids.id(),
    sealer,
    logger,
    session,
    faults: new FaultBook(logger),
    runner: ({ log, alongside }) =>
      new FlowRunner({
        ...shared,
        ...runs,
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
