/**
 * The key that seals everything the desk keeps: from the setting `DESK_KEY` (64 hexadecimal digits), else from the folder's
 * key file.
 *
 * K1 A key file appears whole or not at all: it is written and flushed under another name, then linked to its own.
 * K2 Of several processes that make one, the first wins, and all use what stands.
 * K3 The key is there before the store: where something was sealed and no key is found, none is made.
 */
import { randomBytes } from "node:crypto";
import {
  closeSync,
  fsyncSync,
  linkSync,
  openSync,
  readFileSync,
  unlinkSync,
  writeSync,
} from "node:fs";

import { DeskError } from "./failure.ts";
import { holdsSomething, type Folder } from "./folder.ts";
import { codeOf } from "./system-error.ts";

const keyBytes = 32;

/** The key as it stands. @throws DeskError `key-invalid` where there is none, or what is there is none */
export function keyOf(folder: Folder, setting: string | undefined): Uint8Array {
  const key = standingKey(folder, setting);
  if (key !== undefined) return key;
  throw new DeskError(
    "key-invalid",
    `${folder.store} was sealed under a key that is not here: put it into ${folder.keyFile} or the setting DESK_KEY`,
  );
}

/** The key as it stands, or none where nothing was sealed yet. @throws DeskError `key-invalid` */
export function keyIfAny(folder: Folder, setting: string | undefined): Uint8Array | undefined {
  const sealed = holdsSomething(folder.store); // before the key is looked for, which was there earlier. K3
  return sealed ? keyOf(folder, setting) : standingKey(folder, setting);
}

/** Makes a random key, in a folder that is there; answers the one that stands. @throws DeskError `folder-unusable`, `key-invalid` */
export function makeKey(folder: Folder): Uint8Array {
  const { path, keyFile } = folder;
  const fresh = `${keyFile}.${randomBytes(6).toString("hex")}`;
  try {
    writeWhole(fresh, `${randomBytes(keyBytes).toString("hex")}\n`);
    try {
      linkSync(fresh, keyFile); // K1
    } catch (error) {
      if (codeOf(error) !== "EEXIST") throw error; // K2
    } finally {
      unlinkSync(fresh);
    }
    flush(path);
  } catch (cause) {
    throw new DeskError("folder-unusable", `the key file ${keyFile} can't be made`, cause);
  }
  return keyOf(folder, undefined);
}

function standingKey(folder: Folder, setting: string | undefined): Uint8Array | undefined {
  if (setting !== undefined) return parsed(setting, "the setting DESK_KEY");
  let text: string;
  try {
    text = readFileSync(folder.keyFile, "utf8").trim();
  } catch (cause) {
    if (codeOf(cause) === "ENOENT") return undefined;
    throw new DeskError("key-invalid", `the key file ${folder.keyFile} can't be read`, cause);
  }
  const remedy = holdsSomething(folder.store)
    ? `put the key back that sealed ${folder.store}`
    : "nothing is sealed under it yet, so remove it, and another is made";
  return parsed(text, `the key file ${folder.keyFile}`, `: ${remedy}`);
}

function parsed(text: string, where: string, remedy = ""): Uint8Array {
  if (!/^[0-9a-f]{64}$/i.test(text)) {
    const message = `${where} is not ${keyBytes * 2} hexadecimal digits${remedy}`;
    throw new DeskError("key-invalid", message);
  }
  return Buffer.from(text, "hex");
}

function writeWhole(path: string, text: string): void {
  const file = openSync(path, "wx", 0o600);
  try {
    writeSync(file, text);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

function flush(folder: string): void {
  const opened = openSync(folder, "r");
  try {
    fsyncSync(opened);
  } finally {
    closeSync(opened);
  }
}
