import { randomBytes } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { DeskError } from "./failure.ts";

/** Where a desk keeps its things. */
export interface Folder {
  readonly path: string;
  /** Runs, their logs and approvals. */
  readonly store: string;
  /** The bank, the post and the order book: not the desk's own. */
  readonly provider: string;
  readonly keyFile: string;
}

export function folderAt(path: string): Folder {
  mkdirSync(path, { recursive: true });
  return {
    path,
    store: join(path, "desk.db"),
    provider: join(path, "provider.db"),
    keyFile: join(path, "desk.key"),
  };
}

const keyBytes = 32;

/**
 * The key that seals everything the desk keeps: from the setting `DESK_KEY` (64 hexadecimal digits), else from the folder's
 * key file, which is made with a random one beside a new store.
 *
 * @throws DeskError `key-invalid`
 */
export function keyOf(folder: Folder, setting: string | undefined): Uint8Array {
  if (setting !== undefined) return parsed(setting, "the setting DESK_KEY");
  if (existsSync(folder.keyFile)) {
    return parsed(readFileSync(folder.keyFile, "utf8").trim(), `the key file ${folder.keyFile}`);
  }
  if (existsSync(folder.store)) {
    throw new DeskError(
      "key-invalid",
      `${folder.store} was sealed under a key that is not here: put it into ${folder.keyFile} or the setting DESK_KEY`,
    );
  }
  const key = randomBytes(keyBytes);
  writeFileSync(folder.keyFile, `${key.toString("hex")}\n`, { mode: 0o600 });
  return key;
}

function parsed(text: string, where: string): Uint8Array {
  if (!/^[0-9a-f]{64}$/i.test(text)) {
    throw new DeskError("key-invalid", `${where} is not ${keyBytes * 2} hexadecimal digits`);
  }
  return Buffer.from(text, "hex");
}
