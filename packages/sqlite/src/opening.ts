/**
 * From a path or a handle to a file that is known to be ours, up to date, and safe to write.
 *
 * O1 A file is changed only once it is known to be empty or one of this package (STORE-07).
 * O2 What a connection has to be set to is set at every opening: it is not kept in the file (STORE-03).
 * O3 Migrations run one after another in one transaction, begun IMMEDIATE, and the version is read again inside it: of two
 *    processes that open a new file together one makes the schema and the other finds it (STORE-01).
 */

import { accessSync, constants, statSync } from "node:fs";
import { dirname } from "node:path";
import { DatabaseSync } from "node:sqlite";

import { SqliteStoreError } from "./errors.ts";
import type { SqliteHandle } from "./handle.ts";
import { limits } from "./limits.ts";
import { applicationId, migrations, schemaVersion } from "./migrations.ts";
import { isBusy, reasonOf, resultCodeOf, unavailable } from "./unavailable.ts";

/**
 * Opens a file, making it where there is none; its folder has to be there.
 *
 * @throws SqliteStoreError `directory-missing`, `file-not-regular`, `file-not-writable`, `file-foreign`, `file-damaged`,
 *   `schema-newer`, `file-locked`, `option-invalid`; `store-unavailable` where the disk fails
 */
export function openFile(path: string): SqliteHandle {
  if (path !== ":memory:") assertWritable(path);
  let handle: SqliteHandle;
  try {
    handle = new DatabaseSync(path, { timeout: limits.openTimeoutMs });
  } catch (error) {
    throw opening(error, path);
  }
  try {
    prepareFile(handle, path);
  } catch (error) {
    handle.close();
    throw error;
  }
  return handle;
}

/** Makes an open database one that stores can stand on. @throws SqliteStoreError as `openFile` */
export function prepareFile(handle: SqliteHandle, path = "the caller's handle"): void {
  if (handle.isTransaction) {
    throw new SqliteStoreError("option-invalid", "the handle is inside a transaction", { path });
  }
  try {
    handle.exec(`PRAGMA busy_timeout = ${limits.openTimeoutMs}`);
    handle.exec("PRAGMA trusted_schema = OFF");
    const version = versionOf(handle, path); // O1
    if (version === 0) enterWal(handle);
    handle.exec("PRAGMA synchronous = FULL");
    handle.exec("PRAGMA foreign_keys = ON");
    if (version < schemaVersion) migrate(handle, path);
    if (version !== 0) enterWal(handle); // O2
    handle.exec(`PRAGMA busy_timeout = ${limits.busyTimeoutMs}`);
  } catch (error) {
    throw opening(error, path);
  }
}

/** The version of the schema in the file: 0 for an empty one. */
function versionOf(handle: SqliteHandle, path: string): number {
  const read = handle.prepare(`SELECT
    (SELECT application_id FROM pragma_application_id) AS application,
    (SELECT user_version FROM pragma_user_version) AS version,
    (SELECT count(*) FROM sqlite_schema) AS objects`);
  const found = read.get() as { application: number; version: number; objects: number };
  const isEmpty = found.application === 0 && found.version === 0 && found.objects === 0;
  if (found.application !== applicationId && !isEmpty) {
    const message = `${path} is a database of another program`;
    throw new SqliteStoreError("file-foreign", message, { path });
  }
  if (found.version > schemaVersion) {
    const message = `${path} has schema ${found.version}, and this release knows ${schemaVersion}`;
    const fields = { path, found: found.version, known: schemaVersion };
    throw new SqliteStoreError("schema-newer", message, fields);
  }
  return found.version;
}

// O3
function migrate(handle: SqliteHandle, path: string): void {
  handle.exec("BEGIN IMMEDIATE");
  try {
    for (let version = versionOf(handle, path); version < schemaVersion; version += 1) {
      handle.exec(migrations[version]!);
    }
    handle.exec(`PRAGMA application_id = ${applicationId}`);
    handle.exec(`PRAGMA user_version = ${schemaVersion}`);
    handle.exec("COMMIT");
  } catch (error) {
    if (handle.isTransaction) handle.exec("ROLLBACK");
    throw error;
  }
}

// Switching to WAL needs the file alone, and does not wait for that as statements do.
function enterWal(handle: SqliteHandle): void {
  for (let tries = 1; ; tries += 1) {
    try {
      const mode = handle.prepare("PRAGMA journal_mode = WAL").get() as { journal_mode: string };
      if (["wal", "memory"].includes(mode.journal_mode)) return;
      const message = "this file system or handle keeps no write-ahead log";
      throw new SqliteStoreError("option-invalid", message);
    } catch (error) {
      if (!isBusy(error) || tries >= limits.openTriesMax) throw error;
      handle.exec("BEGIN IMMEDIATE"); // waits for whoever holds it
      handle.exec("ROLLBACK");
    }
  }
}

const smallestPageBytes = 512;

function assertWritable(path: string): void {
  const folder = statOf(dirname(path));
  if (folder === undefined || !folder.isDirectory()) {
    const message = `the folder of ${path} is not there`;
    throw new SqliteStoreError("directory-missing", message, { path });
  }
  const file = statOf(path);
  if (file !== undefined && !file.isFile()) {
    throw new SqliteStoreError("file-not-regular", `${path} is not a file`, { path });
  }
  // SQLite takes a text that is shorter than its smallest page for an empty file, and writes over it.
  if (file !== undefined && file.size > 0 && file.size < smallestPageBytes) {
    const message = `${path} is not a SQLite database`;
    throw new SqliteStoreError("file-foreign", message, { path });
  }
  for (const wanted of file === undefined ? [dirname(path)] : [dirname(path), path]) {
    try {
      accessSync(wanted, constants.R_OK | constants.W_OK);
    } catch (cause) {
      const message = `${wanted} can't be written by this process`;
      throw new SqliteStoreError("file-not-writable", message, { path, cause });
    }
  }
}

function statOf(path: string) {
  return statSync(path, { throwIfNoEntry: false });
}

const notADatabase = 26;

function opening(error: unknown, path: string): SqliteStoreError {
  if (error instanceof SqliteStoreError) return error;
  const fields = { path, cause: error };
  if (resultCodeOf(error) === notADatabase) {
    return new SqliteStoreError("file-foreign", `${path} is not a SQLite database`, fields);
  }
  switch (reasonOf(error)) {
    case "damaged":
      return new SqliteStoreError("file-damaged", `${path} is damaged`, fields);
    case "busy":
      return new SqliteStoreError("file-locked", `${path} is held by another process`, fields);
    case "read-only":
      return new SqliteStoreError("file-not-writable", `${path} can't be written`, fields);
    default:
      return unavailable(error, `opening ${path}`);
  }
}
