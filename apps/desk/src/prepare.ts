import { mkdirSync, statSync } from "node:fs";

import { assertKeyOpens } from "./desk.ts";
import { DeskError } from "./failure.ts";
import { holdsSomething, type Folder } from "./folder.ts";
import { keyIfAny, makeKey } from "./key.ts";
import { openProviderFile } from "./provider-file.ts";
import { openStoreFile } from "./store-file.ts";
import { codeOf } from "./system-error.ts";

/**
 * Makes a folder ready for a desk, and answers its key. What stands is looked at first, all of it: where one thing can't be
 * used nothing is made and nothing changed.
 *
 * @throws DeskError `folder-unusable`, `database-foreign`, `database-unusable`, `store-unusable`, `key-invalid`,
 *   `key-wrong`
 */
export async function prepareFolder(
  folder: Folder,
  setting: string | undefined,
): Promise<Uint8Array> {
  assertFolder(folder.path);
  if (holdsSomething(folder.provider)) openProviderFile(folder.provider).close();
  const sealed = holdsSomething(folder.store);
  if (sealed) openStoreFile(folder.store).close();
  const key = keyIfAny(folder, setting);
  if (sealed && key !== undefined) await assertKeyOpens(folder, key);
  try {
    mkdirSync(folder.path, { recursive: true });
  } catch (cause) {
    throw new DeskError("folder-unusable", `the folder ${folder.path} can't be made`, cause);
  }
  return key ?? makeKey(folder);
}

function assertFolder(path: string): void {
  let isFolder: boolean;
  try {
    isFolder = statSync(path).isDirectory();
  } catch (cause) {
    if (codeOf(cause) === "ENOENT") return;
    throw new DeskError("folder-unusable", `the folder ${path} can't be used`, cause);
  }
  if (isFolder) return;
  throw new DeskError(
    "folder-unusable",
    `${path} is a file, and a desk is kept in a folder: name another`,
  );
}
