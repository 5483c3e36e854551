/**
 * The one way from code to SQL: cached statements and checked binds.
 *
 * B1 Values reach SQL as binds alone; texts of statements are made of constants of this package (STORE-08).
 * B2 A bind is a well-formed text, a safe integer or null. The driver would bind NULL for an object or a name left out, write
 *    U+FFFD for half a surrogate pair, and throw at reading an integer past 2^53, long after it was written (STORE-03).
 */

import type { Cell } from "@holdpoint/approvals";

import { SqliteStoreError } from "./errors.ts";
import type { Binds, SqliteHandle, SqliteStatement } from "./handle.ts";

/** A row as the driver gives it: columns by name, without a prototype. */
export type RawRow = Readonly<Record<string, unknown>>;

interface Prepared {
  readonly statement: SqliteStatement;
  /** What each place takes, in their order: the driver of Node 22 fills only places without a name or a number by their order. */
  readonly names: readonly string[];
}

/** The statements of one handle. */
export class PreparedStatements {
  readonly #handle: SqliteHandle;
  readonly #prepared = new Map<string, Prepared>();

  constructor(handle: SqliteHandle) {
    this.#handle = handle;
  }

  /** Runs a statement and answers how many rows it changed. */
  change(sql: string, binds: Binds = {}): number {
    const { statement, names } = this.#prepare(sql);
    return Number(statement.run(...checked(sql, names, binds)).changes);
  }

  /** The first row. */
  row(sql: string, binds: Binds = {}): RawRow | undefined {
    const { statement, names } = this.#prepare(sql);
    return statement.get(...checked(sql, names, binds)) as RawRow | undefined;
  }

  rows(sql: string, binds: Binds = {}): readonly RawRow[] {
    const { statement, names } = this.#prepare(sql);
    return statement.all(...checked(sql, names, binds)) as readonly RawRow[];
  }

  #prepare(sql: string): Prepared {
    let prepared = this.#prepared.get(sql);
    if (prepared === undefined) {
      const names: string[] = [];
      const text = sql.replace(/:([a-zA-Z]+)/g, (_, name: string) => {
        names.push(name);
        return "?";
      });
      prepared = { statement: this.#handle.prepare(text), names };
      this.#prepared.set(sql, prepared);
    }
    return prepared;
  }
}

// B2; a cell for each name, and nothing else.
function checked(sql: string, names: readonly string[], binds: Binds): Cell[] {
  return names.map((name) => {
    const cell = binds[name];
    if (isCell(cell)) return cell;
    throw new SqliteStoreError("write-invalid", `:${name} can't be bound in: ${firstLine(sql)}`);
  });
}

/** Whether SQLite and the driver give a value back as it was. */
export function isCell(value: unknown): value is Cell {
  if (typeof value === "string") return value.isWellFormed() && !value.includes("\0");
  return value === null || (Number.isSafeInteger(value) && !Object.is(value, -0));
}

function firstLine(sql: string): string {
  return sql.trim().replace(/\n[^]*/, "");
}
