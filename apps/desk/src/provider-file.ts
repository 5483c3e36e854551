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
 * @throws DeskError `database-foreign` for a file of another program, or of none
 */
export function openProviderFile(file: string): DatabaseSync {
  let database: DatabaseSync | undefined;
  try {
    database = new DatabaseSync(file, { timeout: 5000 });
    prepare(database, file);
    return database;
  } catch (error) {
    database?.close();
    if (error instanceof DeskError) throw error;
    throw new DeskError("database-foreign", `${file} is no database of the provider`, error);
  }
}

function prepare(database: DatabaseSync, file: string): void {
  const found = Number(database.prepare("pragma application_id").get()?.["application_id"]);
  if (found === applicationId) {
    database.exec("pragma synchronous = full");
    return;
  }
  const names = database.prepare("select name from sqlite_schema limit 1").all();
  if (found !== 0 || names.length > 0) {
    throw new DeskError("database-foreign", `${file} is the database of another program`);
  }
  database.exec("pragma journal_mode = wal; pragma synchronous = full");
  database.exec(`begin immediate; ${tables} pragma application_id = ${applicationId}; commit`);
}
