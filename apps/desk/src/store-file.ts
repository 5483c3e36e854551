import { openSqlite, type SqliteStore } from "@holdpoint/sqlite";

import { DeskError } from "./failure.ts";

/** Opens the desk's store, and makes it where there is none. @throws DeskError `store-unusable` */
export function openStoreFile(file: string): SqliteStore {
  try {
    return openSqlite(file);
  } catch (error) {
    throw new DeskError("store-unusable", "the desk's store can't be used", error);
  }
}
