import { DatabaseSync } from "node:sqlite";

import type { Cell } from "@holdpoint/approvals";

import type { SqliteHandle, SqliteStatement } from "../src/index.ts";

/** A call of the driver: an `exec`, or a prepared statement that runs. */
export interface DriverCall {
  readonly sql: string;
  /** Counted from 1 since the last `reset`. */
  readonly number: number;
}

/** What happens at a call: instead of it, or after it. */
export type Fault = (
  call: DriverCall,
) => { readonly when: "instead" | "after"; readonly error: Error } | undefined;

export interface WatchedHandle extends SqliteHandle {
  /** Every call since the last `reset`, in order. */
  readonly calls: readonly DriverCall[];
  /** Forgets the calls and takes another fault. */
  reset(fault?: Fault): void;
  /** Closes the real handle. */
  end(): void;
}

/** A real handle that tells what is done with it, and fails where a test says so. */
export function watchedHandle(path: string): WatchedHandle {
  const real = new DatabaseSync(path);
  let calls: DriverCall[] = [];
  let fault: Fault = () => undefined;
  function through<T>(sql: string, work: () => T): T {
    const call = { sql, number: calls.length + 1 };
    calls.push(call);
    const fails = fault(call);
    if (fails?.when === "instead") throw fails.error;
    const result = work();
    if (fails !== undefined) throw fails.error;
    return result;
  }
  return {
    get calls() {
      return calls;
    },
    reset(next = () => undefined) {
      calls = [];
      fault = next;
    },
    end: () => real.close(),
    exec: (sql) => through(sql, () => real.exec(sql)),
    prepare(sql): SqliteStatement {
      const statement = real.prepare(sql);
      return {
        run: (...binds: Cell[]) => through(sql, () => statement.run(...binds)),
        get: (...binds: Cell[]) => through(sql, () => statement.get(...binds)),
        all: (...binds: Cell[]) => through(sql, () => statement.all(...binds)),
      };
    },
    get isTransaction() {
      return real.isTransaction;
    },
    close: () => real.close(),
  };
}

/** An error as the driver makes it. */
export function driverError(errcode: number, message: string): Error {
  return Object.assign(new Error(message), { code: "ERR_SQLITE_ERROR", errcode, errstr: message });
}
