import { mkdirSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";

import { DeskError } from "./failure.ts";

/** A folder for one piece of work, and the way to end it. */
export interface WorkingFolder {
  readonly path: string;
  end(): void;
}

/**
 * A fresh folder, for this user alone, that is removed at its end or the program's; or, where one is given to keep, that one.
 *
 * @throws DeskError `usage` where the folder to keep holds something; `folder-unusable`
 */
export function workingFolder(keep: string | undefined): WorkingFolder {
  if (keep !== undefined) return { path: emptied(keep), end: () => {} };
  const path = made();
  // A worker that is just being ended may still write.
  const remove = (): void => rmSync(path, { recursive: true, force: true, maxRetries: 5 });
  process.once("exit", remove);
  return {
    path,
    end() {
      process.off("exit", remove);
      remove();
    },
  };
}

function made(): string {
  try {
    return mkdtempSync(join(tmpdir(), "holdpoint-desk-")); // mode 0700
  } catch (cause) {
    throw new DeskError(
      "folder-unusable",
      `no folder can be made in ${tmpdir()} (TMPDIR names another, and --keep DIR one to keep)`,
      cause,
    );
  }
}

function emptied(path: string): string {
  let holds: readonly string[];
  try {
    mkdirSync(path, { recursive: true });
    holds = readdirSync(path);
  } catch (cause) {
    throw new DeskError("folder-unusable", `the folder ${path} of --keep can't be used`, cause);
  }
  if (holds.length === 0) return path;
  throw new DeskError("usage", `--keep ${path}: the folder has to be new or empty`);
}
