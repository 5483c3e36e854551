/**
 * A SQLite handle through which a test strikes: between any two of its calls something happens. A wrapper, so nothing of it
 * is in what ships, and it knows no store.
 */

/** A value that a statement is given. */
type Bind = string | number | null;

/** A prepared statement, as `StatementSync` of `node:sqlite` is one. */
export interface DriverStatement {
  run(...binds: Bind[]): { readonly changes: number | bigint };
  get(...binds: Bind[]): unknown;
  all(...binds: Bind[]): unknown[];
}

/** An open database, as `DatabaseSync` of `node:sqlite` is one. */
export interface DriverHandle {
  exec(sql: string): unknown;
  prepare(sql: string): DriverStatement;
  readonly isTransaction: boolean;
  close(): void;
}

/**
 * What happens right before and right after a call of the driver: an `exec`, or a prepared statement that runs. It may throw
 * what the driver would, or end the process.
 */
export interface Strike {
  /** `binds`: what the statement is given, in the order of its places. */
  before(sql: string, binds: readonly Bind[]): void;
  after(sql: string): void;
}

/** A handle that does what `handle` does, with `strike` around each call. */
export function struckHandle(handle: DriverHandle, strike: Strike): DriverHandle {
  function through<T>(sql: string, binds: readonly Bind[], work: () => T): T {
    strike.before(sql, binds);
    const result = work();
    strike.after(sql);
    return result;
  }
  return {
    exec: (sql) => through(sql, [], () => handle.exec(sql)),
    prepare(sql) {
      const statement = handle.prepare(sql);
      return {
        run: (...binds) => through(sql, binds, () => statement.run(...binds)),
        get: (...binds) => through(sql, binds, () => statement.get(...binds)),
        all: (...binds) => through(sql, binds, () => statement.all(...binds)),
      };
    },
    get isTransaction() {
      return handle.isTransaction;
    },
    close: () => handle.close(),
  };
}
