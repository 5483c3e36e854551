import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";

import { isFlowError } from "@holdpoint/flow";

import type { Desk } from "./desk.ts";
import { folderAt, type Folder } from "./folder.ts";

/** Copies a desk's store, as it stands, into a folder of its own beside it. */
export function copyStore(folder: Folder, name: string): Folder {
  const copy = folderAt(join(folder.path, name));
  mkdirSync(copy.path);
  const store = new DatabaseSync(folder.store);
  try {
    store.prepare("vacuum into ?").run(copy.store);
  } finally {
    store.close();
  }
  return copy;
}

/** Changes one character of the newest entry in a run's log: what somebody with the file and without the key can do. */
export function changeOneByte(folder: Folder, runId: string): void {
  const store = new DatabaseSync(folder.store);
  try {
    const last = "select max(revision) from log where run = :run";
    const { text } = store
      .prepare(`select text from log where run = :run and revision = (${last})`)
      .get({ run: runId }) as { text: string };
    const at = Math.floor(text.length / 2);
    const changed = `${text.slice(0, at)}${text[at] === "A" ? "B" : "A"}${text.slice(at + 1)}`;
    store
      .prepare(`update log set text = :changed where run = :run and revision = (${last})`)
      .run({ run: runId, changed });
  } finally {
    store.close();
  }
}

/** How the desk refuses a run whose log was changed. @throws Error where it does not */
export async function refusalOf(desk: Desk, runId: string): Promise<string> {
  try {
    await desk.history(runId);
  } catch (error) {
    if (isFlowError(error, "checkpoint-tampered")) return error.message;
    throw error;
  }
  throw new Error(`the log of ${runId} was changed, and read as if nothing had happened`);
}
