import type { Strike } from "./struck-handle.ts";

/** What a driver says when the disk or another process is in the way. `lost-answer`: it was done, and the driver says `io`. */
export type DriverFaultKind = "busy" | "io" | "full" | "lost-answer";

/** SQLite's result code and words for each. */
const errors: Readonly<Record<DriverFaultKind, readonly [code: number, words: string]>> = {
  busy: [5, "database is locked"],
  io: [10, "disk I/O error"],
  full: [13, "database or disk is full"],
  "lost-answer": [10, "disk I/O error"],
};

export interface DriverFaultStrike extends Strike {
  /** Calls of the driver so far, the failing one among them. */
  readonly calls: number;
  /** Whether the fault came to pass. */
  readonly struck: boolean;
}

/** A strike that fails one call of the driver, the n-th, counted over every handle that it is given to (R076, R080). */
export function failAt(call: number, kind: DriverFaultKind): DriverFaultStrike {
  let calls = 0;
  let struck = false;
  const strike = (): never => {
    struck = true;
    const [errcode, errstr] = errors[kind];
    throw Object.assign(new Error(errstr), { code: "ERR_SQLITE_ERROR", errcode, errstr });
  };
  return {
    before() {
      calls += 1;
      if (calls === call && kind !== "lost-answer") strike();
    },
    after() {
      if (calls === call && kind === "lost-answer") strike();
    },
    get calls() {
      return calls;
    },
    get struck() {
      return struck;
    },
  };
}
