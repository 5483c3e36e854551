import { posix } from "node:path";

import type { Breach } from "./breach.ts";
import { filesOf } from "./workspace.ts";
import type { Workspace } from "./workspace.ts";

/**
 * ARCH-06: no file imports itself, over whatever way. Types may refer to each other, since nothing
 * of that is left at run time; cycles between packages are impossible by the order of layers.
 */
export function findCycles(workspace: Workspace): Breach[] {
  const files = [...workspace.members.flatMap(filesOf), ...workspace.scripts];
  const edges = new Map(
    files.map((file) => [
      file.path,
      file.imports
        .filter((each) => each.specifier.startsWith(".") && !each.typeOnly)
        .map((each) => posix.join(posix.dirname(file.path), each.specifier)),
    ]),
  );
  const done = new Set<string>();
  const breaches: Breach[] = [];
  for (const path of edges.keys()) follow(path, [], { edges, done, breaches });
  return breaches;
}

interface Search {
  readonly edges: ReadonlyMap<string, readonly string[]>;
  /** Files from which every way was followed. */
  readonly done: Set<string>;
  readonly breaches: Breach[];
}

function follow(path: string, way: readonly string[], search: Search): void {
  const from = way.indexOf(path);
  if (from !== -1) {
    search.breaches.push({
      where: path,
      says: `a cycle: ${[...way.slice(from), path].join(" → ")}`,
    });
    return;
  }
  if (search.done.has(path)) return;
  for (const next of search.edges.get(path) ?? []) follow(next, [...way, path], search);
  search.done.add(path);
}
