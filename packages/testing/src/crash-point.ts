/**
 * Where a process ends (TEST-03): around the n-th commit of a SQLite handle, or around the n-th call of its driver.
 *
 * D1 Counting begins when the strike is made, and goes over every handle that it is given to: two files are one order of
 *    commits.
 * D2 A commit is a transaction that is begun, whatever becomes of it: one that is refused counts too.
 */

import type { Strike } from "./struck-handle.ts";

/**
 * `before`: nothing of it was asked of the driver. `inside`: every statement of it was done, and `COMMIT` was not. `after`: it
 * stands, and nobody was told.
 */
export type CrashMoment = "before" | "inside" | "after";

export type CrashPoint =
  | { readonly commit: number; readonly moment: CrashMoment }
  | { readonly call: number; readonly moment: "before" | "after" };

export interface CrashStrike extends Strike {
  /** Commits begun so far. */
  readonly commits: number;
  /** Calls of the driver so far. */
  readonly calls: number;
}

/**
 * A strike that calls `crash` at one point. `crash` ends the process, or throws what nobody catches.
 *
 * @example
 * const strike = crashAt({ commit: 7, moment: "inside" }, () => process.kill(process.pid, "SIGKILL"));
 * const store = openSqlite(struckHandle(new DatabaseSync("runs.db"), strike));
 */
export function crashAt(point: CrashPoint, crash: () => unknown): CrashStrike {
  let commits = 0;
  let calls = 0;
  const isAt = (moment: CrashMoment): boolean =>
    "commit" in point && point.commit === commits && point.moment === moment;
  const isCall = (moment: "before" | "after"): boolean =>
    "call" in point && point.call === calls && point.moment === moment;
  return {
    before(sql) {
      calls += 1;
      if (sql === "BEGIN IMMEDIATE") {
        commits += 1;
        if (isAt("before")) crash();
      }
      if (sql === "COMMIT" && isAt("inside")) crash();
      if (isCall("before")) crash();
    },
    after(sql) {
      if (sql === "COMMIT" && isAt("after")) crash();
      if (isCall("after")) crash();
    },
    get commits() {
      return commits;
    },
    get calls() {
      return calls;
    },
  };
}
