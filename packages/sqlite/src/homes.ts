import type { Clock } from "@holdpoint/approvals";

import { machineClock } from "./clock.ts";
import { SqliteStoreError } from "./errors.ts";
import type { SqliteHandle } from "./handle.ts";
import { SqliteHome } from "./home.ts";
import { limits } from "./limits.ts";
import { openFile, prepareFile } from "./opening.ts";

/** Settings of a store; all are optional. */
export interface SqliteOptions {
  /**
   * What the store's `now` answers, and expiry and leases are judged by (default: the machine's). Locks and changes of other
   * processes are waited for by its `timer` and `monotonic`, so these have to run.
   */
  readonly clock?: Clock;
  /** How long a call waits for a lock of another process before it is `store-unavailable`, milliseconds (15,000). */
  readonly lockWaitMs?: number;
}

// What stands on one handle commits together, whoever asked for it first.
const homes = new WeakMap<SqliteHandle, SqliteHome>();

/** The home of a file at a path (made where there is none), or of an open handle of the caller's. */
export function homeOf(file: string | SqliteHandle, options: SqliteOptions = {}): SqliteHome {
  if (typeof file !== "string") return homeOn(file, options);
  if (file === "") throw new SqliteStoreError("option-invalid", "the path of the file is empty");
  const settings = settingsOf(options);
  return new SqliteHome(openFile(file), { ...settings, ownsHandle: true });
}

/** The home of a handle: one, however many ports ask for it. */
export function homeOn(handle: SqliteHandle, options: SqliteOptions = {}): SqliteHome {
  const standing = homes.get(handle);
  if (standing !== undefined && !standing.closed) {
    if (options.clock !== undefined && options.clock !== standing.clock) {
      const message = "ports on one handle have one clock, and this handle has another";
      throw new SqliteStoreError("option-invalid", message);
    }
    return standing;
  }
  const settings = settingsOf(options);
  prepareFile(handle);
  const home = new SqliteHome(handle, { ...settings, ownsHandle: false });
  homes.set(handle, home);
  return home;
}

function settingsOf({
  clock = machineClock,
  lockWaitMs = limits.lockWaitMsDefault,
}: SqliteOptions) {
  if (!Number.isSafeInteger(lockWaitMs) || lockWaitMs < 0) {
    throw new SqliteStoreError("option-invalid", "lockWaitMs is a whole number of 0 or more");
  }
  return { clock, lockWaitMs };
}
