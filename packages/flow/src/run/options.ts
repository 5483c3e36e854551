import {
  systemClock,
  systemIds,
  type ApprovalPort,
  type Clock,
  type Ids,
  type Write,
} from "@holdpoint/approvals";
import {
  createSealer,
  keyringOf,
  processKeyring,
  type Codec,
  type Keyring,
  type Model,
} from "@holdpoint/seal";
import { Executor } from "@holdpoint/tools";

import { FlowError } from "../errors.ts";
import { concurrencyDefault, roundsMaxDefault, visitsMaxDefault } from "../limits.ts";
import { checkMigrations, type Migration } from "../graph/migration.ts";
import type { RunEvent, RunSettings } from "./event.ts";
import type { RunLog } from "./log.ts";
import type { Logger, Parts } from "./parts.ts";
import { platformRest, type Rest } from "./rest.ts";
import { Telling, type Listener } from "./telling.ts";

/** What a runner is made of; everything is optional. */
export interface FlowRunnerOptions {
  /** The way to a person, for gates and for tools that need one. */
  readonly approvals?: ApprovalPort;
  /** Runs the tools; by default one over `approvals`. One given here brings its port, or stands on the same one. */
  readonly executor?: Executor;
  /** Shorthand for a keyring of one key: 16 bytes or more. */
  readonly checkpointKey?: Uint8Array;
  /** Seals and opens checkpoints and logs. By default a random key of this process. */
  readonly keyring?: Keyring;
  /** With one, runs are durable. */
  readonly log?: RunLog;
  /** Ways by which runs of earlier graphs are carried over to the flows as they are now (FLOW-53). */
  readonly migrations?: readonly Migration[];
  /** Classes and custom values that states and results may hold. */
  readonly models?: readonly Model[];
  readonly codecs?: readonly Codec[];
  /** The tenant-like text that every run, record and event of this runner carries (default `default`). */
  readonly scope?: string;
  /** Visits of a round side by side, 1 or more. */
  readonly concurrency?: number;
  readonly roundsMax?: number;
  readonly visitsMax?: number;
  /** Whether a re-run that asks for other things than were recorded fails, instead of telling. */
  readonly strict?: boolean;
  /** Told of every event, in order, once it is as durable as it will get. */
  readonly onEvent?: Listener | readonly Listener[];
  readonly logger?: Logger;
  readonly clock?: Clock;
  readonly ids?: Ids;
  /** Calls back when the code that was just woken has come to rest; only platforms without a tick queue need another. */
  readonly rest?: Rest;
  /** Writes of the layer above that have to commit with an event. */
  readonly alongside?: (event: RunEvent, runId: string) => readonly Write[];
}

/** Options with every default in its place. */
export interface Resolved {
  readonly parts: Parts;
  readonly settings: Omit<RunSettings, "nodeVisits">;
  readonly scope: string;
}

const silent: Logger = { warn: () => {}, error: () => {} };

/** @throws FlowError `key-required` where a log outlives the process and the key would not */
export function resolveOptions(options: FlowRunnerOptions): Resolved {
  checkOptions(options, runnerOptions);
  const { migrations = [] } = options;
  checkMigrations(migrations);
  const { clock = systemClock, ids = systemIds, log, models = [], codecs = [] } = options;
  const keyring =
    options.keyring ??
    (options.checkpointKey === undefined ? processKeyring() : keyringOf(options.checkpointKey));
  if (log?.durable === true && keyring.ephemeral) {
    throw new FlowError(
      "key-required",
      "this log outlives the process, and the key would not: give the runner `keyring` or `checkpointKey`",
    );
  }
  const approvals = approvalsOf(options);
  const sealer = createSealer({ models, codecs });
  const { onEvent = [], logger = silent } = options;
  return {
    parts: {
      approvals,
      executor:
        options.executor ??
        new Executor({ ...(approvals !== undefined && { approvals }), clock, ids, sealer }),
      keyring,
      sealer,
      exact: models.length === 0 && codecs.length === 0,
      log,
      migrations: [...migrations],
      clock,
      ids,
      logger,
      rest: options.rest ?? platformRest,
      telling: new Telling(typeof onEvent === "function" ? [onEvent] : [...onEvent], logger),
      alongside: options.alongside,
    },
    settings: {
      concurrency: bound("concurrency", options.concurrency ?? concurrencyDefault),
      roundsMax: bound("roundsMax", options.roundsMax ?? roundsMaxDefault),
      visitsMax: bound("visitsMax", options.visitsMax ?? visitsMaxDefault),
      strict: options.strict ?? false,
    },
    scope: options.scope ?? "default",
  };
}

/** One port for gates and tools: what the executor asks is spent by the runner (FLOW-54). */
function approvalsOf({ approvals, executor }: FlowRunnerOptions): ApprovalPort | undefined {
  if (approvals === undefined || executor === undefined) return approvals ?? executor?.approvals;
  if (executor.approvals === approvals) return approvals;
  throw new FlowError(
    "flow-invalid",
    "the executor asks another approval port than the runner: give both the same one, or the executor alone",
    { option: "executor" },
  );
}

function bound(name: string, value: number): number {
  if (Number.isSafeInteger(value) && value >= 1) return value;
  throw new FlowError("flow-invalid", `${name} is a whole number of 1 or more`, { option: name });
}

/** A misspelt option would be a default in its place, and nobody would notice. @throws FlowError `input-invalid` */
export function checkOptions(options: object, known: readonly string[]): void {
  for (const name of Object.keys(options)) {
    if (known.includes(name)) continue;
    throw new FlowError(
      "input-invalid",
      `there is no option '${name}' here (${known.join(", ")})`,
      { option: name },
    );
  }
}

const runnerOptions: readonly (keyof FlowRunnerOptions)[] = [
  "approvals",
  "executor",
  "checkpointKey",
  "keyring",
  "log",
  "migrations",
  "models",
  "codecs",
  "scope",
  "concurrency",
  "roundsMax",
  "visitsMax",
  "strict",
  "onEvent",
  "logger",
  "clock",
  "ids",
  "rest",
  "alongside",
];
