import { posix } from "node:path";

import type { Breach } from "./breach.ts";
import { filesOf } from "./workspace.ts";
import type { Workspace } from "./workspace.ts";

const DRAWER = /^(utils?|types?|helpers?|common|shared|misc)(\.[\w-]+)*\.ts$/;
const KEBAB = /^[a-z0-9]+(-[a-z0-9]+)*(\.[a-z0-9-]+)*\.ts$/;

/** ARCH-10: a file, or a folder of files, is named for one idea, in kebab-case. */
export function findDrawers(workspace: Workspace): Breach[] {
  const files = [...workspace.members.flatMap(filesOf), ...workspace.scripts];
  return files.flatMap(({ path }) => {
    const name = posix.basename(path);
    const folders = posix.dirname(path).split("/");
    if (DRAWER.test(name) || folders.some((folder) => DRAWER.test(`${folder}.ts`))) {
      return [{ where: path, says: "is a drawer: name it for the idea that it holds" }];
    }
    return KEBAB.test(name) ? [] : [{ where: path, says: "is not in kebab-case" }];
  });
}
