import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
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
 * A fresh folder that is removed at its end, or when somebody stops the program with Ctrl-C; or, where one is given to keep,
 * that one.
 *
 * @throws DeskError `usage` where the folder to keep holds something
 */
export function workingFolder(keep: string | undefined): WorkingFolder {
  if (keep !== undefined) return { path: emptied(keep), end: () => {} };
  const path = mkdtempSync(join(tmpdir(), "holdpoint-desk-"));
  const remove = (): void => rmSync(path, { recursive: true, force: true });
  const stop = (): void => process.exit(130);
  process.once("exit", remove);
  process.once("SIGINT", stop);
  return {
    path,
    end() {
      process.off("exit", remove);
      process.off("SIGINT", stop);
      remove();
    },
  };
}

function emptied(path: string): string {
  if (existsSync(path) && readdirSync(path).length > 0) {
    throw new DeskError("usage", `--keep ${path}: the folder has to be new or empty`);
  }
  mkdirSync(path, { recursive: true });
  return path;
}
