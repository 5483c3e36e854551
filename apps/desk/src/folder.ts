import { statSync } from "node:fs";
import { join } from "node:path";

/** Where a desk keeps its things. */
export interface Folder {
  readonly path: string;
  /** Runs, their logs and approvals. */
  readonly store: string;
  /** The bank, the post and the order book: not the desk's own. */
  readonly provider: string;
  readonly keyFile: string;
}

/** The names of what is in a folder. It makes nothing: what `prepareFolder` made and somebody removed stays removed. */
export function folderAt(path: string): Folder {
  return {
    path,
    store: join(path, "desk.db"),
    provider: join(path, "provider.db"),
    keyFile: join(path, "desk.key"),
  };
}

/** Whether something stands at a path, an empty file left out. */
export function holdsSomething(path: string): boolean {
  return (statSync(path, { throwIfNoEntry: false })?.size ?? 0) > 0;
}
