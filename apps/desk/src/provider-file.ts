import { statSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";

import { DeskError } from "./failure.ts";

/** Says in the file's header whose it is: "desk" as four bytes. */
const applicationId = 0x6465736b;

const tables = `
  create table asks (
    id integer primary key, operation text not null, key text not null, request text not null
  ) strict;
  create index asks_by_key on asks (operation, key);
  create table claims (
    key text not null, request text not null, order_id text not null, sku text not null,
    quantity integer not null check (quantity > 0), released integer not null default 0,
    primary key (key, sku)
  ) strict;
  create index claims_by_line on claims (order_id, sku);
  create table exceptions (key text primary key, request text not null, days integer not null) strict;
  create table payments (
    id integer primary key, key text not null unique, request text not null,
    currency text not null, minor integer not null check (minor > 0)
  ) strict;
  create table letters (
    id integer primary key, key text not null unique, request text not null,
    kind text not null, recipient text not null, body text not null
  ) strict;
`;

/**
 * Opens the provider's file, and makes it where there is none.
 * @throws DeskError `database-foreign` for a file of another program, or of none; `database-unusable`
 */
export function openProviderFile(file: string): DatabaseSync {
  let database: DatabaseSync | undefined;
  try {
    assertLength(file);
    database = new DatabaseSync(file, { timeout: 5000 });
    prepare(database, file);
    return database;
  } catch (error) {
    database?.close();
    if (error instanceof DeskError) throw error;
    if (resultCodeOf(error) === notADatabase) {
      throw new DeskError("database-foreign", `${file} is no database of the provider`, error);
    }
    throw new DeskError(
      "database-unusable",
      `the provider's database ${file} can't be used`,
      error,
    );
  }
}

const smallestPageBytes = 512;

/** SQLite takes a text that is shorter than its smallest page for an empty file, and writes over it. */
function assertLength(file: string): void {
  const size = statSync(file, { throwIfNoEntry: false })?.size ?? 0;
  if (size === 0 || size >= smallestPageBytes) return;
  throw new DeskError("database-foreign", `${file} is no database of the provider`);
}

function prepare(database: DatabaseSync, file: string): void {
  if (!isMade(database, file)) make(database, file);
  database.exec("pragma synchronous = full");
  // A file that can only be read is refused here, and not at the first payment.
  database.exec(`begin immediate; pragma application_id = ${applicationId}; rollback`);
}

/** In one statement, so that it sees what another process makes as a whole or not at all. */
function isMade(database: DatabaseSync, file: string): boolean {
  const found = database
    .prepare(
      `select (select application_id from pragma_application_id) as application,
        (select count(*) from sqlite_schema) as objects`,
    )
    .get();
  if (found?.["application"] === applicationId) return true;
  if (found?.["application"] === 0 && found["objects"] === 0) return false;
  throw new DeskError("database-foreign", `${file} is the database of another program`);
}

/** Of two processes that find no tables one makes them, and the other finds them here. */
function make(database: DatabaseSync, file: string): void {
  enterWal(database);
  database.exec("begin immediate");
  try {
    if (!isMade(database, file)) {
      database.exec(`${tables} pragma application_id = ${applicationId}`);
    }
    database.exec("commit");
  } catch (error) {
    if (database.isTransaction) database.exec("rollback");
    throw error;
  }
}

const triesMax = 20;

/** Entering WAL needs the file alone, and does not wait for that as statements do. */
function enterWal(database: DatabaseSync): void {
  for (let tries = 1; ; tries += 1) {
    try {
      database.exec("pragma journal_mode = wal");
      return;
    } catch (error) {
      if (resultCodeOf(error) !== busy || tries >= triesMax) throw error;
      database.exec("begin immediate; rollback"); // waits for whoever holds it
    }
  }
}

const busy = 5;
const notADatabase = 26;

/** SQLite's primary result code. */
function resultCodeOf(error: unknown): number | undefined {
  if (!(error instanceof Error) || !("errcode" in error)) return undefined;
  return Number(error.errcode) & 0xff;
}
