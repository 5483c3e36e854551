import type { Clock } from "@holdpoint/approvals";

import { machineClock } from "./clock.ts";
import { PostgresStoreError } from "./errors.ts";
import { PostgresHome, type HomeSettings } from "./home.ts";
import { limits } from "./limits.ts";
import { checkedSchema, prepareSchema } from "./opening.ts";
import type { PostgresPool } from "./pool.ts";

/** Settings of a store; all are optional. */
export interface PostgresOptions {
  /**
   * The schema that the store's tables are in, and nothing else is (`holdpoint`); made where it is not there. Lower case
   * letters, digits and `_`, 48 characters at most.
   */
  readonly schema?: string;
  /**
   * Whether connections go through a pooler that gives each transaction another one, as PgBouncer does in transaction mode
   * (false). Then nothing is prepared by name, and nobody listens: changes of other processes are noticed by looking.
   */
  readonly behindPooler?: boolean;
  /** How long a statement may take, locks included, before it is `store-unavailable`, milliseconds (15,000). */
  readonly statementMs?: number;
  /**
   * SQL for the store's time, a bigint of milliseconds since 1970, for tests; the server's own clock otherwise. It is part of
   * statements as it stands here: a constant of your program, never a value from outside.
   */
  readonly nowSql?: string;
  /** What waits are timed by, for tests (default: the machine's); expiry and leases never are. */
  readonly timers?: Pick<Clock, "monotonic" | "timer">;
}

const serverNow = "floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint";

// What stands in one schema of one pool commits together, whoever asked for it first.
const homes = new WeakMap<PostgresPool, Map<string, Promise<PostgresHome>>>();

/** The home of a schema on a pool of the caller's: one, however many ports ask for it. */
export async function homeOn(
  pool: PostgresPool,
  options: PostgresOptions = {},
): Promise<PostgresHome> {
  const settings = settingsOf(pool, options);
  const { schema } = settings;
  let ofPool = homes.get(pool);
  if (ofPool === undefined) homes.set(pool, (ofPool = new Map()));
  let opening = ofPool.get(schema);
  // Nothing is awaited between looking and setting: two that ask together get one.
  if (opening === undefined) {
    opening = prepareSchema(pool, settings).then(() => new PostgresHome(pool, settings));
    ofPool.set(schema, opening);
  }
  const forget = (): void => {
    if (ofPool.get(schema) === opening) ofPool.delete(schema);
  };
  let home: PostgresHome;
  try {
    home = await opening;
  } catch (error) {
    forget();
    throw error;
  }
  if (home.closed) {
    forget();
    return homeOn(pool, options);
  }
  if (options.nowSql !== undefined && options.nowSql !== home.settings.now) {
    const message = "ports on one schema have one clock, and this one has another";
    throw new PostgresStoreError("option-invalid", message);
  }
  return home;
}

/** The home of a schema on a pool that is its own, and ends with it. */
export async function homeOfOwn(
  pool: PostgresPool,
  options: PostgresOptions,
  end: () => Promise<void>,
): Promise<PostgresHome> {
  try {
    const settings = { ...settingsOf(pool, options), end };
    await prepareSchema(pool, settings);
    return new PostgresHome(pool, settings);
  } catch (error) {
    await end();
    throw error;
  }
}

function settingsOf(pool: PostgresPool, options: PostgresOptions): HomeSettings {
  const { schema = "holdpoint", behindPooler = false, nowSql = serverNow } = options;
  const { statementMs = limits.statementMsDefault, timers = machineClock } = options;
  if (!Number.isSafeInteger(statementMs) || statementMs < 1 || statementMs > 2 ** 31 - 1) {
    throw new PostgresStoreError("option-invalid", "statementMs is a whole number of 1 or more");
  }
  return {
    schema: checkedSchema(schema),
    now: nowSql,
    named: !behindPooler,
    // One who listens keeps a connection: a pool of one would have none left.
    listens: !behindPooler && pool.options?.max !== 1,
    statementMs,
    timers,
    end: undefined,
  };
}
