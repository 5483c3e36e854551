import type { Breach } from "./breach.ts";
import { packageOf } from "./imports.ts";
import type { Import } from "./imports.ts";
import { placeOf } from "./source-file.ts";
import type { SourceFile } from "./source-file.ts";
import type { Member, Workspace } from "./workspace.ts";

const SCOPE = "@holdpoint/";

/**
 * The one ordered list. A package imports only from packages on an earlier line; the test kit
 * stands above the layers, so no layer's tests can use it: their builds would wait for each other.
 */
const ORDER: readonly (readonly string[])[] = [
  ["seal"],
  ["approvals"],
  ["tools"],
  ["flow"],
  ["workflows"],
  ["testing"],
  ["sqlite", "postgres"],
  ["inbox"],
  ["cli"],
];
const KIT = "testing";
const STORES = new Set(["sqlite", "postgres"]);
/** Shipped code that may name a store: the command line opens the one that it is pointed at. */
const MAY_NAME_STORES = new Set(["cli"]);

/** The place of a package in the order, -1 for one that has none. */
function rankOf(name: string): number {
  return ORDER.findIndex((line) => line.includes(name));
}

/** ARCH-01: a package imports only from packages before it. Apps may import every package. */
export function findLayerBreaches(workspace: Workspace): Breach[] {
  return workspace.members.flatMap((member) => {
    if (member.folder.startsWith("apps/")) return [];
    const name = shortName(member);
    if (rankOf(name) === -1) {
      return [{ where: member.folder, says: `${name} has no place in the order of layers` }];
    }
    return [
      ...breachesIn(member.source, (to) => whyNotInSource(name, to)),
      ...breachesIn(member.tests, (to) => whyNotAtAll(name, to)),
    ];
  });
}

/** ARCH-02: a store's shipped code takes types alone from the layers. */
export function findStoreBreaches(workspace: Workspace): Breach[] {
  return workspace.members
    .filter((member) => isStore(member))
    .flatMap((member) =>
      breachesIn(member.source, (to, how) =>
        how.typeOnly ? undefined : `a store takes types alone from ${to}: write import type`,
      ),
    );
}

export function isStore(member: Member): boolean {
  return member.folder.startsWith("packages/") && STORES.has(shortName(member));
}

function breachesIn(
  files: readonly SourceFile[],
  whyNot: (to: string, how: Import) => string | undefined,
): Breach[] {
  return files.flatMap((file) =>
    file.imports.flatMap((each) => {
      const target = packageOf(each.specifier);
      if (!target?.startsWith(SCOPE)) return [];
      const says = whyNot(target.slice(SCOPE.length), each);
      return says === undefined ? [] : [{ where: placeOf(file, each.start), says }];
    }),
  );
}

function whyNotInSource(from: string, to: string): string | undefined {
  if (to === KIT) return `shipped code does not import the test kit`;
  if (STORES.has(to) && from !== to && !MAY_NAME_STORES.has(from)) {
    return `${from} names the store ${to}`;
  }
  return from === to ? `${from} imports itself by name` : whyNotAtAll(from, to);
}

function whyNotAtAll(from: string, to: string): string | undefined {
  if (from === to) return undefined; // a test may use its package as a stranger would
  const rank = rankOf(to);
  return rank !== -1 && rank < rankOf(from) ? undefined : `${from} does not stand on ${to}`;
}

function shortName(member: Member): string {
  return member.folder.slice("packages/".length);
}
