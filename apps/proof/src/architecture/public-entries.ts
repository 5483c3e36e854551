import { posix } from "node:path";

import type { Breach } from "./breach.ts";
import { packageOf } from "./imports.ts";
import { placeOf } from "./source-file.ts";
import { filesOf } from "./workspace.ts";
import type { Member, Workspace } from "./workspace.ts";

/**
 * ARCH-03: members reach each other by name, through an entry that the other one's manifest lists.
 * A path may lead out of a member's tests and settings to the repository's own scripts, and out of
 * its source to nowhere, since that source is packed alone.
 */
export function findEntryBreaches(workspace: Workspace): Breach[] {
  const entries = new Map(
    workspace.members.map(({ manifest }) => [manifest.name, Object.keys(manifest.exports ?? {})]),
  );
  return workspace.members.flatMap((member) =>
    filesOf(member).flatMap((file) =>
      file.imports.flatMap((each) => {
        const shipped = member.source.includes(file);
        const says = each.specifier.startsWith(".")
          ? whyNotByPath(member, shipped, posix.join(posix.dirname(file.path), each.specifier))
          : whyNotByName(entries, each.specifier);
        return says === undefined ? [] : [{ where: placeOf(file, each.start), says }];
      }),
    ),
  );
}

function whyNotByPath(member: Member, shipped: boolean, target: string): string | undefined {
  const { folder } = member;
  if (target.startsWith(`${folder}/`)) {
    const leavesSource = shipped && !target.startsWith(`${folder}/src/`);
    return leavesSource ? `source imports ${target}, which is not shipped` : undefined;
  }
  const elsewhere = /^(packages|apps)\//.test(target);
  return shipped || elsewhere ? `${folder} reaches ${target} by a path` : undefined;
}

function whyNotByName(
  entries: ReadonlyMap<string, readonly string[]>,
  specifier: string,
): string | undefined {
  const name = packageOf(specifier);
  const listed = name === undefined ? undefined : entries.get(name);
  if (name === undefined || listed === undefined) return undefined; // not one of ours
  const entry = `.${specifier.slice(name.length)}`;
  return listed.includes(entry) ? undefined : `${specifier} is no public entry of ${name}`;
}
