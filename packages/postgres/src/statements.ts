/**
 * The one way from code to SQL: texts of constants, and checked binds.
 *
 * B1 Values reach SQL as binds alone. Texts are made of constants of this package, the checked name of the schema (`{runs}` is
 *    the table of that name in it) and the store's expression for the time (`{now}`) (STORE-08).
 * B2 A bind is a well-formed text, a safe integer or null. The driver would turn an object into JSON, a date into local time,
 *    and half a surrogate pair into U+FFFD; Postgres refuses U+0000.
 * B3 Large integers come back as texts: they are read by `integerOf` alone.
 */

import { createHash } from "node:crypto";

import type { Cell } from "@holdpoint/approvals";

import { PostgresStoreError } from "./errors.ts";
import type { PostgresQuery, PostgresValue } from "./pool.ts";

/** What a statement is given: each of its names, and nothing else. */
export type Binds = Readonly<Record<string, Cell | readonly string[]>>;

export interface StatementSettings {
  readonly schema: string;
  /** SQL for the time, a bigint of milliseconds since 1970. */
  readonly now: string;
  /** Whether a connection keeps what was prepared on it: not behind a pooler in transaction mode. */
  readonly named: boolean;
}

interface Prepared {
  readonly name: string;
  readonly text: string;
  readonly names: readonly string[];
}

/** The statements of one schema. */
export class Statements {
  readonly #settings: StatementSettings;
  readonly #prepared = new Map<string, Prepared>();

  constructor(settings: StatementSettings) {
    this.#settings = settings;
  }

  /** The statement as the driver takes it. @throws PostgresStoreError `write-invalid` */
  query(sql: string, binds: Binds = {}): PostgresQuery {
    const { name, text, names } = this.#prepare(sql);
    const values = names.map((each) => checked(sql, each, binds[each]));
    return this.#settings.named ? { name, text, values } : { text, values };
  }

  #prepare(sql: string): Prepared {
    let prepared = this.#prepared.get(sql);
    if (prepared === undefined) {
      const names: string[] = [];
      const { schema, now } = this.#settings;
      const text = sql
        .replace(/(?<!:):([a-zA-Z][a-zA-Z0-9]*)/g, (_, name: string) => {
          if (!names.includes(name)) names.push(name);
          return `$${names.indexOf(name) + 1}`;
        })
        .replace(/\{(\w+)\}/g, (_, name: string) => (name === "now" ? now : `"${schema}".${name}`));
      // Named for its text, so that two stores on one pool never mean two by one name.
      const digest = createHash("sha256").update(text).digest("hex").slice(0, 32);
      prepared = { name: `holdpoint_${digest}`, text, names };
      this.#prepared.set(sql, prepared);
    }
    return prepared;
  }
}

// B2
function checked(
  sql: string,
  name: string,
  value: Cell | readonly string[] | undefined,
): PostgresValue {
  if (isCell(value)) return value;
  if (Array.isArray(value) && value.every((each) => typeof each === "string" && isCell(each))) {
    return value;
  }
  throw new PostgresStoreError("write-invalid", `:${name} can't be bound in: ${firstLine(sql)}`);
}

/** Whether Postgres and the driver give a value back as it was. */
export function isCell(value: unknown): value is Cell {
  if (typeof value === "string") return value.isWellFormed() && !value.includes("\0");
  return value === null || (Number.isSafeInteger(value) && !Object.is(value, -0));
}

function firstLine(sql: string): string {
  return sql.trim().replace(/\n[^]*/, "");
}
